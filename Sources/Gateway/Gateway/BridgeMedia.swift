internal import CallModel
internal import ClientTransport
internal import GLibLoop
internal import ICE
internal import LegFormats
internal import MediaGraph
internal import MediaRuntime
internal import RTP
internal import SDP
internal import Sockets
internal import Switchboard
internal import Telemetry
internal import TrunkTransport

/// The media of one call: negotiates both legs' SDP and has the bridge do what was agreed.
@ControlActor final class BridgeMedia: CallMedia {
    let call: CallID
    private(set) var clientDescription = ""

    /// Holds this media as well, until `close`.
    private let plane: MediaPlane
    private let host: BridgeHost
    private let sockets: TrunkSockets
    private var transport: ClientTransport?
    private var report: (@ControlActor (MediaEvent) -> Void)?
    private var client: ClientLeg
    private var trunk: TrunkLegDescription
    private var gate = AudioGate.closed
    private var path: ClientMediaPath?
    /// From when on the trunk should be heard; nil while it need not.
    private var trunkExpectedSince: MediaTime?
    /// From when on the client should be heard; nil while it need not.
    private var clientConnectedAt: MediaTime?
    private let log = Log("MediaPlane")

    /// Opens everything but the client's path, which is reported when it is ready.
    static func open(
        _ request: MediaRequest, plane: MediaPlane, report: @escaping @ControlActor (MediaEvent) -> Void
    ) throws(HangupCause) -> BridgeMedia {
        let client = try ClientLeg(offer: request.clientOffer)
        let sockets: TrunkSockets
        do throws(TrunkPortError) { sockets = try plane.trunkPorts.open() } catch { throw .overload }
        let address = sockets.localAddress
        let local = TrunkAudio(
            codecs: plane.settings.trunkCodecs, address: address.host, port: address.port,
            packetTime: plane.settings.trunkPacketMilliseconds)
        var trunk = TrunkLegDescription(local: local, extraLines: request.descriptionLines)
        // The trunk's offer is judged before the client rings, so that a hopeless call never does.
        if let offer = request.trunkOffer { try trunk.answerFirst(offer) }
        let news = BridgeNews()
        let host = try plane.makeHost { event in news.deliver(event) }
        let media = BridgeMedia(
            call: request.call, plane: plane, host: host, sockets: sockets, client: client, trunk: trunk)
        media.report = report
        news.media = media
        media.begin()
        return media
    }

    private init(
        call: CallID, plane: MediaPlane, host: BridgeHost, sockets: TrunkSockets, client: ClientLeg,
        trunk: TrunkLegDescription
    ) {
        self.call = call
        self.plane = plane
        self.host = host
        self.sockets = sockets
        self.client = client
        self.trunk = trunk
    }

    /// Ends the call if media that should come has not for `timeout`: the trunk's (RTP-11), or the client's, whose ICE agent
    /// answers consent checks no more.
    func lookForSilence(now: MediaTime, timeout: Duration) {
        let limit = timeout.components.seconds * 1_000_000_000
        let figures = host.statistics
        if let since = trunkExpectedSince, isSilent(figures.trunk, since: since, now: now, limit: limit) {
            log(.info, "the trunk sends nothing", ["call": call.rawValue])
            report?(.failed(.mediaTimeout))
        } else if let since = clientConnectedAt, isSilent(figures.client, since: since, now: now, limit: limit) {
            log(.info, "the client sends nothing", ["call": call.rawValue])
            report?(.failed(.iceFailure))
        }
    }

    private func isSilent(_ leg: LegStatistics, since: MediaTime, now: MediaTime, limit: Int64) -> Bool {
        now.nanoseconds - max(leg.lastPacketNanoseconds, since.nanoseconds) > limit
    }

    func close() {
        guard report != nil else { return }
        report = nil
        transport?.close()
        transport = nil
        // The sockets live until the lane has let go of them.
        host.stop { [sockets] in withExtendedLifetime(sockets) {} }
        plane.forget(self)
    }
}

// MARK: - The client leg

extension BridgeMedia {
    private func begin() {
        host.setTrunkSockets(rtp: sockets.rtp, rtcp: sockets.rtcp)
        setAudio(.closed)
        if let audio = trunk.audio { adoptTrunk(audio) }
        transport = plane.makeTransport(isOfferer: client.isOfferer) { [weak self, host] event in
            // Packets take no way by the control loop: one client could keep it from all the others.
            if case .media(let datagram) = event { return host.receiveFromClient(datagram) }
            // The transport's events come on its ICE loop, in order, and go on to the control loop in that order.
            GLibLoop.control.perform { ControlActor.assumeIsolated { self?.received(event) } }
        }
        if let remote = client.remote { transport?.setRemote(remote) }
    }

    private func received(_ event: ClientTransportEvent) {
        guard report != nil else { return }
        switch event {
        case .gathered(let local):
            let (ssrc, name) = host.clientStream
            let stream = ClientStream(ssrc: ssrc.rawValue, cname: name.description)
            clientDescription = client.describe(local, stream: stream).text
            report?(.ready)
        case .connected(let path):
            self.path = path
            joinClient()
            report?(.clientConnected)
        case .pathChanged(let path):
            let isSameSocket = self.path?.socket === path.socket
            self.path = path
            host.setClientPath(remote: path.remote, socket: isSameSocket ? nil : path.socket)
        case .media: break  // has gone to the lane
        case .failed(let failure):
            log(.info, "client transport failed", ["call": call.rawValue, "why": "\(failure)"])
            report?(.failed(HangupCause(failure)))
        case .closedByPeer: report?(.failed(.normal))
        case .consentLost: report?(.failed(.iceFailure))
        }
    }

    private func joinClient() {
        guard let path, let audio = client.accepted, let format = LegFormat(client: audio) else { return }
        host.openClient(format, keys: path.keys, socket: path.socket, remote: path.remote)
        if audio.direction.receives { clientConnectedAt = LaneClock.now }
    }

    func applyClientAnswer(_ description: String) throws(HangupCause) {
        try client.apply(answer: description)
        if let remote = client.remote { transport?.setRemote(remote) }
    }

    func received(_ event: BridgeHostEvent) {
        guard report != nil else { return }
        switch event {
        case .bridge(.mediaStarted(let leg)):
            log(.debug, "media started", ["call": call.rawValue, "leg": "\(leg)"])
        case .bridge(.trunkMoved(let address)):
            log(.info, "trunk media moved", ["call": call.rawValue, "to": "\(address)"])
        case .bridge(.key), .bridge(.goodbye): break
        case .keysRefused(let words): log(.info, "keys not sent", ["call": call.rawValue, "why": words])
        case .failed(let words):
            log(.error, "media command failed", ["call": call.rawValue, "why": words])
            report?(.failed(.internalError))
        }
    }
}

// MARK: - The trunk leg

extension BridgeMedia {
    func trunkOffer() -> String { trunk.offer(hold: false) }

    func trunkReoffer(hold: Bool) -> String { trunk.offer(hold: hold) }

    func trunkRefusedReoffer() { trunk.offerWasRefused() }

    func applyTrunkAnswer(_ description: String) throws(HangupCause) {
        adoptTrunk(try trunk.apply(answer: description))
    }

    func answerTrunkOffer(_ description: String) throws(HangupCause) -> (description: String, holds: Bool) {
        let answer = try trunk.answer(description)
        adoptTrunk(answer.audio)
        return (answer.text, answer.audio.isHeldByPeer)
    }

    private func adoptTrunk(_ audio: NegotiatedAudio) {
        guard let format = LegFormat(trunk: audio) else { return }
        let remote = audio.remote.flatMap { SocketAddress($0) }
        host.setTrunk(format, remote: remote, reportRemote: audio.remoteRTCP.flatMap { SocketAddress($0) })
        setAudio(gate)
    }

    func setAudio(_ gate: AudioGate) {
        self.gate = gate
        let direction = trunk.audio?.direction ?? .inactive
        let toTrunk: MediaFlow = direction.sends ? (gate.toTrunk ? .audio : .silence) : .nothing
        host.setFlow(toTrunk: toTrunk, toClient: gate.toClient ? .audio : .silence)
        let isExpected = gate == .open && direction.receives
        if !isExpected {
            trunkExpectedSince = nil
        } else if trunkExpectedSince == nil {
            trunkExpectedSince = LaneClock.now
        }
    }

    func sendKeys(_ keys: String) -> Bool {
        guard trunk.audio?.telephoneEvent != nil else { return false }
        host.sendKeys(keys)
        return true
    }
}

/// Brings a bridge's news from its lane to its media on the control loop.
@ControlActor final class BridgeNews {
    weak var media: BridgeMedia?

    nonisolated init() {}

    nonisolated func deliver(_ event: BridgeHostEvent) {
        GLibLoop.control.perform { ControlActor.assumeIsolated { self.media?.received(event) } }
    }
}

extension HangupCause {
    init(_ failure: ClientTransportFailure) {
        switch failure {
        case .ice(.gatheringFailed): self = .overload
        case .ice(.badRemoteCredentials), .noUsableFingerprint: self = .unusableDescription
        case .ice, .iceTimeout, .unsupportedPath: self = .iceFailure
        case .handshakeTimeout, .dtls, .unknownProfile, .srtp: self = .dtlsFailure
        case .laneSocket: self = .internalError
        }
    }
}
