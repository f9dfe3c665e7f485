import ClientTransport
import ICE
import Sockets
import Testing

/// A side with more than one address.
@Suite struct SeveralAddressesTests {
    private static func packet(payloadType: UInt8) -> [UInt8] {
        [0x80, payloadType, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    }

    @Test func mediaThatComesToAnotherOfOurAddressesThanTheSelectedOneIsHandedOn() async throws {
        let waiting = try TransportSide(controlling: false, hosts: ["127.0.0.1", "127.0.0.2"])
        let calling = try TransportSide(controlling: true)
        let local = try await waiting.gathered()
        let (one, two) = try await ClientTransportTests.connect(waiting, calling)
        let other = try #require(
            local.candidates.lazy.compactMap { SocketAddress($0.host, port: $0.port) }
                .first { $0 != one.socket.localAddress })
        let packet = Self.packet(payloadType: 111)
        two.socket.send(packet.span, to: other)
        let handedOn = await waiting.first { if case .media(let datagram) = $0 { datagram } else { nil } }
        #expect(handedOn == packet)

        // From a source that has passed no check, nothing is.
        let stranger = try UDPSocket(boundTo: SocketAddress(127, 0, 0, 1, port: 0))
        let (forged, second) = (Self.packet(payloadType: 99), Self.packet(payloadType: 112))
        stranger.send(forged.span, to: other)
        two.socket.send(second.span, to: other)
        let next = await waiting.first { event -> UInt8? in
            if case .media(let datagram) = event, datagram[1] != 111 { datagram[1] } else { nil }
        }
        #expect(next == 112)
    }
}
