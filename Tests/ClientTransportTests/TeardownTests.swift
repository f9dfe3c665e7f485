import ClientTransport
import DTLS
import Synchronization
import Testing

@Suite(.serialized) struct TeardownTests {
    /// Counts its live copies.
    private final class Token: Sendable {
        static let alive = Mutex(0)
        init() { Self.alive.withLock { $0 += 1 } }
        deinit { Self.alive.withLock { $0 -= 1 } }
    }

    @Test func transportsInEveryStageLeaveNothingBehind() async throws {
        // Below what the kernel gives to those who choose no port, so that nobody else is counted.
        let range: ClosedRange<UInt16> = 30600...30999
        let certificate = try TransportSide.certificate.get()
        for round in 0..<3 {
            var sides: [TransportSide] = []
            for number in 0..<10 { sides.append(try TransportSide(controlling: number % 2 == 0, portRange: range)) }
            // Two pairs connect, one is left in the middle, the rest has only begun.
            for pair in 0..<3 {
                let (one, two) = (sides[pair * 2], sides[pair * 2 + 1])
                let (offer, answer) = try await (one.gathered(), two.gathered())
                one.transport.setRemote(answer.remote(setup: .active))
                two.transport.setRemote(offer.remote(setup: .actpass))
                if pair < 2 { _ = try await (one.path(), two.path()) }
            }
            if round == 1 { for side in sides { side.transport.close() } }
        }
        for _ in 0..<20 {
            let token = Token()
            let transport = ClientTransport(
                iceLoop: TransportSide.loops.0, certificate: certificate, isControlling: true,
                localAddresses: ["127.0.0.1"],
                portRange: range
            ) { _ in withExtendedLifetime(token) {} }
            if Bool.random() { transport.close() }
        }
        #expect(try await eventually { try boundPorts(in: range).isEmpty })
        #expect(await eventually { Token.alive.withLock { $0 } == 0 })
    }

    @Test func theLanesSocketOutlivesTheTransportOnlyAsLongAsItsOwner() async throws {
        let range: ClosedRange<UInt16> = 30500...30599
        let one = try TransportSide(controlling: true, portRange: range)
        let two = try TransportSide(controlling: false, portRange: range)
        let (offer, answer) = try await (one.gathered(), two.gathered())
        one.transport.setRemote(answer.remote(setup: .active))
        two.transport.setRemote(offer.remote(setup: .actpass))
        var paths: [ClientMediaPath] = [try await one.path(), try await two.path()]
        #expect(try boundPorts(in: range).count == 4)
        one.transport.close()
        two.transport.close()
        // The recorders hold the connected events, and with them the lanes' sockets.
        #expect(try await eventually { try boundPorts(in: range).count == 2 })
        paths.removeAll()
    }
}
