internal import Audio
internal import ClientTransport
internal import DTLS
public import GLibLoop
internal import ICE
internal import LegFormats
internal import MediaGraph
internal import MediaRuntime
internal import RTP
internal import SDP
internal import SRTP
public import Sockets
internal import WCSProtocol
internal import WebServer

/// A WCS client without a screen: signs in, calls or is called, plays, records and counts.
///
/// It is made of the gateway's own rooms (ICE, DTLS, SRTP, Opus) and speaks only the protocol to whatever stands behind the
/// address, so it proves any gateway.
@ControlActor public final class HeadlessClient {
    /// What is to be done.
    public struct Plan: Sendable {
        /// The gateway's WebSocket URL.
        public var url: String
        /// Whom to call; nil waits to be called.
        public var callee: String?
        /// The client's own SIP account; nil signs in as a guest.
        public var account: Account?
        /// What to say, at 48 kHz; empty says nothing.
        public var speech: [Int16]
        /// Keys to press once the call is up.
        public var keys: String
        /// How long to talk.
        public var talkTime: Duration
        /// How long to wait for the answer, or for the call.
        public var patience: Duration
        /// The addresses for our ICE candidates.
        public var localAddresses: [String]

        /// Takes all parts.
        public init(
            url: String, callee: String?, account: Account? = nil, speech: [Int16] = [], keys: String = "",
            talkTime: Duration = .seconds(10), patience: Duration = .seconds(60),
            localAddresses: [String] = LocalAddresses.all()
        ) {
            self.url = url
            self.callee = callee
            self.account = account
            self.speech = speech
            self.keys = keys
            self.talkTime = talkTime
            self.patience = patience
            self.localAddresses = localAddresses
        }
    }

    /// A SIP account that the gateway shall register.
    public struct Account: Sendable {
        /// The user.
        public var login: String
        /// The digest password.
        public var password: String
        /// The SIP domain.
        public var domain: String
        /// Where the gateway sends SIP, if not to the domain.
        public var outboundProxy: String?
        /// The SIP port.
        public var port: UInt16
        /// Whether to register.
        public var registers: Bool

        /// Takes all parts.
        public init(
            login: String, password: String, domain: String, outboundProxy: String? = nil, port: UInt16 = 5060,
            registers: Bool = true
        ) {
            self.login = login
            self.password = password
            self.domain = domain
            self.outboundProxy = outboundProxy
            self.port = port
            self.registers = registers
        }
    }

    /// Something worth telling as it happens.
    public enum News: Sendable {
        /// Signed in, under this login.
        case signedIn(login: String)
        /// The gateway registered the account.
        case registered
        /// The call's status in the protocol's words, with the SIP status and the reason.
        case status(String, sipStatus: Int, info: String)
        /// ICE and DTLS are done.
        case mediaConnected(remote: String, profile: String, afterMilliseconds: Int)
        /// The first packet came.
        case mediaStarted
        /// The far end pressed a key.
        case key(Character)
    }

    private let plan: Plan
    private let lanes: LanePool
    private let certificate: DTLSCertificate
    private let iceLoop = GLibLoop(name: "ice")
    private let tell: @ControlActor (News) -> Void
    private var socket: WebSocketConnection?
    private var transport: ClientTransport?
    private var endpoint: EndpointHost?
    private var path: ClientMediaPath?
    private var call = CallProgress()
    private var waiter: CheckedContinuation<Result<Void, HeadlessError>, Never>?
    private var timer: GLibTimer?
    private var begun = ContinuousClock.now

    /// Makes a client; `tell` hears the news.
    public init(plan: Plan, tell: @escaping @ControlActor (News) -> Void) throws(HeadlessError) {
        self.plan = plan
        self.tell = tell
        do throws(SocketError) { lanes = try LanePool(count: 1) } catch { throw .local("\(error)") }
        do throws(DTLSError) { certificate = try DTLSCertificate() } catch { throw .local("\(error)") }
    }

    /// Runs the plan to its end and gives what was seen and heard.
    ///
    /// - Throws: why there was no call. A call that came up and ended early is no error.
    public func run() async throws(HeadlessError) -> CallReport {
        let outcome = await carryOut()
        let figures = endpoint?.statistics.leg ?? LegStatistics()
        let heard = await endpoint?.takeRecording() ?? []
        await endpoint?.stop()
        transport?.close()
        socket?.close()
        if case .failure(let error) = outcome { throw error }
        return CallReport(figures: figures, heard: heard, connectMilliseconds: call.connectMilliseconds)
    }

    /// Ends the call as if its time were over; before it is answered, gives up.
    public func endEarly() {
        if call.wasEstablished { hangUp() } else { finish(.failure(.local("interrupted"))) }
    }

    private func carryOut() async -> Result<Void, HeadlessError> {
        do {
            socket = try await WebSocketClient.connect(plan.url)
        } catch { return .failure(.noConnection("\(error)")) }
        return await withCheckedContinuation { continuation in
            waiter = continuation
            begin()
        }
    }

    private func begin() {
        socket?.onClosed = { [weak self] closure in
            self?.finish(.failure(.closed("code \(closure.code) \(closure.reason)")))
        }
        socket?.onText = { [weak self] text in self?.received(text) }
        let late: HeadlessError = plan.callee == nil ? .noCall : .noAnswer
        arm(plan.patience) { [weak self] in self?.finish(.failure(late)) }
        let account = plan.account.map { account in
            WCSAccount(
                login: account.login, password: account.password, domain: account.domain,
                outboundProxy: account.outboundProxy, port: account.port, registerRequired: account.registers)
        }
        send(.connection(ConnectionRequest(account: account)))
    }

    private func finish(_ outcome: Result<Void, HeadlessError>) {
        timer?.cancel()
        guard let waiter else { return }
        self.waiter = nil
        // A call that has been up has a report, whatever ended it.
        waiter.resume(returning: call.wasEstablished ? .success(()) : outcome)
    }

    private func arm(_ time: Duration, _ action: @escaping @ControlActor () -> Void) {
        timer?.cancel()
        timer = GLibTimer(on: .control, after: time) { ControlActor.assumeIsolated { action() } }
    }

    private func send(_ message: WCSClientMessage) { socket?.send(message.text) }
}

// MARK: - What the gateway says

extension HeadlessClient {
    private func received(_ text: String) {
        do throws(WCSParseError) {
            handle(try WCSServerMessage.parse(text))
        } catch {
            finish(.failure(.protocolFault(error.description)))
        }
    }

    private func handle(_ message: WCSServerMessage) {
        switch message {
        case .ping: send(.pong)
        case .getUserData(let info):
            tell(.signedIn(login: info.sipLogin))
            if plan.account?.registers != true { ready() }
        case .registered:
            tell(.registered)
            ready()
        case .fail(let failure): finish(.failure(.refused("\(failure.method.rawValue): \(failure.info)")))
        case .setRemoteSDP(let callID, let sdp, let isInitiator): remoteDescription(callID, sdp, isInitiator)
        case .notifyIncomingCall(let object): incoming(object)
        case .notifyTryingResponse(let object), .ring(let object), .talk(let object), .hold(let object),
            .finish(let object):
            status(object)
        default: break
        }
    }

    private func ready() {
        guard plan.callee != nil, !call.isBegun else { return }
        call.isBegun = true
        openTransport(isOfferer: true)
    }

    private func status(_ object: CallObject) {
        tell(.status(object.status.rawValue, sipStatus: object.sipStatus, info: object.info))
        switch object.status {
        case .established where !call.wasEstablished:
            call.wasEstablished = true
            established()
        case .finish, .busy, .failed:
            finish(.failure(.ended(status: object.status.rawValue, sipStatus: object.sipStatus, info: object.info)))
        default: break
        }
    }

    private func established() {
        if !plan.keys.isEmpty {
            for key in plan.keys {
                send(.sendDtmf(DTMFRequest(callID: call.id, digits: String(key))))
            }
        }
        arm(plan.talkTime) { [weak self] in self?.hangUp() }
    }

    private func hangUp() {
        send(.hangup(callID: call.id))
        arm(.seconds(2)) { [weak self] in self?.finish(.success(())) }
    }
}

// MARK: - Media

extension HeadlessClient {
    private func openTransport(isOfferer: Bool) {
        begun = ContinuousClock.now
        transport = ClientTransport(
            iceLoop: iceLoop, certificate: certificate, isControlling: isOfferer, localAddresses: plan.localAddresses
        ) { [weak self] event in
            GLibLoop.control.perform { ControlActor.assumeIsolated { self?.received(event) } }
        }
    }

    private func received(_ event: ClientTransportEvent) {
        switch event {
        case .gathered(let local): describe(local)
        case .connected(let path): connected(path)
        case .pathChanged(let path): endpoint?.setRemote(path.remote)
        case .failed(let failure): finish(.failure(.media("\(failure)")))
        // The gateway sends over the selected pair alone.
        case .closedByPeer, .media: break
        case .consentLost: finish(.failure(.media("consent lost")))
        }
    }

    /// Our SDP is ready: it goes out with the call, or with the answer.
    private func describe(_ local: LocalTransportDescription) {
        let transport = ClientTransportValues(local)
        let stream = ClientStream(ssrc: .random(in: 1 ... .max), cname: "headless")
        if let offer = call.theirOffer {
            answer(offer, transport, stream)
        } else {
            let offer = OfferAnswer.clientOffer(
                codecs: [.opus], transport: transport, stream: stream, sessionID: .random(in: 1...UInt64(UInt32.max)))
            call.ourOffer = offer
            send(.call(CallRequest(callID: call.id, callee: plan.callee ?? "", sdp: offer.text)))
        }
    }

    private func answer(_ text: String, _ transport: ClientTransportValues, _ stream: ClientStream) {
        do {
            let offer = try SessionDescription(parsing: text)
            let accepted = try OfferAnswer.acceptClientOffer(offer, codecs: [.opus])
            call.accepted = accepted
            let answer = OfferAnswer.clientAnswer(
                to: offer, accepted: accepted, transport: transport, stream: stream,
                sessionID: .random(in: 1...UInt64(UInt32.max)))
            setRemote(accepted)
            send(.answer(AnswerRequest(callID: call.id, sdp: answer.text)))
        } catch { finish(.failure(.protocolFault("the gateway's offer cannot be used: \(error)"))) }
    }

    private func remoteDescription(_ callID: String, _ text: String, _ isInitiator: Bool) {
        guard isInitiator, let offer = call.ourOffer else {
            call.theirOffer = text
            return
        }
        do {
            let accepted = try OfferAnswer.applyClientAnswer(try SessionDescription(parsing: text), to: offer)
            call.accepted = accepted
            setRemote(accepted)
        } catch { finish(.failure(.protocolFault("the gateway's answer cannot be used: \(error)"))) }
    }

    private func incoming(_ object: CallObject) {
        guard plan.callee == nil, !call.isBegun, call.theirOffer != nil else { return }
        call.isBegun = true
        call.id = object.callID
        tell(.status("INCOMING", sipStatus: object.sipStatus, info: object.caller))
        openTransport(isOfferer: false)
    }

    private func setRemote(_ accepted: NegotiatedClientAudio) {
        transport?.setRemote(RemoteTransportDescription(accepted))
    }

    private func connected(_ path: ClientMediaPath) {
        guard let accepted = call.accepted, let format = LegFormat(client: accepted), endpoint == nil else { return }
        let (seconds, attoseconds) = (ContinuousClock.now - begun).components
        call.connectMilliseconds = Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        tell(
            .mediaConnected(
                remote: path.remote.description, profile: "\(path.keys.profile)",
                afterMilliseconds: call.connectMilliseconds))
        let (talk, _) = plan.talkTime.components
        let configuration = EndpointConfiguration(
            format: format, keys: path.keys, lineRate: CallReport.rate.hertz, recordedSeconds: Int(talk) + 90,
            wallClockOffset: LaneClock.wallClockOffset)
        let source: AudioSource = plan.speech.isEmpty ? .silence : .samples(plan.speech, loops: false)
        do throws(MediaGraphError) {
            endpoint = try EndpointHost(
                lane: lanes.pick(), configuration: configuration, source: source, socket: path.socket, remote: path.remote
            ) { [weak self] event in
                GLibLoop.control.perform { ControlActor.assumeIsolated { self?.received(event) } }
            }
        } catch { finish(.failure(.local("\(error)"))) }
    }

    private func received(_ event: EndpointHostEvent) {
        switch event {
        case .endpoint(.key(let key)): tell(.key(key.character))
        case .endpoint(.mediaStarted): tell(.mediaStarted)
        case .endpoint(.sourceEnded): break
        case .failed(let words): finish(.failure(.local(words)))
        }
    }
}
