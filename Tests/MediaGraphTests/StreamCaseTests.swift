import Audio
import MediaGraph
import Opus
import RTP
import Sockets
import Testing

@Suite struct StreamCaseTests {
    @Test(arguments: [0x7FFF_FE00, 0x8000_0000, 0xFFFF_FC00, 0])
    func anyStartingTimestampPlaysWithoutAGap_H15(start: Int) throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        for index in 0..<250 {
            fed.feedClient(tone.next(160), sequence: index, timestamp: start + index * 160)
            fed.run(milliseconds: 20)
        }
        let ear = heard(fed.toTrunk)
        #expect(ear.gaps(below: -20, in: 1600..<38_000) == 0)
        #expect(abs(ear.level(of: 1000, in: 1600..<38_000) + 12) < 1)
        #expect(isEven(fed.toTrunk[...], step: 160))
    }

    @Test func sequenceWrapIsSilentOutOfOrderToo_H16() throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        let frames = (0..<200).map { _ in tone.next(160) }
        var order = Array(0..<200)
        for index in stride(from: 30, to: 60, by: 3) { order.swapAt(index, index + 1) }
        for index in order {
            fed.feedClient(frames[index], sequence: 65_500 + index, timestamp: index * 160)
            fed.feedTrunk(frames[index], sequence: 65_500 + index, timestamp: index * 160)
            fed.run(milliseconds: 20)
        }
        fed.run(milliseconds: 100)
        let statistics = fed.bridge.statistics.read()
        #expect(statistics.client.packetsLost == 0 && statistics.trunk.packetsLost == 0)
        #expect(statistics.resynchronisations == 0)
        #expect(heard(fed.toClient).gaps(below: -20, in: 4000..<30_000) == 0)
        // The first swap costs the client's side a packet's time; then its buffer has learnt.
        #expect(heard(fed.toTrunk).gaps(below: -20, in: 11_000..<30_000) == 0)
    }

    @Test func wildJumpsCostBoundedWork_H17() throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        let jumps = [0, 40_000, 1, 20_001]
        for index in 0..<250 {
            fed.feedClient(
                tone.next(160), sequence: 100 + jumps[index % 4] + index / 4,
                timestamp: jumps[index % 4] * 160 + index * 160)
            fed.run(milliseconds: 20)
        }
        #expect(fed.bridge.statistics.read().resynchronisations <= 2)
        #expect(isEven(fed.toTrunk[...], step: 160))
    }

    @Test func packetLengthIsReadFromEachPacket_H13() throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        var sequence = 0
        var timestamp = 0
        for length in [320, 160, 80, 480] {
            for _ in 0..<(16_000 / length) {
                fed.feedTrunk(tone.next(length), sequence: sequence, timestamp: timestamp)
                fed.feedClient(tone.next(length), sequence: sequence, timestamp: timestamp)
                sequence += 1
                timestamp += length
                fed.run(milliseconds: length / 8)
            }
        }
        #expect(isEven(fed.toClient.dropFirst(2), step: 160))
        #expect(isEven(fed.toTrunk[...], step: 160))
        #expect(heard(fed.toClient).gaps(below: -20, in: 2000..<62_000) == 0)
        // On the client's side a change of length sets the buffer wrong for a moment; 240 ms in all over three changes.
        #expect(heard(fed.toTrunk).gaps(below: -20, in: 2000..<62_000) <= 24)
    }

    @Test(arguments: [10, 20, 30, 40, 60])
    func theTrunkGetsThePacketLengthItAsksFor_H06(milliseconds: Int) throws {
        let fed = try HandFedBridge(trunk: .g711(packetMilliseconds: milliseconds))
        var tone = LawTone()
        for index in 0..<300 {
            fed.feedClient(tone.next(160), sequence: index, timestamp: index * 160)
            fed.run(milliseconds: 20)
        }
        let steady = fed.toTrunk.dropFirst(10)
        #expect(isEven(steady, step: milliseconds * 8))
        #expect(steady.allSatisfy { $0.payload.count == milliseconds * 8 })
        let spacing = zip(steady, steady.dropFirst()).map { Double($1.at - $0.at) / 1e6 }
        #expect(spacing.allSatisfy { abs($0 - Double(milliseconds)) <= 5 })
        #expect(heard(steady).gaps(below: -20) == 0)
    }

    @Test func opusTimestampsRunAt48kHz_H11() throws {
        let fed = try HandFedBridge(client: .opus())
        var tone = LawTone()
        var sequence = 0
        var timestamp = 0
        for length in [160, 240, 80] {
            for _ in 0..<(24_000 / length) {
                fed.feedTrunk(tone.next(length), sequence: sequence, timestamp: timestamp)
                sequence += 1
                timestamp += length
                fed.run(milliseconds: length / 8)
            }
        }
        #expect(isEven(fed.toClient.dropFirst(2), step: 960))
        #expect(abs(fed.toClient.count - 450) < 10)
    }

    @Test func aLateTickDoesNotMoveTimestamps_H12() throws {
        let fed = try HandFedBridge()
        var random = SeededRandom(seed: 3)
        fed.hog = { Int(random.next() % 15) }
        var tone = LawTone()
        for index in 0..<200 {
            fed.feedClient(tone.next(160), sequence: index, timestamp: index * 160)
            fed.run(milliseconds: 20)
        }
        #expect(isEven(fed.toTrunk[...], step: 160))
        #expect(abs(fed.toTrunk.count - 200) <= 2)
    }

    @Test(arguments: [320, 160])
    func durationComesFromTheOpusPacketNotTheTimestampStep_H07(step: Int) throws {
        let fed = try HandFedBridge(client: .opus())
        var encoder = try OpusEncoder(sampleRate: 8000)
        var generator = ToneGenerator(rate: .telephone, frequency: 1000, level: -12)
        for index in 0..<150 {
            var packet = [UInt8](repeating: 0, count: 1275)
            let samples = generator.samples(160)
            var span = packet.mutableSpan
            let length = try encoder.encode(samples.span, into: &span)
            fed.feedClient(Array(packet[0..<length]), type: 111, sequence: index, timestamp: index * step)
            fed.run(milliseconds: 20)
        }
        // The odd start leaves a packet too much in the buffer, which is cut once.
        #expect(heard(fed.toTrunk).gaps(below: -20, in: 8000..<22_000) <= 2)
    }

    @Test func aBurstAfterAStallIsDroppedAndTheDelayStaysLow_H18() throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        let frames = (0..<600).map { _ in tone.next(160) }
        for index in 0..<100 {
            fed.feedClient(frames[index], sequence: index, timestamp: index * 160)
            fed.feedTrunk(frames[index], sequence: index, timestamp: index * 160)
            fed.run(milliseconds: 20)
        }
        fed.run(milliseconds: 3000)
        let sentBefore = fed.toClient.count
        for index in 100..<250 {
            fed.feedClient(frames[index], sequence: index, timestamp: index * 160)
            fed.feedTrunk(frames[index], sequence: index, timestamp: index * 160)
        }
        let burst = fed.toClient.count - sentBefore
        #expect(burst <= 10)
        for index in 250..<400 {
            fed.feedClient(frames[index], sequence: index, timestamp: index * 160)
            fed.feedTrunk(frames[index], sequence: index, timestamp: index * 160)
            fed.run(milliseconds: 20)
        }
        let statistics = fed.bridge.statistics.read()
        print("H18 buffered", statistics.bufferedMilliseconds, "resync", statistics.resynchronisations, "burst", burst)
        #expect(statistics.bufferedMilliseconds <= 60)
        #expect(heard(fed.toTrunk.suffix(120)).gaps(below: -20) <= 4)
        #expect(heard(fed.toClient.suffix(100)).gaps(below: -20) == 0)
    }

    @Test(arguments: [true, false])
    func pausesLeaveTheDelayAsItWas_H19(advances: Bool) throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        var sequence = 0
        var timestamp = 0
        func talk(_ packets: Int) {
            for _ in 0..<packets {
                fed.feedClient(tone.next(160), sequence: sequence, timestamp: timestamp)
                sequence += 1
                timestamp += 160
                fed.run(milliseconds: 20)
            }
        }
        talk(100)
        for _ in 0..<10 {
            fed.run(milliseconds: 250)
            if advances { timestamp += 2000 }
            talk(50)
        }
        talk(50)
        let statistics = fed.bridge.statistics.read()
        print("H19", advances, statistics.bufferedMilliseconds, statistics.resynchronisations)
        #expect(statistics.bufferedMilliseconds <= 40)
        #expect(heard(fed.toTrunk.suffix(40)).gaps(below: -20) == 0)
    }

    @Test(arguments: [1000.0, -1000.0])
    func aDriftingClientClockCausesNoDropOuts_H18(ppm: Double) throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        var due = 0.0
        var elapsed = 0
        var index = 0
        while index < 6000 {
            while due <= Double(elapsed) {
                fed.feedClient(tone.next(160), sequence: index, timestamp: index * 160)
                index += 1
                due += 20 * (1 - ppm / 1e6)
            }
            fed.run(milliseconds: 1)
            elapsed += 1
        }
        let statistics = fed.bridge.statistics.read()
        print(
            "drift", ppm, statistics.bufferedMilliseconds, statistics.client.concealedMilliseconds,
            statistics.client.packetsDiscarded)
        #expect(statistics.bufferedMilliseconds <= 40)
        #expect(heard(fed.toTrunk.dropFirst(50)).gaps(below: -20) == 0)
    }

    @Test func trunkSilenceSuppressionIsQuietOfThatLength_H20() throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        var sequence = 0
        var timestamp = 0
        for _ in 0..<3 {
            for index in 0..<100 {
                fed.feedTrunk(tone.next(160), sequence: sequence, timestamp: timestamp, marker: index == 0)
                sequence += 1
                timestamp += 160
                fed.run(milliseconds: 20)
            }
            fed.feedTrunk([0x40], type: 13, sequence: sequence, timestamp: timestamp)
            sequence += 1
            fed.run(milliseconds: 5000)
            timestamp += 40_000
        }
        let statistics = fed.bridge.statistics.read()
        #expect(statistics.trunk.packetsLost == 0)
        // 3 times 7 s, in packets of 20 ms, on an unbroken line.
        let first = try #require(fed.toClient.first)
        let last = try #require(fed.toClient.last)
        let line = first.header.timestamp.distance(to: last.header.timestamp)
        let time = Double(last.at - first.at) / 1e6 * 8
        #expect(abs(Double(line) - time) < 800)
        #expect(zip(fed.toClient, fed.toClient.dropFirst()).allSatisfy { $1.at - $0.at <= 130_000_000 })
        let quiet = heard(fed.toClient[120..<300])
        #expect(quiet.level() < -50 && quiet.level() > -80)
        #expect(heard(fed.toClient[370..<420]).gaps(below: -20) <= 1)
    }

    @Test(arguments: [2, 5, 10])
    func burstsGoOutOnASteadyClock_H23(group: Int) throws {
        let fed = try HandFedBridge()
        var tone = LawTone()
        for index in stride(from: 0, to: 500, by: group) {
            for offset in 0..<group {
                fed.feedClient(tone.next(160), sequence: index + offset, timestamp: (index + offset) * 160)
            }
            fed.run(milliseconds: 20 * group)
        }
        let spacing = zip(fed.toTrunk, fed.toTrunk.dropFirst()).map { $1.at - $0.at }
        #expect(spacing.dropFirst().allSatisfy { abs($0 - 20_000_000) <= 3_000_000 })
        let statistics = fed.bridge.statistics.read()
        #expect(statistics.client.packetsReceived == 500 || statistics.client.packetsReceived >= 490)
        #expect(heard(fed.toTrunk.suffix(200)).gaps(below: -20) <= 2)
    }

    @Test func theClientsStreamGoesOnUnbrokenWhateverTheTrunkDoes_H47() throws {
        let fed = try HandFedBridge(client: .opus())
        var tone = LawTone()
        func talk(_ packets: Int, sequence: Int, timestamp: Int, ssrc: UInt32) {
            for index in 0..<packets {
                fed.feedTrunk(
                    tone.next(160), sequence: sequence + index, timestamp: timestamp + index * 160, ssrc: ssrc)
                fed.run(milliseconds: 20)
            }
        }
        talk(50, sequence: 100, timestamp: 5000, ssrc: 1)
        fed.bridge.setFlow(toTrunk: .silence, toClient: .silence)
        fed.run(milliseconds: 12_000)
        fed.bridge.setFlow(toTrunk: .audio, toClient: .audio)
        talk(50, sequence: 36_100, timestamp: 5_765_000, ssrc: 1)
        talk(50, sequence: 5, timestamp: 77, ssrc: 2)
        fed.bridge.setTrunk(.g711(), remote: HandFedBridge.trunk.with(port: 9000), at: fed.now)
        fed.run(milliseconds: 500)
        for index in 0..<50 {
            fed.feedTrunk(
                tone.next(160), sequence: 900 + index, timestamp: index * 160, ssrc: 3,
                from: HandFedBridge.trunk.with(port: 9000))
            fed.run(milliseconds: 20)
        }
        let packets = fed.toClient
        #expect(Set(packets.map(\.header.ssrc)).count == 1)
        for (one, other) in zip(packets, packets.dropFirst()) {
            #expect(one.header.sequenceNumber.distance(to: other.header.sequenceNumber) == 1)
            let step = one.header.timestamp.distance(to: other.header.timestamp)
            #expect(step >= 960 && step <= 9600)
            #expect(other.at - one.at <= 140_000_000)
        }
    }
}
