import RTP
import Testing

@Suite struct RTCPTests {
    private let cname = CanonicalName(randomHigh: 0x0010_8310_5187_2092, randomLow: 0x8B30_D38F)
    private let info = SenderInfo(
        ntp: NTPTimestamp(seconds: 0xE000_0000, fraction: 0x8000_0000), rtpTimestamp: RTPTimestamp(160_000),
        packetCount: 1000, octetCount: 160_000)
    private let block = ReportBlock(
        ssrc: SSRC(0x11), fractionLost: 12, cumulativeLost: -3, extendedHighestSequence: 0x1_0005, jitter: 77,
        lastSenderReport: 0x1111_2222, delaySinceLastSenderReport: 65536)

    private func written(
        sender: SenderInfo?, block: ReportBlock?, saysGoodbye: Bool = false
    ) throws(RTPWriteError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: RTCPWriter.maximumLength)
        var storage = bytes.mutableSpan
        let length = try RTCPWriter.write(
            ssrc: SSRC(0x22), sender: sender, block: block, cname: cname, saysGoodbye: saysGoodbye, into: &storage)
        return Array(bytes[..<length])
    }

    @Test func theNameIsBase64OfItsBits() {
        #expect(cname.description == "ABCDEFGHIJKLMNOP")
    }

    @Test func aSenderReportReadsBackTheSame() throws {
        let bytes = try written(sender: info, block: block, saysGoodbye: true)
        #expect(bytes.count == RTCPWriter.maximumLength && bytes.count % 4 == 0)
        let found = try items(bytes)
        #expect(found.count == 4)
        #expect(found[0] == .senderReport(SSRC(0x22), info))
        #expect(found[1] == .reportBlock(reporter: SSRC(0x22), block))
        guard case .canonicalName(SSRC(0x22), let range) = found[2] else {
            Issue.record("no name")
            return
        }
        #expect(String(decoding: bytes[range], as: UTF8.self) == cname.description)
        #expect(found[3] == .goodbye(SSRC(0x22)))
    }

    @Test func aReceiverReportWithoutBlocksIsStillACompound() throws {
        let found = try items(try written(sender: nil, block: nil))
        #expect(found.first == .receiverReport(SSRC(0x22)) && found.count == 2)
    }

    @Test func cumulativeLossIsClampedTo24Bits() throws {
        var wide = block
        wide.cumulativeLost = .max
        guard case .reportBlock(_, let read) = try items(try written(sender: nil, block: wide))[1] else { return }
        #expect(read.cumulativeLost == 0x7F_FFFF)
    }

    @Test func unknownPacketsAreSkippedAndTheRestIsRead() throws {
        let report = try written(sender: nil, block: block)
        let extended: [UInt8] = [0x80, 207, 0, 1, 0, 0, 0, 9]
        let feedback: [UInt8] = [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]
        let found = try items(report + extended + feedback)
        #expect(found.suffix(2) == [.skipped(packetType: 207), .skipped(packetType: 206)])
        #expect(throws: RTCPParseError.badFirstPacket(packetType: 206)) { try items(feedback) }
        #expect(try items(feedback, reduced: true) == [.skipped(packetType: 206)])
    }

    @Test func h48ShortAndOddPacketsAreRefusedAndNothingOfThemIsRead() throws {
        for length in 1...40 {
            for type in UInt8(200)...207 {
                var bytes = [UInt8](repeating: 0, count: length)
                bytes[0] = 0x9F
                if length > 1 { bytes[1] = type }
                if length > 3 { bytes[3] = UInt8(length / 4 - 1) }
                var visited = 0
                #expect(throws: RTCPParseError.self) {
                    try RTCPReader.read(bytes.span) { _ in visited += 1 }
                }
                #expect(visited == 0)
            }
        }
        let promising = [0x9F, 200, 0, 3, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8)
        #expect(throws: RTCPParseError.countOverrun(offset: 0)) { try items(promising) }
        let good = try written(sender: info, block: block)
        var visited = 0
        #expect(throws: RTCPParseError.self) { try RTCPReader.read((good + promising).span) { _ in visited += 1 } }
        #expect(visited == 0)
    }

    @Test func paddingIsTakenOnTheLastPacketOnly() throws {
        let report = try written(sender: nil, block: nil)
        let padded: [UInt8] = [0xA0, 204, 0, 3, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8]
        #expect(try items(report + padded).last == .skipped(packetType: 204))
        #expect(throws: RTCPParseError.badPadding(offset: report.count)) { try items(report + padded + report) }
        var wrong = padded
        wrong[15] = 13
        #expect(throws: RTCPParseError.badPadding(offset: report.count)) { try items(report + wrong) }
    }

    @Test func itemsThatRunPastTheirPacketAreRefused() throws {
        let report = try written(sender: nil, block: nil)
        let overrun: [UInt8] = [0x81, 202, 0, 2, 0, 0, 0, 9, 1, 200, 65, 66]
        #expect(throws: RTCPParseError.itemOverrun(offset: report.count + 8)) { try items(report + overrun) }
        let unended: [UInt8] = [0x81, 202, 0, 2, 0, 0, 0, 9, 1, 2, 65, 66]
        #expect(throws: RTCPParseError.itemOverrun(offset: report.count + 12)) { try items(report + unended) }
    }

    @Test func theRoundTripOfTheStandardsExample() {
        // RFC 3550 figure 2: sent 0xb705:2000 back at 0xb710:8000 with a delay of 0x0005:4000 gives 6.125 s.
        var report = block
        report.lastSenderReport = 0xB705_2000
        report.delaySinceLastSenderReport = 0x0005_4000
        let arrival = NTPTimestamp(seconds: 0xB44D_B710, fraction: 0x8000_0000)
        #expect(report.roundTrip(arrival: arrival) == 0x0006_2000)
        #expect(report.roundTripNanoseconds(arrival: arrival) == 6_125_000_000)
        report.delaySinceLastSenderReport = 0x000C_0000
        #expect(report.roundTrip(arrival: arrival) == nil)
        report.lastSenderReport = 0
        #expect(report.roundTrip(arrival: arrival) == nil)
    }

    @Test func reportsComeAtHalfToOneAndAHalfTimesTheMinimum() {
        var schedule = RTCPSchedule(sessionBandwidth: 16000)
        let first = schedule.nextInterval(weSent: true, random: 0)
        #expect(abs(Double(first) - 2.5e9 * 0.5 / 1.21828) < 1000)
        let low = schedule.nextInterval(weSent: true, random: 0)
        let high = schedule.nextInterval(weSent: true, random: 1)
        #expect(abs(Double(low) - 5e9 * 0.5 / 1.21828) < 1000)
        #expect(abs(Double(high) - 5e9 * 1.5 / 1.21828) < 1000)
        for _ in 0..<1000 { schedule.observe(size: 60000) }
        #expect(schedule.nextInterval(weSent: true, random: 0.5) > 100_000_000_000)
    }
}
