import ClientTransport
import DTLS
import Foundation
import GLibLoop
import GatewayTesting
import ICE
import SRTP
import Sockets
import Testing

/// One transport and what it has reported.
final class TransportSide: Sendable {
    static let certificate = Result { try DTLSCertificate() }
    static let loops = (GLibLoop(name: "ice.one"), GLibLoop(name: "ice.two"))

    let transport: ClientTransport
    private let seen = Collected<ClientTransportEvent>()

    init(
        controlling: Bool, hosts: [String] = ["127.0.0.1"], certificate: DTLSCertificate? = nil,
        portRange: ClosedRange<UInt16>? = nil, deadlines: ClientTransportDeadlines = ClientTransportDeadlines(),
        loop: GLibLoop? = nil
    ) throws {
        transport = ClientTransport(
            iceLoop: loop ?? (controlling ? Self.loops.0 : Self.loops.1),
            certificate: try certificate ?? Self.certificate.get(),
            isControlling: controlling, localAddresses: hosts, portRange: portRange, deadlines: deadlines
        ) { [seen] event in seen.append(event) }
    }

    var events: [ClientTransportEvent] { seen.all }

    func first<Answer>(
        within limit: Duration = .seconds(20), _ pick: (ClientTransportEvent) -> Answer?
    ) async -> Answer? {
        await seen.first(within: limit, pick)
    }

    func gathered() async throws -> LocalTransportDescription {
        try #require(await first { if case .gathered(let description) = $0 { description } else { nil } })
    }

    func path() async throws -> ClientMediaPath {
        try #require(await first { if case .connected(let path) = $0 { path } else { nil } }, "\(events)")
    }

    func failure() async -> ClientTransportFailure? {
        await first { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    func isClosedByPeer() async -> Bool {
        await first { if case .closedByPeer = $0 { true } else { nil } } ?? false
    }
}

extension LocalTransportDescription {
    /// What the other side reads from the SDP.
    func remote(
        setup: TransportSetup?, withCandidates: Bool = true, fingerprint: DTLSFingerprint? = nil
    ) -> RemoteTransportDescription {
        RemoteTransportDescription(
            iceUfrag: iceUfrag, icePwd: icePwd, candidateLines: withCandidates ? candidates.map(\.description) : [],
            fingerprintValues: [(fingerprint ?? self.fingerprint).description], setupValue: setup?.rawValue)
    }
}

/// The lane's part: protects, sends, receives from the right source, opens.
final class Lane {
    let path: ClientMediaPath
    private var sender: SRTPSender
    private var receiver: SRTPReceiver
    /// Datagrams that no lane should see: not RTP or RTCP by their first byte.
    private(set) var foreign = 0

    init(_ path: ClientMediaPath) throws {
        self.path = path
        sender = try SRTPSender(path.keys.send)
        receiver = try SRTPReceiver(path.keys.receive)
    }

    func send(sequence: UInt16, payload: [UInt8]) throws {
        let header: [UInt8] = [0x80, 111, UInt8(sequence >> 8), UInt8(sequence & 0xFF), 0, 0, 0, 0, 1, 2, 3, 4]
        var buffer = header + payload + [UInt8](repeating: 0, count: SRTPProfile.maximumOverhead)
        var span = buffer.mutableSpan
        let count = try sender.protectRTP(&span, length: header.count + payload.count)
        path.socket.send(span.span.extracting(0..<count), to: path.remote)
    }

    /// The payloads that wait, in order.
    func receive() throws -> [[UInt8]] {
        var payloads: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 2048)
        var source = SocketAddress()
        var span = buffer.mutableSpan
        while let count = path.socket.receive(into: &span, from: &source) {
            if count == 0 || span[0] < 128 || span[0] > 191 { foreign += 1 }
            guard source == path.remote else { continue }
            let length = try receiver.unprotectRTP(&span, length: count)
            payloads.append((12..<length).map { span[$0] })
        }
        return payloads
    }
}

/// UDP ports of a range that are bound, as the kernel lists them.
func boundPorts(in range: ClosedRange<UInt16>) throws -> [UInt16] {
    let table = try String(contentsOfFile: "/proc/net/udp", encoding: .utf8)
    let ports = table.split(separator: "\n").dropFirst().compactMap { line -> UInt16? in
        let words = line.split(separator: " ")
        return words.count > 1 ? UInt16(words[1].suffix(4), radix: 16) : nil
    }
    return ports.filter(range.contains)
}

/// Waits until a condition holds.
func eventually(within limit: Duration = .seconds(5), _ condition: () throws -> Bool) async rethrows -> Bool {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return try condition()
}
