import ClientTransport
import ICE
import Sockets
import Testing

/// Other senders on the client port, before, during and after a call is set up.
@Suite struct StrangerTests {
    /// A STUN message with this class and method, a random transaction and raw attributes.
    private static func stun(type: UInt16, attributes: [UInt8], declaredLength: Int? = nil) -> [UInt8] {
        let length = declaredLength ?? attributes.count
        return [
            UInt8(type >> 8), UInt8(type & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), 0x21, 0x12, 0xA4, 0x42,
        ]
            + (0..<12).map { _ in UInt8.random(in: 0...255) } + attributes
    }

    private static func malformedSTUN() -> [[UInt8]] {
        var messages = [
            stun(type: 0x0001, attributes: []),
            stun(type: 0x0001, attributes: [0x00, 0x06, 0xFF, 0xFF]),
            stun(type: 0x0001, attributes: [0x00, 0x06, 0xFF, 0xFF, 1, 2, 3, 4], declaredLength: 0xFFFC),
            stun(type: 0x0101, attributes: []),
            stun(type: 0x0111, attributes: []),
            stun(type: 0x0001, attributes: (0..<40).flatMap { [0x7F, UInt8($0), 0x00, 0x00] as [UInt8] }),
            // USE-CANDIDATE and PRIORITY without integrity.
            stun(type: 0x0001, attributes: [0x00, 0x25, 0, 0, 0x00, 0x24, 0, 4, 1, 2, 3, 4]),
        ]
        for size in UInt8(0)...3 {
            let code: [UInt8] = [0x00, 0x09, 0x00, size] + [UInt8](repeating: 0, count: size == 0 ? 0 : 4)
            messages.append(stun(type: 0x0001, attributes: code))
            messages.append(stun(type: 0x0111, attributes: code))
        }
        return messages
    }

    /// A record that looks like a ClientHello with cipher suite 0x0000 and a random cookie.
    private static func forgedHello() -> [UInt8] {
        let random = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let cookie = (0..<16).map { _ in UInt8.random(in: 0...255) }
        let body: [UInt8] = [0xFE, 0xFD] + random + [0, 16] + cookie + [0, 2, 0, 0, 1, 0]
        let message: [UInt8] =
            [1, 0, 0, UInt8(body.count), 0, 0, 0, 0, 0, 0, 0, UInt8(body.count)] + body
        return [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(message.count)] + message
    }

    @Test("H60 H62 forged handshakes and malformed STUN from strangers end no call and get no handshake back")
    func strangers() async throws {
        let waiting = try TransportSide(controlling: false)
        let calling = try TransportSide(controlling: true)
        let (ours, theirs) = try await (waiting.gathered(), calling.gathered())
        let ports = (ours.candidates + theirs.candidates).map { SocketAddress(127, 0, 0, 1, port: $0.port) }
        let strangers = [
            try UDPSocket(boundTo: SocketAddress(127, 0, 0, 1, port: 0)),
            try UDPSocket(boundTo: SocketAddress(127, 0, 0, 66, port: 0)),
        ]
        func flood(times: Int) {
            for _ in 0..<times {
                for message in [Self.forgedHello()] + Self.malformedSTUN() + [[0x80, 0, 0, 1], [20], [64], []] {
                    for port in ports {
                        for stranger in strangers { stranger.send(message.span, to: port) }
                    }
                }
            }
        }
        flood(times: 5)
        waiting.transport.setRemote(theirs.remote(setup: .actpass, withCandidates: false))
        calling.transport.setRemote(ours.remote(setup: .active))
        for _ in 0..<20 {
            flood(times: 2)
            try await Task.sleep(for: .milliseconds(20))
        }
        let (one, two) = try await (waiting.path(), calling.path())
        flood(times: 5)
        let (here, there) = try (Lane(one), Lane(two))
        try here.send(sequence: 1, payload: [1])
        try there.send(sequence: 1, payload: [2])
        #expect(try await eventually { try here.receive().contains([2]) })
        #expect(try await eventually { try there.receive().contains([1]) })
        var answers: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 2048)
        var source = SocketAddress()
        for stranger in strangers {
            var span = buffer.mutableSpan
            while let count = stranger.receive(into: &span, from: &source) { if count > 0 { answers.append(span[0]) } }
        }
        #expect(answers.allSatisfy { $0 < 4 }, "STUN errors at most")
        for side in [waiting, calling] { #expect(side.events.count == 2) }
    }
}
