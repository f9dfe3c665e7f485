import Audio
import ClientTransport
import DTLS
import Foundation
import GLibLoop
import GatewayTesting
import ICE
import LegFormats
import MediaGraph
import MediaRuntime
import RTP
import SDP
import WCSProtocol

/// One call of a `WCSClient`: what it was told, what it says and hears.
@ControlActor final class WCSClientCall {
    /// An event of the call: the message's name and the object that it carried.
    struct Notice: Sendable, CustomStringConvertible {
        let message: String
        let object: CallObject
        var status: CallStatus { object.status }
        var description: String { "\(message)/\(status.rawValue) \(object.sipStatus) \(object.info)" }
    }

    /// The rate of what it says and hears.
    nonisolated static let rate = SampleRate.telephone

    nonisolated let id: String
    /// Every event so far, in order.
    private(set) var history: [Notice] = []
    /// Keys that the far end pressed, as telephone events.
    let keys = Mailbox<Character>()
    /// What went wrong with the media; empty if nothing.
    private(set) var troubles: [String] = []

    private unowned let client: WCSClient
    private let plant: WCSClient.Plant
    private let notices = Mailbox<Notice>()
    private let theirOffer: String?
    private var callee = ""
    private var ourOffer: SessionDescription?
    private var accepted: NegotiatedClientAudio?
    private var transport: ClientTransport?
    private var endpoint: EndpointHost?
    private var source: AudioSource

    init(
        client: WCSClient, plant: WCSClient.Plant, source: AudioSource, id: String = UUID().uuidString.lowercased(),
        offer: String? = nil
    ) {
        self.client = client
        self.plant = plant
        self.source = source
        self.id = id
        theirOffer = offer
    }

    // MARK: What the client does

    func begin(calling callee: String) {
        self.callee = callee
        openTransport(isOfferer: true)
    }

    /// Takes an incoming call.
    func answer() { openTransport(isOfferer: false) }

    func hangUp() { client.send(.hangup(callID: id)) }
    func hold() { client.send(.hold(callID: id, forTransfer: false)) }
    func unhold() { client.send(.unhold(callID: id)) }
    func press(_ digits: String, method: DTMFMethod = .rfc2833) {
        client.send(.sendDtmf(DTMFRequest(callID: id, method: method, digits: digits)))
    }

    // MARK: What it is told

    /// Waits for the next event with a status, past or future, that was not asked for before.
    @discardableResult
    func becomes(_ status: CallStatus, within limit: Duration = .seconds(10)) async throws -> Notice {
        if let notice = await notices.first(within: limit, where: { $0.status == status }) { return notice }
        throw PeerFailure("the call did not become \(status.rawValue): \(history) \(troubles)")
    }

    var statuses: [CallStatus] { history.map(\.status) }

    func received(_ message: String, _ object: CallObject) {
        let notice = Notice(message: message, object: object)
        history.append(notice)
        notices.post(notice)
    }

    /// Collects as many keys as are in `count`, or what has come when time is up.
    func keys(count: Int, within limit: Duration = .seconds(5)) async -> String {
        var pressed = ""
        while pressed.count < count, let key = await keys.first(within: limit) { pressed.append(key) }
        return pressed
    }

    // MARK: What it says and hears

    /// Waits until sound comes from the gateway.
    func hears(within limit: Duration = .seconds(10)) async throws {
        let comes = await eventually(timeout: limit) { (endpoint?.statistics.leg.packetsReceived ?? 0) > 10 }
        guard comes else { throw PeerFailure("nothing is received: \(history) \(troubles)") }
    }

    /// Waits until a tone comes from the gateway, at -20 dB.
    func hears(_ hertz: Int, within limit: Duration = .seconds(10)) async throws {
        try await hears(within: limit)
        let end = ContinuousClock.now + limit
        var level = AudioLevel.floor
        while level < -23 {
            guard ContinuousClock.now < end else { throw PeerFailure("\(hertz) Hz is heard at \(level) dB: \(figures)") }
            level = try await listen(milliseconds: 200).level(of: Double(hertz))
        }
    }

    func say(_ source: AudioSource) {
        self.source = source
        endpoint?.play(source)
    }

    /// Listens for so long, from now on, while it goes on saying what it says, or begins to say something else.
    func listen(milliseconds: Int, saying source: AudioSource? = nil) async throws -> Ear {
        guard let endpoint else { throw PeerFailure("the call has no media: \(history) \(troubles)") }
        _ = await endpoint.takeRecording()
        if let source { say(source) }
        var heard: [Int16] = []
        let wanted = Self.rate.samples(milliseconds: milliseconds)
        let isEnough = await eventually(timeout: .milliseconds(milliseconds + 5000), every: .milliseconds(50)) {
            heard += await endpoint.takeRecording()
            return heard.count >= wanted
        }
        guard isEnough else { throw PeerFailure("only \(heard.count) of \(wanted) samples were heard") }
        return Ear(heard, rate: Self.rate)
    }

    /// Counters of the leg, as the client sees it.
    var figures: LegStatistics { endpoint?.statistics.leg ?? LegStatistics() }

    /// Lets go of sockets and transport.
    func release() async {
        await endpoint?.stop()
        endpoint = nil
        transport?.close()
        transport = nil
    }
}

// MARK: - Media

extension WCSClientCall {
    private func openTransport(isOfferer: Bool) {
        transport = ClientTransport(
            iceLoop: plant.iceLoop, certificate: plant.certificate, isControlling: isOfferer, localAddresses: ["127.0.0.1"]
        ) { [weak self] event in
            GLibLoop.control.perform { ControlActor.assumeIsolated { self?.received(event) } }
        }
    }

    private func received(_ event: ClientTransportEvent) {
        switch event {
        case .gathered(let local): describe(local)
        case .connected(let path): connected(path)
        case .pathChanged(let path): endpoint?.setRemote(path.remote)
        case .failed(let failure): troubles.append("transport: \(failure)")
        case .closedByPeer, .media: break
        case .consentLost: troubles.append("consent lost")
        }
    }

    private func describe(_ local: LocalTransportDescription) {
        let transport = ClientTransportValues(
            iceUfrag: local.iceUfrag, icePwd: local.icePwd, candidates: local.candidates.map(\.description),
            fingerprint: Fingerprint(algorithm: local.fingerprint.algorithm, bytes: local.fingerprint.bytes))
        let stream = ClientStream(ssrc: .random(in: 1 ... .max), cname: "wire")
        guard let theirOffer else {
            let offer = OfferAnswer.clientOffer(codecs: [.opus], transport: transport, stream: stream, sessionID: 1)
            ourOffer = offer
            return client.send(.call(CallRequest(callID: id, callee: callee, sdp: offer.text)))
        }
        do {
            let offer = try SessionDescription(parsing: theirOffer)
            let accepted = try OfferAnswer.acceptClientOffer(offer, codecs: [.opus])
            let answer = OfferAnswer.clientAnswer(
                to: offer, accepted: accepted, transport: transport, stream: stream, sessionID: 1)
            setRemote(accepted)
            client.send(.answer(AnswerRequest(callID: id, sdp: answer.text)))
        } catch { troubles.append("their offer: \(error)") }
    }

    /// The gateway's answer to our offer.
    func described(_ description: String) {
        guard let ourOffer else { return troubles.append("a description that nobody asked for") }
        do {
            setRemote(try OfferAnswer.applyClientAnswer(try SessionDescription(parsing: description), to: ourOffer))
        } catch { troubles.append("their answer: \(error)") }
    }

    private func setRemote(_ accepted: NegotiatedClientAudio) {
        self.accepted = accepted
        transport?.setRemote(
            RemoteTransportDescription(
                iceUfrag: accepted.iceUfrag, icePwd: accepted.icePwd,
                candidateLines: accepted.candidates.map { "candidate:\($0)" },
                fingerprintValues: accepted.fingerprints.map(\.text),
                setupValue: accepted.localSetup == .active ? "passive" : "active"))
    }

    private func connected(_ path: ClientMediaPath) {
        guard let accepted, let format = LegFormat(client: accepted), endpoint == nil else { return }
        let configuration = EndpointConfiguration(
            format: format, keys: path.keys, lineRate: Self.rate.hertz, recordedSeconds: 20,
            wallClockOffset: LaneClock.wallClockOffset)
        do {
            endpoint = try EndpointHost(
                lane: plant.lanes.pick(), configuration: configuration, source: source, socket: path.socket,
                remote: path.remote
            ) { [weak self] event in
                GLibLoop.control.perform { ControlActor.assumeIsolated { self?.received(event) } }
            }
        } catch { troubles.append("endpoint: \(error)") }
    }

    private func received(_ event: EndpointHostEvent) {
        switch event {
        case .endpoint(.key(let key)): keys.post(key.character)
        case .endpoint: break
        case .failed(let words): troubles.append(words)
        }
    }
}
