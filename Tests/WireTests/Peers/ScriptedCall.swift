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
import SDP
import WCSProtocol

/// One call of a scripted client, with its own ICE agent, DTLS and sound.
@ControlActor final class ScriptedCall {
    /// What the client does once the gateway has answered its offer.
    enum Sound: Sendable {
        /// Says a tone of so many hertz at -20 dB and records what it hears.
        case tone(Double)
        /// Sends silence and records nothing.
        case silence
        /// Has keys and path and leaves them to the test.
        case none
        /// Never checks the path: the handshake does not begin.
        case deaf
    }

    private static let rate = SampleRate(48000)

    let id: String
    private(set) var status = CallStatus.new
    /// Every status that the client was told.
    private(set) var history: [CallStatus] = []
    private(set) var last: CallObject?
    private(set) var path: ClientMediaPath?
    private(set) var endpoint: EndpointHost?
    private(set) var failure: String?

    private unowned let client: ScriptedClient
    private let callee: String
    private let sound: Sound
    private var transport: ClientTransport?
    private var offer: SessionDescription?
    private var accepted: NegotiatedClientAudio?

    static func freshID() -> String { UUID().uuidString.lowercased() }

    init(id: String, client: ScriptedClient, callee: String, sound: Sound) {
        self.id = id
        self.client = client
        self.callee = callee
        self.sound = sound
    }

    /// A well-formed offer by itself, whose path nobody will ever check.
    static func canned() -> String {
        let print = (0..<32).map { String(format: "%02X", $0) }.joined(separator: ":")
        return """
            v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r
            m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=ice-ufrag:abcd\r
            a=ice-pwd:0123456789abcdef01234567\r\na=fingerprint:sha-256 \(print)\r\na=setup:actpass\r
            a=rtcp-mux\r\na=sendrecv\r\na=rtpmap:111 opus/48000/2\r\n
            """
    }

    func begin() {
        guard let certificate = ScriptedClient.certificate else { return fail("no certificate") }
        transport = ClientTransport(
            iceLoops: ScriptedClient.iceLoops, certificate: certificate, isControlling: true, localAddresses: ["127.0.0.1"]
        ) { [weak self] event in
            GLibLoop.control.perform { ControlActor.assumeIsolated { self?.take(event) } }
        }
    }

    /// Waits until the call has come to a status; a final one ends the waiting, as does a failure of the media.
    @discardableResult
    func becomes(_ wanted: CallStatus, within limit: Duration = .seconds(15)) async throws -> CallObject {
        let done = await eventually(timeout: limit) {
            history.contains(wanted) || status.isFinal || failure != nil || client.closure != nil
        }
        guard done, history.contains(wanted), let last else {
            throw PeerFailure("call \(id) to \(callee) is not \(wanted): \(history) \(failure ?? "") \(last?.info ?? "")")
        }
        return last
    }

    /// Waits until both ways of sound stand: packets of the gateway's come.
    func hears(packets: Int = 10, within limit: Duration = .seconds(15)) async throws {
        guard await eventually(timeout: limit, { (endpoint?.statistics.leg.packetsReceived ?? 0) >= packets }) else {
            throw PeerFailure("call \(id) hears nothing: \(history) \(failure ?? "")")
        }
    }

    /// What was heard since the last time it was asked.
    func heard() async -> Ear { Ear(await endpoint?.takeRecording() ?? [], rate: Self.rate) }

    /// Waits until so much has been heard, from now on or from where `heard` has left off, and gives it.
    func listen(milliseconds: Int, afresh: Bool = true) async -> Ear {
        if afresh { _ = await heard() }
        let wanted = Self.rate.samples(milliseconds: milliseconds)
        var samples: [Int16] = []
        _ = await eventually(timeout: .milliseconds(milliseconds + 5000), every: .milliseconds(50)) {
            samples += await endpoint?.takeRecording() ?? []
            return samples.count >= wanted || endpoint == nil
        }
        return Ear(samples, rate: Self.rate)
    }

    func hangUp() { client.send(.hangup(callID: id)) }

    /// Frees the client's side.
    func drop() {
        endpoint?.stop()
        endpoint = nil
        transport?.close()
        transport = nil
        path = nil
        client.forget(self)
    }

    private func fail(_ words: String) { failure = words }
}

// MARK: - What comes

extension ScriptedCall {
    func take(_ object: CallObject) {
        status = object.status
        history.append(status)
        last = object
        if status.isFinal { drop() }
    }

    func take(_ description: String) {
        guard let offer else { return }
        do {
            let accepted = try OfferAnswer.applyClientAnswer(try SessionDescription(parsing: description), to: offer)
            self.accepted = accepted
            if case .deaf = sound { return }
            transport?.setRemote(
                RemoteTransportDescription(
                    iceUfrag: accepted.iceUfrag, icePwd: accepted.icePwd,
                    candidateLines: accepted.candidates.map { "candidate:\($0)" },
                    fingerprintValues: accepted.fingerprints.map(\.text),
                    setupValue: accepted.localSetup == .active ? "passive" : "active"))
        } catch { fail("the gateway's answer cannot be used: \(error)") }
    }

    private func take(_ event: ClientTransportEvent) {
        guard !status.isFinal else { return }
        switch event {
        case .gathered(let local): describe(local)
        case .connected(let path): connected(path)
        case .pathChanged(let path): endpoint?.setRemote(path.remote)
        case .failed(let failure): fail("\(failure)")
        case .consentLost: fail("consent lost")
        case .closedByPeer, .media: break
        }
    }

    private func describe(_ local: LocalTransportDescription) {
        let values = ClientTransportValues(
            iceUfrag: local.iceUfrag, icePwd: local.icePwd, candidates: local.candidates.map(\.description),
            fingerprint: Fingerprint(algorithm: local.fingerprint.algorithm, bytes: local.fingerprint.bytes))
        let offer = OfferAnswer.clientOffer(
            codecs: [.opus], transport: values, stream: ClientStream(ssrc: .random(in: 1 ... .max), cname: "scripted"),
            sessionID: 1)
        self.offer = offer
        client.send(.call(CallRequest(callID: id, callee: callee, sdp: offer.text)))
    }

    private func connected(_ path: ClientMediaPath) {
        self.path = path
        let source: AudioSource
        switch sound {
        case .tone(let frequency): source = .tone(ToneGenerator(rate: Self.rate, frequency: frequency, level: -20))
        case .silence: source = .silence
        case .none, .deaf: return
        }
        guard let lanes = ScriptedClient.lanes, let accepted, let format = LegFormat(client: accepted) else { return }
        var configuration = EndpointConfiguration(
            format: format, keys: path.keys, lineRate: Self.rate.hertz, wallClockOffset: LaneClock.wallClockOffset)
        if case .tone = sound { configuration.recordedSeconds = 120 }
        do {
            endpoint = try EndpointHost(
                lane: lanes.pick(), configuration: configuration, source: source, socket: path.socket, remote: path.remote
            ) { _ in }
        } catch { fail("\(error)") }
    }
}
