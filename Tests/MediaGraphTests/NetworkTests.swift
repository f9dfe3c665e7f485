import Audio
import MediaGraph
import RTP
import Testing

@Suite struct NetworkTests {
    static func tone(_ frequency: Double) -> AudioSource {
        .tone(ToneGenerator(rate: .telephone, frequency: frequency, level: -12))
    }

    @Test func aCleanPathAddsLittleDelayEitherWay() throws {
        for seed in [UInt64](1...4) {
            let call = try VirtualCall(seed: seed, clientSource: Self.tone(1000), trunkSource: Self.tone(600))
            // Every bridge has its own phase: let the peers' phases differ from run to run.
            call.clientToBridge.delayMilliseconds = 10 + Double(seed) * 3.7
            call.trunkToBridge.delayMilliseconds = 10 + Double(seed) * 2.3
            call.run(milliseconds: 4000)
            let statistics = call.bridge.statistics.read()
            #expect(statistics.client.packetsLost == 0 && statistics.client.packetsLate == 0)
            #expect(statistics.client.concealedMilliseconds == 0)
            // From a packet's arrival to the tick that plays it: the packets to the trunk follow those from the client.
            let steady = call.sentToTrunk.suffix(100)
            let arrivals = call.arrivalsAtBridge
            let delays = steady.compactMap { sent in arrivals.last { $0 <= sent.at }.map { Double(sent.at - $0) / 1e6 } }
            print("clean delay", delays.max() ?? -1, "buffered", statistics.bufferedMilliseconds)
            #expect((delays.max() ?? 99) <= 6)
            #expect(statistics.bufferedMilliseconds <= 20)
        }
    }

    @Test func fivePercentLossLeavesSoundWithoutHoles() throws {
        let call = try VirtualCall(seed: 42, clientSource: Self.tone(1000), trunkSource: Self.tone(600))
        call.clientToBridge.loss = 0.05
        call.trunkToBridge.loss = 0.05
        call.run(milliseconds: 20_000)
        let steady = 16_000..<150_000
        let atTrunk = Ear(call.trunk.takeRecording())
        let atClient = Ear(call.client.takeRecording())
        let statistics = call.bridge.statistics.read()
        print(
            "loss", statistics.client.packetsLost, statistics.trunk.packetsLost, atTrunk.gaps(below: -30, in: steady),
            atClient.gaps(below: -30, in: steady))
        #expect(statistics.client.packetsLost > 20 && statistics.trunk.packetsLost > 20)
        #expect(abs(statistics.client.concealedMilliseconds - statistics.client.packetsLost * 20) <= 200)
        // Two packets in a row may fade; a single one must not.
        #expect(atTrunk.gaps(below: -30, in: steady) < 20)
        #expect(atClient.gaps(below: -30, in: steady) < 20)
        #expect(abs(atTrunk.level(of: 1000, in: steady) + 12) < 3)
    }

    @Test func exponentialJitterIsPlayedOutWithFewHolesAtAModestDelay_H14() throws {
        let call = try VirtualCall(seed: 5, clientSource: Self.tone(1000), trunkSource: Self.tone(600))
        call.clientToBridge.meanJitter = 20
        call.run(milliseconds: 40_000)
        let before = call.bridge.statistics.read()
        var depths: [Double] = []
        for _ in 0..<100 {
            call.run(milliseconds: 200)
            depths.append(call.bridge.statistics.read().bufferedMilliseconds)
        }
        let after = call.bridge.statistics.read()
        let concealed = Double(after.client.concealedMilliseconds - before.client.concealedMilliseconds) / 20_000
        let mean = depths.reduce(0, +) / 100
        print(
            "jitter 20: concealed", concealed, "late", after.client.packetsLate - before.client.packetsLate, "discarded",
            after.client.packetsDiscarded - before.client.packetsDiscarded, "depth", mean, "max", depths.max() ?? 0)
        #expect(concealed < 0.08)
        #expect(mean < 100 && (depths.max() ?? 999) <= 200)
    }

    @Test func delayFallsBackAfterABadSpell_H14() throws {
        let call = try VirtualCall(seed: 6, clientSource: Self.tone(1000), trunkSource: .silence)
        call.run(milliseconds: 10_000)
        let clean = call.bridge.statistics.read().bufferedMilliseconds
        call.clientToBridge.meanJitter = 150
        call.clientToBridge.loss = 0.1
        var worst = 0.0
        for _ in 0..<150 {
            call.run(milliseconds: 200)
            worst = max(worst, call.bridge.statistics.read().bufferedMilliseconds)
        }
        call.clientToBridge.meanJitter = 0
        call.clientToBridge.loss = 0
        call.run(milliseconds: 20_000)
        let after = call.bridge.statistics.read().bufferedMilliseconds
        print("bad spell: clean", clean, "worst", worst, "after", after)
        // The ceiling, and a packet on either side of it.
        #expect(worst <= 240)
        #expect(after <= clean + 20)
    }

    @Test func reorderedTrunkPacketsAreSetRightWithoutDelayToOthers() throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        let frames = (0..<200).map { _ in tone.next(160) }
        for index in stride(from: 0, to: 200, by: 2) {
            for one in [index + 1, index] {
                fed.feedTrunk(frames[one], sequence: one, timestamp: one * 160)
                fed.run(milliseconds: 20)
            }
        }
        #expect(heard(fed.toClient.dropFirst(5)).gaps(below: -20) == 0)
        #expect(fed.bridge.statistics.read().trunk.packetsLost == 0)
    }

    @Test func twoCallsDoNotHearEachOther_H22() throws {
        let one = try VirtualCall(seed: 1, clientSource: Self.tone(1000), trunkSource: Self.tone(600))
        let other = try VirtualCall(seed: 2, clientSource: Self.tone(1400), trunkSource: Self.tone(2200))
        for _ in 0..<2000 {
            one.step()
            other.step()
        }
        let first = Ear(one.trunk.takeRecording())
        let second = Ear(other.client.takeRecording())
        let steady = 8000..<24_000
        #expect(abs(first.level(of: 1000, in: steady) + 12) < 2)
        #expect(first.level(of: 1400, in: steady) < -50 && first.level(of: 2200, in: steady) < -50)
        #expect(abs(second.level(of: 2200, in: steady) + 12) < 2)
        #expect(second.level(of: 600, in: steady) < -50 && second.level(of: 1000, in: steady) < -50)
    }

    @Test func dtxFromTheClientIsQuietAndNoLoss_H20() throws {
        let silence = [Int16](repeating: 0, count: 8000 * 4)
        var generator = ToneGenerator(rate: .telephone, frequency: 1000, level: -12)
        let call = try VirtualCall(
            seed: 9, clientSource: .samples(generator.samples(8000 * 2) + silence, loops: true), trunkSource: .silence)
        // Packets of a single byte are not sent, as a browser with DTX would not.
        call.run(milliseconds: 12_000)
        let statistics = call.bridge.statistics.read()
        #expect(statistics.client.packetsLost == 0)
        #expect(call.sentToTrunk.count > 580)
    }

    @Test func reportsTellRoundTripAndLoss() throws {
        let call = try VirtualCall(seed: 3, clientSource: Self.tone(1000), trunkSource: Self.tone(600))
        call.bridgeToClient.loss = 0.1
        call.run(milliseconds: 30_000)
        let statistics = call.bridge.statistics.read()
        #expect(abs(statistics.client.roundTripMilliseconds - 40) < 6)
        #expect(abs(statistics.trunk.roundTripMilliseconds - 40) < 6)
        #expect(statistics.client.remoteLoss > 0.02 && statistics.client.remoteLoss < 0.25)
        #expect(statistics.client.srtpFailures == 0)
    }

    @Test func replayedAndForgedMediaChangesNothing_H61() throws {
        let call = try VirtualCall(seed: 4, clientSource: Self.tone(1000), trunkSource: Self.tone(600))
        var kept: [[UInt8]] = []
        call.admit = { destination, bytes in
            if destination == .bridgeFromClient { kept.append(bytes) }
            return true
        }
        call.run(milliseconds: 4000)
        let replayed = kept.suffix(200)
        call.admit = { _, _ in true }
        for _ in 0..<1000 {
            for bytes in replayed.prefix(20) {
                call.send(bytes, to: .bridgeFromClient, from: VirtualCall.clientAddress)
                var forged = bytes
                forged[2] ^= 0x40
                call.send(forged, to: .bridgeFromClient, from: VirtualCall.clientAddress)
            }
            call.step()
        }
        let ear = Ear(call.trunk.takeRecording())
        #expect(ear.gaps(below: -20, in: 16_000..<44_000) == 0)
        #expect(call.bridge.statistics.read().client.srtpFailures > 10_000)
    }
}
