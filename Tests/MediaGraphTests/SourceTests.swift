import MediaGraph
import RTP
import Sockets
import Testing

@Suite struct SourceTests {
    static let stranger = SocketAddress(203, 0, 113, 66, port: 4444)
    static let behindNAT = SocketAddress(198, 51, 100, 7, port: 1234)

    @Test func strangersAreDroppedAndCounted_H59() throws {
        let fed = try HandFedBridge()
        var tone = LawTone(1000)
        var other = LawTone(600)
        for index in 0..<100 {
            fed.feedTrunk(other.next(160), sequence: index, timestamp: index * 160, ssrc: 66, from: Self.stranger)
            fed.feedTrunk(tone.next(160), sequence: index, timestamp: index * 160)
            fed.feedClient(other.next(160), sequence: index, timestamp: index * 160, from: Self.stranger)
            fed.run(milliseconds: 20)
            if index == 50 { fed.bridge.setTrunk(.g711(), remote: HandFedBridge.trunk, at: fed.now) }
        }
        fed.run(milliseconds: 100)
        let statistics = fed.bridge.statistics.read()
        #expect(statistics.trunk.wrongSource == 100 && statistics.client.wrongSource == 100)
        #expect(fed.bridge.trunkRemote == HandFedBridge.trunk)
        #expect(heard(fed.toClient).level(of: 600) < -50)
        #expect(heard(fed.toTrunk).level() < -60)
    }

    @Test func aTrunkBehindNATIsLatchedAfterThreePacketsInOrder_H59() throws {
        let fed = try HandFedBridge(
            configuration: BridgeConfiguration(trunkSource: .latch(seconds: 5, host: nil), seed: 1))
        var tone = LawTone()
        // Stray, wrong payload number, out of order: none of them moves anything.
        fed.feedTrunk(tone.next(160), sequence: 9, timestamp: 0, from: Self.stranger)
        for index in 0..<5 {
            fed.feedTrunk(tone.next(160), type: 77, sequence: index, timestamp: 0, from: Self.stranger)
            fed.feedTrunk(tone.next(160), sequence: 50 - index, timestamp: 0, from: Self.stranger)
        }
        #expect(fed.bridge.trunkRemote == HandFedBridge.trunk)
        for index in 0..<3 { fed.feedTrunk(tone.next(160), sequence: index, timestamp: index * 160, from: Self.behindNAT) }
        #expect(fed.bridge.trunkRemote == Self.behindNAT)
        #expect(fed.events.contains(.trunkMoved(Self.behindNAT)))
        for index in 0..<9 { fed.feedTrunk(tone.next(160), sequence: index, timestamp: 0, from: Self.stranger) }
        #expect(fed.bridge.trunkRemote == Self.behindNAT)
        // The same address negotiated again reopens nothing.
        fed.bridge.setTrunk(.g711(), remote: HandFedBridge.trunk, at: fed.now)
        #expect(fed.bridge.trunkRemote == Self.behindNAT)
    }

    @Test func latchingEndsWithItsWindowAndKeepsToItsHost() throws {
        let host = SocketAddress(198, 51, 100, 7, port: 5060)
        let fed = try HandFedBridge(
            configuration: BridgeConfiguration(trunkSource: .latch(seconds: 5, host: host), seed: 1))
        var tone = LawTone()
        for index in 0..<9 { fed.feedTrunk(tone.next(160), sequence: index, timestamp: 0, from: Self.stranger) }
        #expect(fed.bridge.trunkRemote == HandFedBridge.trunk)
        fed.run(milliseconds: 5100)
        for index in 0..<9 { fed.feedTrunk(tone.next(160), sequence: index, timestamp: 0, from: Self.behindNAT) }
        #expect(fed.bridge.trunkRemote == HandFedBridge.trunk)
    }

    @Test func anyCodecOfTheAnswerIsHeardAtAnyPacket_H03() throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        for index in 0..<150 {
            var payload = tone.next(160)
            let isA = (50..<100).contains(index)
            if isA { payload = payload.map { G711.aLaw(fromMu: $0) } }
            fed.feedTrunk(payload, type: isA ? 8 : 0, sequence: index, timestamp: index * 160)
            fed.run(milliseconds: 20)
        }
        #expect(heard(fed.toClient).gaps(below: -20, in: 2000..<22_000) == 0)
        #expect(abs(heard(fed.toClient).level(of: 1000, in: 2000..<22_000) + 12) < 1)
    }

    @Test func hostileDatagramsChangeNothing() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        let fed = try HandFedBridge(client: .opus())
        for _ in 0..<3000 {
            let length = Int(random.next() % 300)
            var bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if length > 1, random.next() % 2 == 0 {
                bytes[0] = 0x80 | UInt8(random.next() % 64)
                bytes[1] = [0, 8, 101, 111, 110, 13, 200, 201, 203][Int(random.next() % 9)]
            }
            fed.bridge.receiveFromTrunk(bytes.span, from: HandFedBridge.trunk, at: fed.now)
            let count = bytes.count
            bytes += [0, 0, 0, 0]
            var span = bytes.mutableSpan
            fed.bridge.receiveFromClient(&span, length: count, from: HandFedBridge.client, at: fed.now)
            if random.next() % 4 == 0 { fed.run(milliseconds: 5) }
        }
        var tone = LawTone()
        for index in 0..<100 {
            fed.feedTrunk(tone.next(160), sequence: 300 + index, timestamp: index * 160, ssrc: 99)
            fed.run(milliseconds: 20)
        }
        #expect(fed.toClient.count > 100)
    }
}
