import Audio
import Testing

@Suite struct G711Tests {
    /// The intervals between the standard's decision values (tables 1a and 2a): 16 even steps a segment, each segment's
    /// steps twice as wide as the one's before (A-law: the first two are alike). A code's value is its interval's middle.
    private func intervals(_ law: G711Law) -> [Range<Int>] {
        var intervals: [Range<Int>] = []
        var border = law == .mu ? -4 : 0  // mu-law's first interval is half a step, around zero
        for segment in 0..<8 {
            let step = law == .mu ? 8 << segment : 16 << max(segment - 1, 0)
            for _ in 0..<16 {
                intervals.append(border..<border + step)
                border += step
            }
        }
        return intervals
    }

    private func values(_ law: G711Law) -> [Int] { intervals(law).map { ($0.lowerBound + $0.upperBound) / 2 } }

    @Test func allMuLawCodesDecodeToTheirValues() {
        let values = values(.mu)
        #expect(values[0] == 0 && values[127] == 32124)
        for code in UInt8.min...UInt8.max {
            let magnitude = values[Int(~code & 0x7F)]
            #expect(G711Law.mu.decode(code) == Int16(code & 0x80 != 0 ? magnitude : -magnitude))
        }
    }

    @Test func allALawCodesDecodeToTheirValues() {
        let values = values(.a)
        #expect(values[0] == 8 && values[127] == 32256)
        for code in UInt8.min...UInt8.max {
            let magnitude = values[Int((code ^ 0x55) & 0x7F)]
            #expect(G711Law.a.decode(code) == Int16(code & 0x80 != 0 ? magnitude : -magnitude))
        }
    }

    @Test(arguments: G711Law.allCases)
    func allSamplesEncodeToTheIntervalTheyLieIn(law: G711Law) {
        let intervals = intervals(law)
        var wrong = 0
        for sample in Int16.min...Int16.max {
            let magnitude = Int(sample.magnitude)
            let interval = intervals.lastIndex { $0.lowerBound <= magnitude } ?? 0
            let code = Int(law.encode(sample))
            let expected = (law == .mu ? ~interval & 0x7F : interval ^ 0x55) | (sample < 0 ? 0 : 0x80)
            if code != expected { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test(arguments: G711Law.allCases)
    func everyCodeSurvivesTheRoundTrip(law: G711Law) {
        for code in UInt8.min...UInt8.max where !(law == .mu && code == 0x7F) {
            #expect(law.encode(law.decode(code)) == code)
        }
        // Mu-law has two zeros; the negative one comes back as the other.
        #expect(G711Law.mu.encode(G711Law.mu.decode(0x7F)) == 0xFF)
        #expect(law.encode(0) == law.silence)
    }

    @Test func spansOfAnyLengthAreServedAsFarAsTheyReach() {
        let codes: [UInt8] = [0xFF, 0x80, 0x00, 0x7F]
        var samples = [Int16](repeating: 1, count: 3)
        var storage = samples.mutableSpan
        let decoded = G711Law.mu.decode(codes.span, range: 1..<9, into: &storage)
        #expect(decoded == 3 && samples == [32124, -32124, 0])
        var bytes = [UInt8](repeating: 9, count: 4)
        var target = bytes.mutableSpan
        let encoded = G711Law.mu.encode(samples.span, into: &target, at: 2)
        let refused = G711Law.mu.encode(samples.span, into: &target, at: 4)
        #expect(encoded == 2 && refused == 0 && bytes == [9, 9, 0x80, 0x00])
    }
}
