internal import CallModel
internal import GLibLoop
internal import Switchboard
internal import Telemetry
internal import WCSProtocol
internal import WebServer

/// One WebSocket of a WCS client, from its opening to its close.
///
/// It reads messages, keeps the pings, and is the client's port to the switchboard. What the words mean on our side stands in
/// `WCSTranslation`.
@ControlActor final class WCSConnection {
    private let socket: WebSocketConnection
    /// Holds this connection as well, until `end`.
    private let face: WCSFace
    private let log = Log("WCSFace")
    private var session: Session?
    /// What a client said about its calls and wants to find in every event: the SDKs replace their object by ours.
    private var extras: [String: CallExtras] = [:]
    private var openingTimer: GLibTimer?
    private var pingTimer: GLibTimer?
    private var unansweredPings = 0
    private var budget: MessageBudget
    private var isOver = false
    private var wasRegistered = false

    init(socket: WebSocketConnection, face: WCSFace) {
        self.socket = socket
        self.face = face
        budget = MessageBudget(perSecond: face.settings.messagesPerSecond)
    }

    func begin() {
        socket.onClosed = { [weak self] _ in self?.end() }
        socket.onText = { [weak self] text in self?.received(text) }
        openingTimer = GLibTimer(on: .control, after: face.settings.connectionTimeout) { [weak self] in
            ControlActor.assumeIsolated { self?.openingTimedOut() }
        }
        pingTimer = GLibTimer(on: .control, after: face.settings.pingInterval, repeats: true) { [weak self] in
            ControlActor.assumeIsolated { self?.ping() }
        }
    }

    private func send(_ message: WCSServerMessage) {
        log(.debug, "to client", ["message": message.name, "from": socket.remoteAddress])
        socket.send(message.text)
    }

    private func close(_ code: UInt16, _ reason: String) {
        socket.close(code: code, reason: reason)
        end()
    }

    /// Signs the client out, once, whoever closed the socket.
    private func end() {
        guard !isOver else { return }
        isOver = true
        openingTimer?.cancel()
        pingTimer?.cancel()
        socket.onText = nil
        if let session { face.board.signOut(session) }
        session = nil
        face.forget(self)
    }
}

// MARK: - Keeping alive

extension WCSConnection {
    private func openingTimedOut() {
        guard session == nil, !isOver else { return }
        log(.info, "no connection message in time", ["from": socket.remoteAddress])
        close(1008, "no connection message")
    }

    private func ping() {
        guard !isOver else { return }
        unansweredPings += 1
        if unansweredPings > face.settings.missedPongs {
            log(.info, "client does not answer pings", ["from": socket.remoteAddress])
            close(1001, "no answer to pings")
        } else {
            send(.ping)
        }
    }
}

// MARK: - What the client says

extension WCSConnection {
    private func received(_ text: String) {
        guard !isOver else { return }
        guard budget.take(bytes: text.utf8.count, second: ContinuousSecond.now) else {
            log(.warning, "too many messages", ["from": socket.remoteAddress])
            return close(1008, "too many messages")
        }
        do throws(WCSParseError) {
            handle(try WCSClientMessage.parse(text))
        } catch {
            log(.info, "message refused", ["from": socket.remoteAddress, "why": error.description])
            send(.fail(FailureEvent(method: .error, info: error.description)))
        }
    }

    private func handle(_ message: WCSClientMessage) {
        log(.debug, "from client", ["message": message.name, "from": socket.remoteAddress])
        switch message {
        case .pong: unansweredPings = 0
        case .ping: send(.pong)
        case .connection(let request): connect(request)
        case .unknown(let name): log(.debug, "unknown message", ["name": name])
        default:
            guard let session else {
                return send(.fail(FailureEvent(method: .error, info: "the connection message comes first")))
            }
            handleSignedIn(message, session)
        }
    }

    private func handleSignedIn(_ message: WCSClientMessage, _ session: Session) {
        switch message {
        case .call(let request): call(request, session)
        case .answer(let request):
            withCall(request.callID, session) { board, id in
                board.answer(id, description: request.sdp, by: session)
            }
        case .hangup(let callID): feed(.clientHungUp, callID, session)
        case .hold(let callID, _): feed(.clientHeld, callID, session)
        case .unhold(let callID): feed(.clientResumed, callID, session)
        case .sendDtmf(let request):
            feed(.clientKeys(request.digits, method: KeyMethod(request.method)), request.callID, session)
        case .transfer(let callID, let target):
            send(.notifyTransferEvent(TransferEvent(callID: callID, status: .failed, target: target)))
        case .sendData(let operationID, _):
            let info = "no back end takes application data"
            send(.dataStatusEvent(DataStatusEvent(operationID: operationID, isAccepted: false, info: info)))
        case .stream(_, let request): send(.notifyStreamStatusEvent(request, info: "streams are not served"))
        case .availableStream(let request):
            send(.availableStream(mediaSessionID: request.mediaSessionID, info: "Stream not found"))
        case .submitBugReport: log(.info, "bug report", ["session": session.id.rawValue])
        case .connection, .pong, .ping, .unknown, .dataStatusEvent, .pushLogs, .sessionDebug: break
        }
    }

    private func feed(_ event: CallEvent, _ callID: String, _ session: Session) {
        withCall(callID, session) { board, id in board.handle(event, for: id, by: session) }
    }

    /// A call that is not there any more is told as finished, so that no client waits for it.
    private func withCall(_ callID: String, _ session: Session, _ body: (Switchboard, CallID) -> Bool) {
        if let id = CallID(rawValue: callID), body(face.board, id) { return }
        send(.finish(CallObject(callID: callID, status: .finish, incoming: false, caller: "", callee: "")))
    }

    private func call(_ request: CallRequest, _ session: Session) {
        guard let id = CallID(rawValue: request.callID) else {
            return send(.fail(FailureEvent(method: .call, info: "the callId cannot be used")))
        }
        let isKnown = extras[request.callID] != nil
        if !isKnown { extras[request.callID] = CallExtras(request) }
        do throws(Switchboard.Refusal) {
            try face.board.call(
                id, dialled: request.callee, displayName: request.visibleName.isEmpty ? nil : request.visibleName,
                offer: request.sdp, parameters: request.inviteParameters.map { ($0.key, $0.value) },
                descriptionLines: request.sipSDP, by: session)
        } catch {
            refuseCall(request, error)
            if !isKnown { extras.removeValue(forKey: request.callID) }
        }
    }

    private func refuseCall(_ request: CallRequest, _ refusal: Switchboard.Refusal) {
        let cause: HangupCause
        switch refusal {
        case .callIDTaken:
            // A finish would end the live call of that name in the client.
            return send(.fail(FailureEvent(method: .call, id: request.callID, info: "the callId is in use")))
        case .full: cause = .overload
        case .call(let found): cause = found
        }
        log(.info, "call refused", ["call": request.callID, "cause": cause.rawValue])
        let object = CallObject(
            callID: request.callID, status: .failed, incoming: false, caller: request.caller, callee: request.callee,
            sipStatus: cause.wcsStatusCode, info: cause.wcsInfo, custom: request.custom,
            inviteParameters: request.inviteParameters)
        send(.finish(object))
    }
}

// MARK: - Signing in

extension WCSConnection {
    private func connect(_ request: ConnectionRequest) {
        guard session == nil else {
            return send(.fail(FailureEvent(method: .connection, info: "this socket has its session already")))
        }
        do throws(SignInRefusal) {
            let account = try signInAccount(request)
            let session = try signIn(account)
            self.session = session
            openingTimer?.cancel()
            send(.getVersion(face.settings.version))
            let token = SessionID(randomBits: (.random(in: .min ... .max), .random(in: .min ... .max))).rawValue
            send(.getUserData(ConnectionInfo(echoing: request, authToken: token, login: session.login)))
            face.board.register(session)
        } catch {
            log(.info, "sign-in refused", ["from": socket.remoteAddress, "why": error.info])
            send(.fail(FailureEvent(method: .connection, info: error.info)))
            close(1000, "refused")
        }
    }

    private func signIn(_ account: ClientAccount?) throws(SignInRefusal) -> Session {
        do throws(Switchboard.Refusal) {
            return try face.board.signIn(account: account, login: nil, port: self)
        } catch {
            throw SignInRefusal(info: FailureReason.connectionError)
        }
    }

    /// The account that the message brings; nil if it brings none.
    private func signInAccount(_ request: ConnectionRequest) throws(SignInRefusal) -> ClientAccount? {
        let keys = face.settings.applicationKeys
        guard keys.isEmpty || keys.contains(request.appKey) else {
            throw SignInRefusal(info: FailureReason.authorizationFailed)
        }
        guard let account = request.account else {
            // A token without SIP keys means a session that is kept; there is none of that name (section 2.4).
            guard request.authToken == nil else { throw SignInRefusal(info: FailureReason.authorizationFailed) }
            return nil
        }
        guard let safe = ClientAccount(account) else { throw SignInRefusal(info: FailureReason.wrongProvider) }
        return safe
    }

    private struct SignInRefusal: Error {
        var info: String
    }
}

// MARK: - What the client is told

extension WCSConnection: ClientPort {
    func tell(_ notice: ClientNotice, of call: CallSnapshot, description: String?) {
        for message in messages(notice, call, description) { send(message) }
        if case .finished = notice { extras.removeValue(forKey: call.id.rawValue) }
    }

    private func messages(_ notice: ClientNotice, _ call: CallSnapshot, _ description: String?) -> [WCSServerMessage] {
        let object = CallObject(call, extras[call.id.rawValue], notice)
        switch notice {
        case .trying: return [.event(for: .trying, of: object)]
        case .description: return [.setRemoteSDP(callID: call.id.rawValue, sdp: description ?? "", isInitiator: true)]
        case .incoming: return WCSServerMessage.incoming(object, offer: description ?? "")
        case .ringing: return [.event(for: .ringing, of: object)]
        case .earlyMedia: return face.settings.announcesEarlyMedia ? [.event(for: .earlyMedia, of: object)] : []
        case .talking: return [.event(for: .established, of: object)]
        case .held: return [.event(for: .held, of: object)]
        case .finished(let cause): return [.event(for: cause.wcsPhase(call.direction), of: object)]
        }
    }

    func registrationChanged(to state: RegistrationState) {
        switch state {
        case .registered:
            wasRegistered = true
            send(.registered(sipMessageRaw: ""))
        case .failed(let status, let reason):
            log(.info, "registration failed", ["status": String(status), "reason": reason])
            send(.fail(FailureEvent(method: .registration, info: registrationFailureInfo(status: status))))
            if !wasRegistered, face.settings.closesOnRegistrationFailure { close(1000, "registration failed") }
        case .registering, .unregistered: break
        }
    }

    func gatewayStops() {
        socket.close(code: 1001, reason: "the gateway is shutting down")
    }
}
