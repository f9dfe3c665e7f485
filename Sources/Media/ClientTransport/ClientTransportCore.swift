internal import DTLS
internal import GLibLoop
internal import ICE
internal import SRTP
internal import Sockets

/// The part of a transport that lives on the ICE loop.
///
/// Unchecked but safe to send: everything but the initializer runs on the loop's thread.
final class ClientTransportCore: @unchecked Sendable {
    private enum Stage {
        /// Until the first pair is checked.
        case connecting
        case handshaking
        case connected
        /// Failed, ended by the peer, or consent lost: only `close` is left to do.
        case over
        case closed
    }

    /// How long libnice has waited for an answer when it reports a failed state.
    private static let libraryConsent = Duration.seconds(10)
    /// Handshake datagrams that may wait for the answer or the path: two flights, and not a stranger's flood.
    private static let maximumWaiting = 16

    private let loop: GLibLoop
    private let certificate: DTLSCertificate
    private let isOfferer: Bool
    private let deadlines: ClientTransportDeadlines
    private let events: @Sendable (ClientTransportEvent) -> Void

    private var stage = Stage.connecting
    private var agent: ICEAgent?
    private var handshake: Handshake?
    private var remote: RemoteTransportDescription?
    /// Whether this side has restarted ICE and waits for the remote's new credentials.
    private var hasRestarted = false
    private var pair: ICESelectedPair?
    private var waiting: [[UInt8]] = []
    private var deadline: GLibTimer?
    /// Runs while consent is in doubt.
    private var consentDoubt: GLibTimer?
    private var keys: SRTPKeys?
    private var laneSocket: UDPSocket?
    private var path: ClientMediaPath?

    init(
        loop: GLibLoop, certificate: DTLSCertificate, isOfferer: Bool, deadlines: ClientTransportDeadlines,
        events: @escaping @Sendable (ClientTransportEvent) -> Void
    ) {
        self.loop = loop
        self.certificate = certificate
        self.isOfferer = isOfferer
        self.deadlines = deadlines
        self.events = events
    }

    func begin(agent: ICEAgent) {
        guard stage != .closed else { return agent.close() }
        self.agent = agent
        agent.gather()
    }

    func setRemote(_ description: RemoteTransportDescription) {
        guard stage != .over, stage != .closed, let agent else { return }
        guard let known = remote else { return setFirstRemote(description, agent: agent) }
        let isRestart = known.iceUfrag != description.iceUfrag && known.icePwd != description.icePwd
        guard isRestart else { return agent.addRemote(candidates: description.candidates) }
        remote?.iceUfrag = description.iceUfrag
        remote?.icePwd = description.icePwd
        if !hasRestarted { agent.restart() }
        hasRestarted = false
        agent.setRemote(ufrag: description.iceUfrag, password: description.icePwd, candidates: description.candidates)
    }

    private func setFirstRemote(_ description: RemoteTransportDescription, agent: ICEAgent) {
        guard description.fingerprints.contains(where: \.isSupported) else { return fail(.noUsableFingerprint) }
        remote = description
        agent.setRemote(ufrag: description.iceUfrag, password: description.icePwd, candidates: description.candidates)
        startDeadline(deadlines.ice, failure: .iceTimeout)
        startHandshakeIfPossible()
    }

    func restartICE() {
        guard stage != .over, stage != .closed, remote != nil, !hasRestarted else { return }
        hasRestarted = true
        agent?.restart()
    }

    func addRemote(candidates: [ICECandidate]) {
        guard stage != .over, stage != .closed else { return }
        agent?.addRemote(candidates: candidates)
    }

    func close() {
        guard stage != .closed else { return }
        stage = .closed
        deadline = nil
        consentDoubt = nil
        waiting = []
        laneSocket = nil
        path = nil
        let agent = agent
        self.agent = nil
        // The agent is closed only after the last word of the handshake was handed to it.
        if let handshake { handshake.close { agent?.close() } } else { agent?.close() }
        handshake = nil
    }

    func take(_ event: ICEEvent) {
        guard stage != .over, stage != .closed else { return }
        switch event {
        case .gathered(let description): reportGathered(description)
        case .selectedPair(let pair): select(pair)
        case .received(let datagram): receive(datagram)
        case .stateChanged(.failed): doubtConsent()
        case .stateChanged(.connected), .stateChanged(.ready): consentDoubt = nil
        case .stateChanged: break
        case .failed(let error): fail(.ice(error))
        }
    }

    private func reportGathered(_ description: ICELocalDescription) {
        events(
            .gathered(
                LocalTransportDescription(
                    iceUfrag: description.ufrag, icePwd: description.password, candidates: description.candidates,
                    fingerprint: certificate.fingerprint, setup: setupToSay)))
    }

    /// An offer of ours leaves the choice, also when it restarts ICE; an answer to a re-offer tells the role as it is (H44).
    private var setupToSay: TransportSetup {
        guard let remote else { return isOfferer ? .actpass : .active }
        return hasRestarted ? .actpass : role(facing: remote.setup).setup
    }

    /// The role is decided once, from the remote's line (H44). An offer says actpass, so the answer's word counts: passive
    /// makes us active, and anything else leaves the first word to the peer.
    private func role(facing setup: TransportSetup?) -> DTLSRole {
        if isOfferer { return setup == .passive ? .active : .passive }
        return TransportSetup.answer(toOffer: setup) == .active ? .active : .passive
    }

    private func select(_ pair: ICESelectedPair) {
        self.pair = pair
        switch stage {
        case .connecting: startHandshakeIfPossible()
        case .connected: changePath()
        case .handshaking, .over, .closed: break
        }
    }

    private func startHandshakeIfPossible() {
        guard stage == .connecting, pair != nil, let remote, let agent else { return }
        stage = .handshaking
        startDeadline(deadlines.handshake, failure: .handshakeTimeout)
        let handshake = Handshake(
            send: { agent.send($0) },
            onChange: { [weak self, loop] state in
                guard let self else { return }
                loop.perform { self.take(state) }
            })
        self.handshake = handshake
        handshake.start(certificate: certificate, role: role(facing: remote.setup), fingerprints: remote.fingerprints)
        for datagram in waiting { handshake.feed(datagram) }
        waiting = []
    }

    /// The agent has dropped sources that passed no check. Media is what came before the lane's socket, or to another of our
    /// addresses than the selected one.
    private func receive(_ datagram: [UInt8]) {
        guard let first = datagram.first else { return }
        if (128...191).contains(first), stage == .connected { return events(.media(datagram)) }
        guard (20...63).contains(first) else { return }
        if let handshake {
            handshake.feed(datagram)
        } else if waiting.count < Self.maximumWaiting {
            waiting.append(datagram)
        }
    }

    private func take(_ state: DTLSState) {
        guard stage == .handshaking || stage == .connected else { return }
        switch state {
        case .handshaking: break
        case .connected(let exported): finish(exported)
        case .closed: end(.closedByPeer)
        case .failed(let error): fail(.dtls(error))
        }
    }

    private func finish(_ exported: DTLSSRTPKeys) {
        guard let profile = SRTPProfile(rawValue: exported.profile) else { return fail(.unknownProfile(exported.profile)) }
        do throws(SRTPError) {
            keys = SRTPKeys(
                send: try SRTPKeyMaterial(profile: profile, key: exported.sendKey, salt: exported.sendSalt),
                receive: try SRTPKeyMaterial(profile: profile, key: exported.receiveKey, salt: exported.receiveSalt))
        } catch { return fail(.srtp(error)) }
        guard let path = makePath() else { return }
        self.path = path
        stage = .connected
        deadline = nil
        events(.connected(path))
    }

    private func changePath() {
        guard let new = makePath() else { return }
        // libnice names a pair anew when it learns what kind of candidate it is; that is no change.
        guard new.remote != path?.remote || new.socket !== path?.socket else { return }
        path = new
        events(.pathChanged(new))
    }

    /// The path over the selected pair, with the lane's socket made if this local end has none yet; nil after a failure.
    private func makePath() -> ClientMediaPath? {
        guard let pair, let keys, let setup = self.remote.map({ role(facing: $0.setup).setup }),
            let descriptor = pair.socketDescriptor,
            let remote = SocketAddress(pair.remote.host, port: pair.remote.port)
        else {
            fail(.unsupportedPath)
            return nil
        }
        do throws(SocketError) {
            let local = try UDPSocket.localAddress(ofFileDescriptor: descriptor)
            if laneSocket?.localAddress != local { laneSocket = try Self.laneSocket(besides: descriptor, at: local) }
        } catch {
            fail(.laneSocket(error))
            return nil
        }
        guard let laneSocket else { return nil }
        return ClientMediaPath(socket: laneSocket, remote: remote, keys: keys, setup: setup)
    }

    private static func laneSocket(
        besides descriptor: Int32, at local: SocketAddress
    ) throws(SocketError) -> UDPSocket {
        try UDPSocket.allowReusePort(fileDescriptor: descriptor)
        let socket = try UDPSocket(boundTo: local, reusePort: true)
        try socket.attachReusePortFilter(minimumFirstByte: 64)
        return socket
    }

    /// libnice takes consent for lost after some 10 s without an answer; the standard allows 30 s (RFC 7675 section 5.1). An
    /// authenticated check from the peer within the rest makes the agent ready again, and the call goes on. libnice does not watch
    /// a pair that has come back in this way: whoever owns the media must watch for its silence.
    private func doubtConsent() {
        // Before a pair was selected a failed state means only that the checks so far came to nothing: more may come.
        guard pair != nil, consentDoubt == nil else { return }
        let rest = max(.zero, deadlines.consent - Self.libraryConsent)
        consentDoubt = GLibTimer(on: loop, after: rest) { [weak self] in self?.end(.consentLost) }
    }

    private func startDeadline(_ length: Duration, failure: ClientTransportFailure) {
        deadline = GLibTimer(on: loop, after: length) { [weak self] in self?.fail(failure) }
    }

    private func fail(_ failure: ClientTransportFailure) { end(.failed(failure)) }

    private func end(_ event: ClientTransportEvent) {
        guard stage != .over, stage != .closed else { return }
        stage = .over
        deadline = nil
        consentDoubt = nil
        waiting = []
        events(event)
    }
}

extension DTLSRole {
    fileprivate var setup: TransportSetup {
        switch self {
        case .active: .active
        case .passive: .passive
        }
    }
}
