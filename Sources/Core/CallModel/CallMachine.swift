/// Which side began a call.
public enum CallDirection: String, Sendable, Hashable {
    /// The client calls, the trunk rings.
    case outgoing
    /// The trunk calls, the client rings.
    case incoming
}

/// Where a call stands.
public enum CallState: Hashable, Sendable {
    /// Its media is being opened; the other side knows nothing of it.
    case new
    /// The other side was asked and has not said that it rings.
    case trying
    /// The other side rings.
    case ringing
    /// The trunk sends audio before its answer.
    case earlyMedia
    /// Answered.
    case established
    /// Answered, and held by the client, the trunk or both.
    case held(byClient: Bool, byTrunk: Bool)
    /// Over. Nothing follows.
    case ended(HangupCause)
}

/// What a call is told: by its client, its trunk, its media, its clock.
///
/// Descriptions (SDP) do not travel here: whoever feeds the machine has negotiated them already and reports the outcome.
public enum CallEvent: Hashable, Sendable {
    /// The client leg's description and the trunk leg's ports are ready.
    case mediaReady
    /// The media could not be opened, or broke.
    case mediaFailed(HangupCause)
    /// The client answered an incoming call, and its description was good.
    case clientAnswered
    /// The client hung up, rejected or gave up.
    case clientHungUp
    /// The client's session is gone for good.
    case clientLost
    /// The client wants to hold the call.
    case clientHeld
    /// The client wants to go on.
    case clientResumed
    /// The client pressed keys.
    case clientKeys(String, method: KeyMethod)
    /// The trunk said that it rings (180, or 183 without a description).
    case trunkRinging
    /// The trunk sent a description before its answer.
    case trunkEarlyMedia
    /// The trunk answered with a description that was good (in its 200, or in its ACK after our offer).
    case trunkAnswered
    /// The trunk refused, or could not be reached, before any answer.
    case trunkFailed(HangupCause)
    /// The trunk ended the dialog: BYE, or CANCEL of an incoming call.
    case trunkEnded(HangupCause)
    /// The trunk's re-offer was negotiated; `holds` says whether it holds us now.
    case trunkReoffered(holds: Bool)
    /// The trunk took our re-offer.
    case trunkReofferAccepted
    /// The trunk refused our re-offer: the call is as it was before.
    case trunkReofferRefused
    /// An armed timer ran out.
    case timeout(CallTimer)
    /// The gateway stops.
    case shutdown
}

/// How keys of the client reach the trunk.
public enum KeyMethod: String, Hashable, Sendable {
    /// RTP telephone-event (RFC 4733).
    case telephoneEvent
    /// SIP INFO with an `application/dtmf` body.
    case info
    /// SIP INFO with an `application/dtmf-relay` body.
    case infoRelay
}

/// The timers a call may arm. One of each at most.
public enum CallTimer: Hashable, Sendable {
    /// From the request until the answer.
    case answer
    /// From the answer until the longest duration.
    case duration
}

/// What the client is told.
public enum ClientNotice: Hashable, Sendable {
    /// The call is under way.
    case trying
    /// The client's answer or offer of ours: it must be delivered before any notice that follows.
    case description
    /// An incoming call: description, call, ring, in that order.
    case incoming
    /// The other side rings.
    case ringing
    /// The other side sends audio before its answer.
    case earlyMedia
    /// The call is answered, or goes on after a hold.
    case talking
    /// The call is held by the client.
    case held
    /// The call is over.
    case finished(HangupCause)
}

/// What is to be done. The order of effects is the order of doing.
public enum CallEffect: Hashable, Sendable {
    /// Open the client leg and the trunk leg's ports, then report ``CallEvent/mediaReady``.
    case openMedia
    /// Tell the client.
    case tellClient(ClientNotice)
    /// Call the trunk.
    case invite
    /// Tell the trunk that the client rings.
    case ringTrunk
    /// Answer the trunk.
    case answerTrunk
    /// Refuse the trunk's call.
    case rejectTrunk(HangupCause)
    /// Give up our call to the trunk.
    case cancelTrunk(HangupCause)
    /// End the dialog with the trunk.
    case hangUpTrunk(HangupCause)
    /// Send the trunk a re-offer that holds or resumes.
    case reofferTrunk(hold: Bool)
    /// Let audio pass both ways, or hold it back.
    case setAudio(AudioGate)
    /// Send keys to the trunk.
    case sendKeys(String, method: KeyMethod)
    /// Arm a timer.
    case arm(CallTimer)
    /// Disarm a timer.
    case disarm(CallTimer)
    /// Free media, timers and the call itself. Always last, once.
    case release
}

/// Which directions of audio are open.
public struct AudioGate: Hashable, Sendable {
    /// Whether the client hears the trunk.
    public var toClient: Bool
    /// Whether the trunk hears the client.
    public var toTrunk: Bool

    /// Opens the named directions.
    public init(toClient: Bool, toTrunk: Bool) {
        self.toClient = toClient
        self.toTrunk = toTrunk
    }

    /// Nothing passes.
    public static let closed = AudioGate(toClient: false, toTrunk: false)
    /// Everything passes.
    public static let open = AudioGate(toClient: true, toTrunk: true)
}

/// What a call may do next: one event in, the effects to carry out in order.
///
/// The machine owns a call's fate. Whatever order events come in, there is one final state, one final notice to the client,
/// one end of the trunk's dialog and one release (case H51); what comes after the end has no effect.
public struct CallMachine: Sendable {
    /// Which side began.
    public let direction: CallDirection
    /// Where the call stands.
    public private(set) var state: CallState = .new

    private var trunkHasDialog = false
    private var clientKnows = false
    private var toldRinging = false
    private var toldEarlyMedia = false
    private var heldByClient = false
    private var heldByTrunk = false
    /// The hold that our open re-offer asks for; nil when none is open.
    private var holdAsked: Bool?
    /// The client's latest wish, carried out when the open re-offer is settled.
    private var holdWanted = false

    /// A call that has just begun.
    public init(direction: CallDirection) { self.direction = direction }

    /// Whether the call is over.
    public var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Whether the call was answered and is not over.
    public var isAnswered: Bool {
        switch state {
        case .established, .held: true
        default: false
        }
    }

    /// Begins the call. Call it once, before any event.
    public mutating func begin() -> [CallEffect] {
        switch direction {
        case .outgoing:
            clientKnows = true
            return [.tellClient(.trying), .openMedia]
        case .incoming:
            trunkHasDialog = true
            return [.openMedia]
        }
    }

    /// Takes one event.
    public mutating func handle(_ event: CallEvent) -> [CallEffect] {
        if isEnded { return [] }
        switch event {
        case .mediaReady: return mediaReady()
        case .mediaFailed(let cause): return end(cause)
        case .clientAnswered: return clientAnswered()
        case .clientHungUp: return end(clientHangupCause)
        case .clientLost: return end(.sessionLost)
        case .clientHeld: return wantHold(true)
        case .clientResumed: return wantHold(false)
        case .clientKeys(let keys, let method): return sendKeys(keys, method)
        case .trunkRinging: return trunkRinging()
        case .trunkEarlyMedia: return trunkEarlyMedia()
        case .trunkAnswered: return trunkAnswered()
        case .trunkFailed(let cause), .trunkEnded(let cause):
            trunkHasDialog = false
            return end(cause)
        case .trunkReoffered(let holds): return trunkReoffered(holds)
        case .trunkReofferAccepted: return reofferSettled(accepted: true)
        case .trunkReofferRefused: return reofferSettled(accepted: false)
        case .timeout(.answer): return isAnswered ? [] : end(.noAnswer)
        case .timeout(.duration): return end(.durationLimit)
        case .shutdown: return end(.shutdown)
        }
    }
}

// MARK: - Set-up

extension CallMachine {
    private mutating func mediaReady() -> [CallEffect] {
        guard state == .new else { return [] }
        switch direction {
        case .outgoing:
            state = .trying
            trunkHasDialog = true
            // The client's ICE and DTLS warm up while the trunk rings, so its answer is heard at once.
            return [.tellClient(.description), .invite, .arm(.answer)]
        case .incoming:
            state = .ringing
            clientKnows = true
            return [.tellClient(.incoming), .ringTrunk, .arm(.answer)]
        }
    }

    private mutating func trunkRinging() -> [CallEffect] {
        guard direction == .outgoing, state == .trying || state == .ringing || state == .earlyMedia else { return [] }
        if state == .trying { state = .ringing }
        return tellRinging()
    }

    private mutating func trunkEarlyMedia() -> [CallEffect] {
        guard direction == .outgoing, state == .trying || state == .ringing || state == .earlyMedia else { return [] }
        state = .earlyMedia
        var effects = tellRinging()
        effects.append(.setAudio(AudioGate(toClient: true, toTrunk: false)))
        if !toldEarlyMedia {
            toldEarlyMedia = true
            effects.append(.tellClient(.earlyMedia))
        }
        return effects
    }

    private mutating func tellRinging() -> [CallEffect] {
        if toldRinging { return [] }
        toldRinging = true
        return [.tellClient(.ringing)]
    }

    private mutating func trunkAnswered() -> [CallEffect] {
        guard direction == .outgoing, state == .trying || state == .ringing || state == .earlyMedia else { return [] }
        return establish()
    }

    private mutating func clientAnswered() -> [CallEffect] {
        guard direction == .incoming, state == .ringing else { return [] }
        return [.answerTrunk] + establish()
    }

    private mutating func establish() -> [CallEffect] {
        state = .established
        return [.disarm(.answer), .setAudio(.open), .tellClient(.talking), .arm(.duration)]
    }

    private func sendKeys(_ keys: String, _ method: KeyMethod) -> [CallEffect] {
        // Keys pressed during early media steer menus that answer late (DTM-13).
        guard isAnswered || state == .earlyMedia else { return [] }
        return [.sendKeys(keys, method: method)]
    }
}

// MARK: - Hold

extension CallMachine {
    private mutating func wantHold(_ hold: Bool) -> [CallEffect] {
        guard isAnswered else { return [] }
        holdWanted = hold
        if holdAsked != nil { return [] }
        if heldByClient == hold { return [.tellClient(hold ? .held : .talking)] }
        holdAsked = hold
        return [.reofferTrunk(hold: hold)]
    }

    private mutating func reofferSettled(accepted: Bool) -> [CallEffect] {
        guard isAnswered, let asked = holdAsked else { return [] }
        holdAsked = nil
        if accepted { heldByClient = asked } else { holdWanted = heldByClient }
        // A refused hold leaves the call as it was; the client is told so, for its hold button waits for an event.
        var effects = applyHold()
        effects.append(.tellClient(heldByClient ? .held : .talking))
        if holdWanted != heldByClient {
            holdAsked = holdWanted
            effects.append(.reofferTrunk(hold: holdWanted))
        }
        return effects
    }

    private mutating func trunkReoffered(_ holds: Bool) -> [CallEffect] {
        guard isAnswered else { return [] }
        heldByTrunk = holds
        return applyHold()
    }

    private mutating func applyHold() -> [CallEffect] {
        state =
            heldByClient || heldByTrunk ? .held(byClient: heldByClient, byTrunk: heldByTrunk) : .established
        let open = !heldByClient && !heldByTrunk
        // A trunk that holds us may still play music to the client; a client that holds hears and sends nothing.
        return [.setAudio(AudioGate(toClient: !heldByClient, toTrunk: open))]
    }
}

// MARK: - End

extension CallMachine {
    private var clientHangupCause: HangupCause {
        if isAnswered { return .normal }
        return direction == .outgoing ? .cancelled : .declined
    }

    private mutating func end(_ cause: HangupCause) -> [CallEffect] {
        var effects: [CallEffect] = [.disarm(.answer), .disarm(.duration)]
        if trunkHasDialog { effects.append(endOfTrunk(cause)) }
        if clientKnows { effects.append(.tellClient(.finished(cause))) }
        effects.append(.release)
        state = .ended(cause)
        return effects
    }

    private func endOfTrunk(_ cause: HangupCause) -> CallEffect {
        if isAnswered { return .hangUpTrunk(cause) }
        return direction == .outgoing ? .cancelTrunk(cause) : .rejectTrunk(cause)
    }
}
