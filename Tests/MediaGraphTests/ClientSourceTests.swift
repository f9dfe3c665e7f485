import MediaGraph
import Sockets
import Testing

/// Browsers have several addresses, and strangers too.
@Suite struct ClientSourceTests {
    private static let other = SocketAddress(198, 51, 100, 7, port: 5001)

    @Test func aClientThatSendsFromAnotherOfItsAddressesIsHeardWithoutAGap() throws {
        let call = try VirtualCall(
            seed: 5, clientSource: WholeCallTests.tone(1000), trunkSource: WholeCallTests.tone(600))
        call.run(milliseconds: 2000)
        call.admit = { [unowned call] destination, bytes in
            guard destination == .bridgeFromClient else { return true }
            call.send(bytes, to: .bridgeFromClient, from: Self.other, delay: 20)
            return false
        }
        call.run(milliseconds: 3000)
        let heard = Ear(call.trunk.takeRecording())
        #expect(abs(heard.level(of: 1000, in: 8000..<32000) + 12) < 1.5)
        #expect(heard.gaps(below: -20, in: 8000..<32000) == 0)
        let client = call.bridge.statistics.read().client
        #expect(client.wrongSource == 0 && client.srtpFailures == 0)
        // What we send stays on the path that ICE has selected.
        #expect(call.bridge.clientRemote == VirtualCall.clientAddress)
    }

    @Test func strangersAreCountedAndNeitherHeardNorTakenForTheClient() throws {
        let call = try VirtualCall(
            seed: 6, clientSource: WholeCallTests.tone(1000), trunkSource: WholeCallTests.tone(600))
        var copies: [[UInt8]] = []
        call.admit = { destination, bytes in
            if destination == .bridgeFromClient { copies.append(bytes) }
            return true
        }
        call.run(milliseconds: 1000)
        // Forged packets, and true ones over again: more than a second's budget of them.
        for round in 0..<10 {
            for (index, copy) in copies.prefix(40).enumerated() {
                var bytes = copy
                if round < 5 { bytes[bytes.count - 1 - index % 8] ^= 0x40 }
                call.send(bytes, to: .bridgeFromClient, from: Self.other)
            }
        }
        call.run(milliseconds: 2000)
        let heard = Ear(call.trunk.takeRecording())
        #expect(heard.gaps(below: -20, in: 4000..<20000) == 0)
        let client = call.bridge.statistics.read().client
        #expect(client.wrongSource == 400 && client.srtpFailures == 0 && client.packetsDuplicated == 0)
    }
}
