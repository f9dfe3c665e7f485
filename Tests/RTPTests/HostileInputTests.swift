import GatewayTesting
import RTP
import Testing

@Suite struct HostileInputTests {
    private var validPackets: [[UInt8]] {
        var compound = [UInt8](repeating: 0, count: RTCPWriter.maximumLength)
        var storage = compound.mutableSpan
        let sender = SenderInfo(
            ntp: NTPTimestamp(unixNanoseconds: 1_700_000_000_000_000_000), rtpTimestamp: RTPTimestamp(1), packetCount: 2,
            octetCount: 3)
        let block = ReportBlock(
            ssrc: SSRC(1), fractionLost: 0, cumulativeLost: 0, extendedHighestSequence: 0, jitter: 0, lastSenderReport: 0,
            delaySinceLastSenderReport: 0)
        _ = try? RTCPWriter.write(
            ssrc: SSRC(9), sender: sender, block: block, cname: CanonicalName(randomHigh: 1, randomLow: 2),
            saysGoodbye: true,
            into: &storage)
        let extended = packet(
            first: 0xB1, second: 0x08, rest: [0, 0, 0, 1, 0xBE, 0xDE, 0, 1, 1, 2, 3, 4, 5, 6, 7, 0, 0, 3])
        let key = packet(second: 0xE5, rest: [5, 0x0A, 0, 160])
        return [compound, extended, key, packet(rest: [UInt8](repeating: 0xD5, count: 160))]
    }

    @Test(arguments: FuzzTarget.allCases)
    func damagedPacketsNeitherTrapNorHang(target: FuzzTarget) {
        var random = SeededRandom(printedFor: "damaged packets, \(target)")
        for valid in validPackets {
            target.run(valid)
            for _ in 0..<1000 { target.run(random.damaged(valid)) }
            for length in 0...valid.count { target.run(Array(valid[..<length])) }
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func randomBytesNeitherTrapNorHang(target: FuzzTarget) {
        var random = SeededRandom(printedFor: "random bytes, \(target)")
        for _ in 0..<2000 {
            var bytes = random.bytes(upTo: 120)
            target.run(bytes)
            // Half of the runs go past the first doors: version 2 and a report's type.
            if bytes.count > 4 {
                bytes[0] = 0x80 | bytes[0] & 0x3F
                bytes[1] = 200 + bytes[1] % 8
                bytes[2] = 0
                bytes[3] %= 30
                target.run(bytes)
            }
        }
    }

    @Test func theSenderNeverTrapsWhateverTheStreamsLineDoes() {
        var random = SeededRandom(printedFor: "wild timestamps")
        for _ in 0..<50 {
            var sender = TelephoneEventSender(clockRate: random.next() % 2 == 0 ? 8000 : 48000)
            try? sender.enqueue("1p2,3", milliseconds: Int.random(in: -10...9000, using: &random))
            var packets = 0
            for _ in 0..<3000 {
                let timestamp = RTPTimestamp(UInt32(truncatingIfNeeded: random.next()))
                if sender.nextPacket(at: timestamp, interval: Int.random(in: 1...2880, using: &random)) != nil {
                    packets += 1
                }
            }
            #expect(packets > 0)
        }
    }
}
