import Opus
import Testing

@Suite struct OpusCodecTests {
    /// 20 ms of a 400 Hz square-free wave, cheap to judge by its power.
    func tone(rate: Int, frame: Int) -> [Int16] {
        let length = rate / 50
        var samples = [Int16](repeating: 0, count: length)
        for index in 0..<length {
            let phase = Double((frame * length + index) * 400 % rate) / Double(rate)
            samples[index] = Int16(12000 * (phase < 0.5 ? 16 * phase * (0.5 - phase) : -16 * (phase - 0.5) * (1 - phase)))
        }
        return samples
    }

    func power(_ samples: ArraySlice<Int16>) -> Double {
        samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
    }

    @Test(arguments: [Int32(8000), 12000, 16000, 24000, 48000])
    func soundSurvivesARoundTripAtEveryRate(rate: Int32) throws {
        var encoder = try OpusEncoder(sampleRate: rate)
        var decoder = try OpusDecoder(sampleRate: rate)
        var packet = [UInt8](repeating: 0, count: 1275)
        var output = [Int16](repeating: 0, count: Int(rate) * 120 / 1000)
        var heard = 0.0
        var sent = 0.0
        for frame in 0..<25 {
            let input = tone(rate: Int(rate), frame: frame)
            var packetSpan = packet.mutableSpan
            let length = try encoder.encode(input.span, into: &packetSpan)
            let bytes = packet.span.extracting(0..<length)
            #expect(OpusPacket(bytes)?.duration == 960)
            #expect(OpusPacket(bytes)?.channels == 1)
            var outputSpan = output.mutableSpan
            let count = try decoder.decode(bytes, into: &outputSpan)
            #expect(count == Int(rate) / 50)
            if frame > 5 {
                heard += power(output[0..<count])
                sent += power(input[...])
            }
        }
        #expect(heard > sent * 0.5 && heard < sent * 2)
    }

    @Test func aLostFrameIsRebuiltFromTheNextPacket() throws {
        var settings = OpusEncoderSettings()
        settings.expectedLossPercent = 20
        var encoder = try OpusEncoder(sampleRate: 8000, settings: settings)
        var decoder = try OpusDecoder(sampleRate: 8000)
        var packets: [[UInt8]] = []
        for frame in 0..<30 {
            var packet = [UInt8](repeating: 0, count: 1275)
            let input = tone(rate: 8000, frame: frame)
            var span = packet.mutableSpan
            let length = try encoder.encode(input.span, into: &span)
            packets.append(Array(packet[0..<length]))
        }
        var output = [Int16](repeating: 0, count: 960)
        for frame in 0..<30 {
            var span = output.mutableSpan
            let bytes = packets[frame == 20 ? 21 : frame]
            let count: Int
            if frame == 20 {
                count = try decoder.recover(from: bytes.span, count: 160, into: &span)
            } else {
                count = try decoder.decode(bytes.span, into: &span)
            }
            #expect(count == 160)
            if frame == 20 { #expect(power(output[0..<160]) > 1e6) }
        }
        var span = output.mutableSpan
        #expect(try decoder.conceal(count: 160, into: &span) == 160)
    }

    @Test func silencePacketsAreKnownByTheirFirstByte_H21() {
        func silence(_ bytes: [UInt8]) -> Bool? { OpusPacket(bytes.span)?.isSilence }
        #expect(silence([]) == nil)
        #expect(silence([0x78]) == true)
        #expect(silence([0x78, 1]) == false)
        #expect(silence([0x7A, 1]) == true)
        #expect(silence([0x7B, 1, 0]) == false)
        #expect(OpusPacket([0x7B, 0].span) == nil)
        #expect(OpusPacket([0x1B, 63].span) == nil)
    }

    @Test func shortPacketsAreDecodedOrRefusedQuietly_H21() throws {
        var decoder = try OpusDecoder(sampleRate: 8000)
        var output = [Int16](repeating: 0, count: 960)
        for bytes: [UInt8] in [[0x78], [0x78, 1], [0x7A, 1], [0x7B, 1, 0], []] {
            var span = output.mutableSpan
            _ = try? decoder.decode(bytes.span, into: &span)
            #expect(output.allSatisfy { abs(Int($0)) < 2000 })
        }
    }

    @Test func wrongSettingsAreRefusedWithTheLibrarysWords() {
        #expect(throws: OpusError.self) { _ = try OpusEncoder(sampleRate: 11025) }
        let error = #expect(throws: OpusError.self) { _ = try OpusDecoder(sampleRate: 1) }
        #expect(error?.description.contains("invalid argument") == true)
    }

    @Test func hostileBytesNeverHarmADecoder() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var state = seed
        func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        var decoder = try OpusDecoder(sampleRate: 48000)
        var output = [Int16](repeating: 0, count: 5760)
        for _ in 0..<2000 {
            let bytes = (0..<Int(next() % 200)).map { _ in UInt8(truncatingIfNeeded: next()) }
            _ = OpusPacket(bytes.span)
            var span = output.mutableSpan
            if let count = try? decoder.decode(bytes.span, into: &span) { #expect(count <= 5760) }
        }
    }
}
