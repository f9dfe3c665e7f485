import SpanDSP
import SpeexDSP
import Testing

struct OutOfMemory: Error {}

private func file(_ queue: inout JitterQueue, _ bytes: [UInt8], at timestamp: UInt32) -> Bool {
    queue.put(bytes.span, timestamp: timestamp, span: 160, sequence: 0, tag: 7)
}

@Suite struct JitterQueueTests {
    @Test func packetsComeOutInOrderAndTheirSlotsGoBack() throws {
        guard var queue = JitterQueue(slots: 8, bytesPerSlot: 16, step: 160) else { throw OutOfMemory() }
        var next: UInt32 = 1000
        for round in 0..<1000 {
            // Pairs arrive swapped.
            let first = next + (round % 2 == 0 ? 160 : 0)
            let second = next + (round % 2 == 0 ? 0 : 160)
            for stamp in [first, second] {
                let filed = file(&queue, [UInt8(truncatingIfNeeded: stamp / 160)], at: stamp)
                #expect(filed)
            }
            for stamp in [next, next + 160] {
                let taken = queue.take(span: 160)
                #expect(taken.outcome == .packet)
                guard taken.slot >= 0 else { return }
                #expect(taken.timestamp == stamp && taken.offset == 0 && taken.tag == 7)
                let byte = queue.withPayload(slot: taken.slot) { $0[0] }
                #expect(byte == UInt8(truncatingIfNeeded: stamp / 160))
                queue.release(slot: taken.slot)
                queue.endTick(remaining: 0)
            }
            next += 320
        }
        let left = queue.count
        #expect(left == 0)
    }

    @Test func lateUselessAndExcessPacketsLeaveNothingBehind() throws {
        guard var queue = JitterQueue(slots: 4, bytesPerSlot: 16, step: 160) else { throw OutOfMemory() }
        do {
            let filed = file(&queue, [1], at: 16000)
            #expect(filed)
        }
        let taken = queue.take(span: 160)
        queue.release(slot: taken.slot)
        for _ in 0..<100 { let filed = file(&queue, [2], at: 8000); #expect(!filed) }
        for index in 0..<4 {
            let filed = file(&queue, [3], at: 16160 + UInt32(index) * 160)
            #expect(filed)
        }
        do {
            let filed = file(&queue, [3], at: 16960)
            #expect(!filed)
        }
        queue.reset()
        let left = queue.count
        #expect(left == 0)
        do {
            let filed = file(&queue, [UInt8](repeating: 0, count: 17), at: 0)
            #expect(!filed)
        }
    }

    @Test func aLongDroughtStartsAfreshWithTheNextPacket() throws {
        guard var queue = JitterQueue(slots: 8, bytesPerSlot: 16, step: 160) else { throw OutOfMemory() }
        do {
            let filed = file(&queue, [1], at: 100_000)
            #expect(filed)
        }
        for _ in 0..<30 {
            let taken = queue.take(span: 160)
            if taken.slot >= 0 { queue.release(slot: taken.slot) }
            queue.endTick(remaining: 0)
        }
        do {
            let filed = file(&queue, [1], at: 80_000)
            #expect(filed)
        }
        let taken = queue.take(span: 160)
        #expect(taken.timestamp == 80_000)
    }
}

@Suite struct ResamplerTests {
    @Test(arguments: [(8000, 48000), (48000, 8000), (16000, 8000)])
    func everySampleComesThroughAtTheNewRate(rates: (Int, Int)) throws {
        var resampler = try SpeexResampler(inputRate: rates.0, outputRate: rates.1)
        resampler.skipZeros()
        let input = [Int16](repeating: 8000, count: rates.0 / 50)
        var output = [Int16](repeating: 0, count: rates.1 / 50 + 1)
        var total = 0
        for _ in 0..<50 {
            var span = output.mutableSpan
            let progress = resampler.process(input.span, into: &span)
            #expect(progress.consumed == input.count)
            total += progress.produced
        }
        #expect(abs(total - rates.1) <= resampler.latency + 2)
        #expect(abs(Int(output[10]) - 8000) < 100)
    }

    @Test func anImpossibleQualityIsRefusedInWords() {
        let error = #expect(throws: ResamplerError.self) {
            _ = try SpeexResampler(inputRate: 8000, outputRate: 48000, quality: 11)
        }
        #expect(error?.description.contains("Invalid") == true)
    }
}

@Suite struct LossConcealerTests {
    @Test func aGapIsFilledAndFadesToSilence() throws {
        guard var concealer = LossConcealer() else { throw OutOfMemory() }
        for frame in 0..<10 {
            var samples = (0..<160).map { Int16((($0 + frame * 160) % 80 < 40) ? 6000 : -6000) }
            var span = samples.mutableSpan
            concealer.receive(&span, count: 160)
        }
        var samples = [Int16](repeating: 0, count: 160)
        for frame in 0..<5 {
            var span = samples.mutableSpan
            concealer.conceal(into: &span, count: 160)
            let loudest = samples.map { abs(Int($0)) }.max() ?? 0
            if frame == 0 { #expect(loudest > 3000) }
            if frame == 4 { #expect(loudest < 200) }
        }
    }
}
