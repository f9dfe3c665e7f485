internal import CSofiaSIP
public import GLibLoop

/// One INVITE dialog, ours or a peer's, from the INVITE to its end.
///
/// The user agent keeps it until it has ended, so it may be forgotten at any time, also in its own event. Calls in a wrong
/// state throw or do nothing, as said at each.
@ControlActor public final class Dialog: HandleOwner {
    /// Where a dialog stands.
    public enum State: Sendable, Hashable {
        /// Our INVITE is out, or a peer's is in; no provisional yet.
        case inviting
        /// A provisional has come or gone.
        case early
        /// Our 200 is out, its ACK not in.
        case answered
        /// Up.
        case confirmed
        /// We are ending it.
        case ending
        /// Over.
        case ended
    }

    /// Where it stands now.
    public private(set) var state = State.inviting
    /// Whether the peer calls.
    public let isIncoming: Bool
    /// The INVITE of an incoming call; `nil` for an outgoing one.
    public let invitation: SIPMessage?
    /// Takes the events, on the control loop. It is let go of after the last one.
    public var onEvent: (@ControlActor (DialogEvent) -> Void)?

    private let agent: UserAgent
    private let number: UInt
    private var handle: OpaquePointer?
    private var digest: DigestAnswerer
    /// The end we asked for, told when the library has done it.
    private var wantedEnd: DialogEnd?
    /// Our re-INVITE that has no answer yet, for a retry after 491.
    private var openOffer: String?
    private var retry: GLibTimer?
    private var retries = 0
    /// The peer's re-INVITE or UPDATE that waits for our answer.
    private var theirOffer: (request: UInt, hasOffer: Bool)?
    private var awaitsLateAnswer = false

    init(outgoing call: OutgoingCall, agent: UserAgent, number: UInt, handle: OpaquePointer) {
        isIncoming = false
        invitation = nil
        self.agent = agent
        self.number = number
        self.handle = handle
        digest = DigestAnswerer(credentials: call.credentials)
    }

    init(incoming message: SIPMessage, agent: UserAgent, number: UInt, handle: OpaquePointer) {
        isIncoming = true
        invitation = message
        self.agent = agent
        self.number = number
        self.handle = handle
        digest = DigestAnswerer(credentials: nil)
    }

    func start(_ call: OutgoingCall) {
        guard let handle else { return }
        tl_nua_invite(
            handle, call.target.uri, call.proxy?.routeValue, call.contactUser, call.ringLimit, call.sdp,
            SIPHeader.lines(call.headers))
    }

    // MARK: Incoming calls

    /// Sends 180 without a description.
    public func ring() { respond(180, "Ringing", sdp: nil) }

    /// Sends 183 with early media, or another provisional.
    public func progress(sdp: String?, code: Int = 183, phrase: String = "Session Progress") {
        respond(code, phrase, sdp: sdp)
    }

    /// Sends 200 with our answer, or with our offer when the INVITE had none.
    ///
    /// - Throws: ``SIPStackError/wrongState`` unless this is an unanswered incoming call.
    public func answer(sdp: String, headers: [SIPHeader] = []) throws(SIPStackError) {
        guard let handle, isUnansweredIncoming else { throw .wrongState }
        state = .answered
        awaitsLateAnswer = invitation?.sdp == nil
        reply(handle, 200, "OK", sdp: sdp, headers: headers)
    }

    /// Refuses an unanswered incoming call with a final status; does nothing in other states.
    public func reject(_ code: Int, _ phrase: String, headers: [SIPHeader] = []) {
        guard let handle, isUnansweredIncoming, (300...699).contains(code) else { return }
        state = .ending
        wantedEnd = .rejected(SIPStatus(code: code, phrase: phrase))
        reply(handle, code, phrase, headers: headers)
    }

    // MARK: Both ways

    /// Ends the dialog the way its state asks for: CANCEL for our INVITE (sent when a provisional has come), 480 for an
    /// unanswered one of the peer's, BYE else. ``DialogEvent/ended(_:)`` follows.
    public func hangUp(reason: SIPReason? = nil) {
        guard let handle, state != .ending, state != .ended else { return }
        if isUnansweredIncoming { return reject(480, "Temporarily Unavailable") }
        retry = nil
        if state == .answered || state == .confirmed {
            wantedEnd = .hungUp
            tl_nua_bye(handle, reason?.headerValue)
        } else {
            wantedEnd = .cancelled
            tl_nua_cancel(handle, reason?.headerValue)
        }
        state = .ending
    }

    /// Sends a re-INVITE with a new offer: hold, resume, another address. A 491 is retried in the window of RFC 3261
    /// section 14.1.
    ///
    /// - Throws: ``SIPStackError/wrongState`` unless the call is up, ``SIPStackError/offerIsOpen`` while an offer waits.
    public func reoffer(sdp: String) throws(SIPStackError) {
        guard let handle, state == .confirmed else { throw .wrongState }
        guard openOffer == nil, theirOffer == nil else { throw .offerIsOpen }
        openOffer = sdp
        retries = 0
        tl_nua_invite(handle, nil, nil, nil, 0, sdp, nil)
    }

    /// Answers the peer's ``DialogEvent/offered(sdp:)`` with 200; the text is our offer where it had none.
    ///
    /// - Throws: ``SIPStackError/wrongState`` when no offer waits.
    public func acceptOffer(sdp: String) throws(SIPStackError) {
        guard let handle, let offer = theirOffer else { throw .wrongState }
        theirOffer = nil
        awaitsLateAnswer = !offer.hasOffer
        reply(handle, 200, "OK", to: offer.request, sdp: sdp)
    }

    /// Refuses the peer's offer, for example with 488; the call goes on as it was.
    public func refuseOffer(_ code: Int, _ phrase: String) {
        guard let handle, let offer = theirOffer else { return }
        theirOffer = nil
        reply(handle, code, phrase, to: offer.request)
    }

    /// Sends a key as INFO `application/dtmf-relay`; ``DialogEvent/infoAnswered(_:)`` follows.
    public func send(digit: InfoDigit) throws(SIPStackError) {
        try sendInfo(contentType: "application/dtmf-relay", body: digit.relayBody)
    }

    /// Sends an INFO request (RFC 6086 section 1, the old form).
    public func sendInfo(contentType: String, body: String) throws(SIPStackError) {
        guard let handle, state == .confirmed || state == .answered else { throw .wrongState }
        tl_nua_info(handle, contentType, body)
    }

    private var isUnansweredIncoming: Bool { isIncoming && (state == .inviting || state == .early) }

    private func respond(_ code: Int, _ phrase: String, sdp: String?) {
        guard let handle, isUnansweredIncoming, (101...199).contains(code) else { return }
        state = .early
        reply(handle, code, phrase, sdp: sdp)
    }

    /// - Parameter request: which request is answered; 0 for the INVITE.
    private func reply(
        _ handle: OpaquePointer, _ code: Int, _ phrase: String, to request: UInt = 0, sdp: String? = nil,
        headers: [SIPHeader] = []
    ) {
        let code = Int32(code)
        tl_nua_respond(
            handle, code, PhraseBook.pointer(to: phrase, code: code), OpaquePointer(bitPattern: request), sdp,
            SIPHeader.lines(headers))
    }

    // MARK: Events of the library

    func receive(_ event: StackEvent) {
        switch event.kind {
        case nua_r_invite:
            if state == .confirmed { reofferResponse(event) } else { inviteResponse(event) }
        case nua_i_invite, nua_i_update: offered(event)
        case nua_i_ack: acknowledged(event)
        case nua_i_cancel: end(.cancelledByPeer(event.message?.reason))
        case nua_i_bye: end(.hungUpByPeer(event.message?.reason))
        case nua_i_info: info(event)
        case nua_r_info:
            if isChallenge(event), authenticate(event) { return }
            if event.status.code >= 200 { tell(.infoAnswered(event.status)) }
        case nua_r_bye: if isChallenge(event) { _ = authenticate(event) }
        case nua_i_terminated:
            let isRefused = !isIncoming && event.status.code >= 300 && (state == .inviting || state == .early)
            end(wantedEnd ?? (isRefused ? .refused(event.status, reason: nil, retryAfter: nil) : .lost(event.status)))
            letGo()
        default: break
        }
    }

    private func inviteResponse(_ event: StackEvent) {
        let code = event.status.code
        if code < 200 {
            guard state != .ending, code > 100 else { return }
            state = .early
            tell(.provisional(event.status, sdp: event.message?.sdp))
        } else if code < 300 {
            digest.wasAccepted()
            if state == .ending {
                // The 200 has crossed our CANCEL: it is acknowledged, and ended (END-1).
                if let handle { tl_nua_bye(handle, nil) }
            } else if state != .ended, let message = event.message {
                state = .confirmed
                tell(.answered(message))
            }
        } else {
            if isChallenge(event), state != .ending, authenticate(event) { return }
            let refusal = DialogEnd.refused(
                event.status, reason: event.message?.reason, retryAfter: event.message?.retryAfter)
            end(wantedEnd ?? refusal)
            letGo()
        }
    }

    private func isChallenge(_ event: StackEvent) -> Bool { event.status.code == 401 || event.status.code == 407 }

    private func authenticate(_ event: StackEvent) -> Bool {
        guard let handle else { return false }
        let answers = digest.answers(to: event.challenges)
        for answer in answers { tl_nua_authenticate(handle, answer) }
        return !answers.isEmpty
    }

    private func reofferResponse(_ event: StackEvent) {
        let code = event.status.code
        guard code >= 200 else { return }
        if code < 300 {
            digest.wasAccepted()
            openOffer = nil
            tell(.reofferAnswered(sdp: event.message?.sdp))
        } else if code == 491, retries < 5, openOffer != nil {
            retries += 1
            // The owner of the Call-ID waits longer, so that the two do not meet again (RFC 3261 section 14.1).
            let steps = isIncoming ? Int.random(in: 0...200) : Int.random(in: 210...400)
            retry = GLibTimer(on: .control, after: .milliseconds(steps * 10)) { [weak self] in
                ControlActor.assumeIsolated { self?.sendAgain() }
            }
        } else {
            if isChallenge(event), authenticate(event) { return }
            openOffer = nil
            tell(.reofferRefused(event.status))
        }
    }

    private func sendAgain() {
        retry = nil
        guard let handle, state == .confirmed, let openOffer else { return }
        tl_nua_invite(handle, nil, nil, nil, 0, openOffer, nil)
    }

    private func offered(_ event: StackEvent) {
        // From 200 on the library has answered by itself: glare, a wrong state.
        guard let handle, event.status.code < 200 else { return }
        let sdp = event.message?.sdp
        if event.kind == nua_i_update, sdp == nil {
            // A session refresh (RFC 4028) without an offer.
            reply(handle, 200, "OK", to: event.request)
            return
        }
        theirOffer = (event.request, sdp != nil)
        tell(.offered(sdp: sdp))
    }

    private func acknowledged(_ event: StackEvent) {
        if state == .answered {
            state = .confirmed
            tell(.confirmed)
        }
        guard awaitsLateAnswer else { return }
        awaitsLateAnswer = false
        tell(.lateAnswer(sdp: event.message?.sdp))
    }

    private func info(_ event: StackEvent) {
        guard let handle, event.status.code < 200 else { return }
        if let digit = InfoDigit(contentType: event.message?.contentType, body: event.message?.body) {
            reply(handle, 200, "OK", to: event.request)
            tell(.digit(digit))
        } else if event.message?.body == nil {
            reply(handle, 200, "OK", to: event.request)
        } else {
            reply(
                handle, 415, "Unsupported Media Type", to: event.request,
                headers: [SIPHeader("Accept", "application/dtmf-relay, application/dtmf")])
        }
    }

    private func tell(_ event: DialogEvent) {
        guard state != .ended else { return }
        onEvent?(event)
    }

    private func end(_ how: DialogEnd) {
        guard state != .ended else { return }
        state = .ended
        retry = nil
        openOffer = nil
        theirOffer = nil
        let listener = onEvent
        onEvent = nil
        listener?(.ended(how))
    }

    func letGo() {
        end(wantedEnd ?? .lost(SIPStatus(code: 503, phrase: "Shut Down")))
        guard let handle else { return }
        self.handle = nil
        nua_handle_destroy(handle)
        agent.forget(number)
    }
}
