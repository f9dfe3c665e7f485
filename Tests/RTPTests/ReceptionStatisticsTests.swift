import RTP
import Testing

@Suite struct ReceptionStatisticsTests {
    private let source = SSRC(0xABCD)
    private let packetTime: Int64 = 20_000_000

    private func feed(
        _ statistics: inout ReceptionStatistics, _ sequence: UInt16, index: Int, ssrc: SSRC? = nil
    ) -> ReceptionStatistics.Arrival {
        statistics.receive(
            ssrc: ssrc ?? source, sequenceNumber: SequenceNumber(sequence), timestamp: RTPTimestamp(UInt32(index) * 160),
            arrival: Int64(index) * packetTime)
    }

    @Test func h16TheWrapAddsOneTurnAndLosesNothing() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        for index in 0..<100 { _ = feed(&statistics, UInt16(truncatingIfNeeded: 65500 + index), index: index) }
        #expect(statistics.extendedHighestSequence == 65536 + 63)
        #expect(statistics.lost == 0 && statistics.restarts == 0)
    }

    @Test func h16ReorderingAndLossAroundTheWrapAreCountedAsSuch() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        for (index, sequence) in ([65533, 65534, 1, 2, 4, 3, 3] as [UInt16]).enumerated() {
            _ = feed(&statistics, sequence, index: index)
        }
        #expect(statistics.extendedHighestSequence == 65540)
        #expect(statistics.expected == 8)
        #expect(statistics.received == 7)
        #expect(statistics.lost == 1)  // 65535 and 0 are missing, 3 came twice: as RFC 3550 counts
        #expect(statistics.duplicates == 1 && statistics.reordered == 1)
    }

    @Test func h17WildJumpsRestartNothing() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        var inOrder = 0
        _ = feed(&statistics, 99, index: 0)
        for index in 1...250 {
            let base = UInt16(index / 2)
            if case .inOrder = feed(&statistics, 100 + base, index: index) { inOrder += 1 }
            _ = feed(&statistics, (index % 2 == 0 ? 40100 : 20101) &+ base, index: index)
        }
        #expect(statistics.restarts == 0)
        #expect(inOrder == 126)
        #expect(statistics.strays == 250)
    }

    @Test func aNewSourceIsTakenAfterTwoPacketsInOrder() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        _ = feed(&statistics, 1, index: 0)
        _ = feed(&statistics, 4, index: 1)
        let other = SSRC(5)
        #expect(feed(&statistics, 900, index: 2, ssrc: other) == .onProbation)
        #expect(feed(&statistics, 901, index: 3, ssrc: other) == .started(place: 901))
        #expect(feed(&statistics, 902, index: 4, ssrc: other) == .inOrder(place: 902))
        #expect(statistics.ssrc == other && statistics.restarts == 1)
        #expect(statistics.totalLost == 2 && statistics.totalReceived == 4)
    }

    @Test func aSequenceRestartIsTakenAfterTwoPacketsInOrder() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        _ = feed(&statistics, 36000, index: 0)
        #expect(feed(&statistics, 5, index: 1) == .onProbation)
        #expect(feed(&statistics, 6, index: 2) == .started(place: 6))
    }

    @Test func aForeignStreamBesideTheOwnOneIsNeverTaken() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        for index in 0..<100 {
            _ = feed(&statistics, UInt16(index), index: index)
            _ = feed(&statistics, UInt16(index), index: index, ssrc: SSRC(666))
        }
        #expect(statistics.restarts == 0 && statistics.ssrc == source && statistics.received == 100)
    }

    @Test func theReportTellsTheLossOfTheLastInterval() throws {
        var statistics = ReceptionStatistics(clockRate: 8000)
        let none = statistics.takeReportBlock(now: 0)
        #expect(none == nil)
        for index in 0..<100 where index % 4 != 1 { _ = feed(&statistics, UInt16(index), index: index) }
        let firstTaken = statistics.takeReportBlock(now: 0)
        let first = try #require(firstTaken)
        #expect(first.fractionLost == 64 && first.cumulativeLost == 25 && first.extendedHighestSequence == 99)
        #expect(first.lastSenderReport == 0 && first.delaySinceLastSenderReport == 0)
        for index in 100..<200 { _ = feed(&statistics, UInt16(index), index: index) }
        let secondTaken = statistics.takeReportBlock(now: 0)
        let second = try #require(secondTaken)
        #expect(second.fractionLost == 0 && second.cumulativeLost == 25)
    }

    @Test func theReportAnswersTheLastSenderReport() throws {
        var statistics = ReceptionStatistics(clockRate: 8000)
        _ = feed(&statistics, 1, index: 0)
        let ntp = NTPTimestamp(seconds: 0x1234_5678, fraction: 0x9ABC_DEF0)
        statistics.receiveSenderReport(from: SSRC(1), ntp: NTPTimestamp(seconds: 1, fraction: 1), arrival: 0)
        statistics.receiveSenderReport(from: source, ntp: ntp, arrival: 1_000_000_000)
        let blockTaken = statistics.takeReportBlock(now: 3_500_000_000)
        let block = try #require(blockTaken)
        #expect(block.lastSenderReport == 0x5678_9ABC)
        #expect(block.delaySinceLastSenderReport == 163_840)
    }

    @Test func jitterFollowsTheFormulaOfTheAppendix() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        var expected = 0.0
        var arrivals: [Int64] = []
        for index in 0..<400 {
            let late: Int64 = index % 3 == 0 ? 12_000_000 : 0
            arrivals.append(Int64(index) * packetTime + late)
            _ = statistics.receive(
                ssrc: source, sequenceNumber: SequenceNumber(UInt16(index)), timestamp: RTPTimestamp(UInt32(index) * 160),
                arrival: arrivals[index])
            guard index > 0 else { continue }
            let difference = Double(arrivals[index] - arrivals[index - 1] - packetTime) * 8000 / 1e9
            expected += (abs(difference) - expected) / 16
        }
        #expect(abs(Double(statistics.jitter) - expected) <= 2)
        #expect(abs(Double(statistics.jitterNanoseconds) - expected * 125_000) <= 250_000)
    }

    @Test func aStreamSetOnAnotherLineDoesNotSpoilTheJitter() {
        var statistics = ReceptionStatistics(clockRate: 8000)
        _ = statistics.receive(ssrc: source, sequenceNumber: SequenceNumber(1), timestamp: RTPTimestamp(0), arrival: 0)
        _ = statistics.receive(
            ssrc: source, sequenceNumber: SequenceNumber(2), timestamp: RTPTimestamp(0x7000_0000), arrival: .max)
        _ = statistics.receive(
            ssrc: source, sequenceNumber: SequenceNumber(3), timestamp: RTPTimestamp(0xF000_0000), arrival: .min)
        #expect(statistics.jitter == 0)
    }
}
