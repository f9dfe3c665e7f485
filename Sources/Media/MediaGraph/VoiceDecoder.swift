import Audio
import Opus
import SpanDSP
import SpeexDSP

/// Why a bridge or an endpoint could not be made: a library refused. Tells which, in its words.
public struct MediaGraphError: Error, Sendable, CustomStringConvertible {
    /// What was refused and why.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// When sample rates are matched by the speexdsp resampler.
public enum ResamplerUse: String, Sendable, Hashable, CaseIterable {
    /// Opus runs at the line's own rate; only pairs of rates that no codec can match are resampled. The cheapest.
    case whenNeeded
    /// Opus runs at 48 kHz and is resampled always.
    case always
}

/// Turns payloads of any agreed coding into samples at the line's rate, and makes up for lost ones.
struct VoiceDecoder: ~Copyable {
    let lineRate: Int
    private let opusRate: Int
    private var opus: OpusDecoder
    private var opusResampler: SpeexResampler?
    private var lawResampler: SpeexResampler?
    private var concealer: LossConcealer
    // 120 ms, the longest Opus packet, at the highest rate.
    private let decoded = FixedBuffer<Int16>(repeating: 0, count: 5760)
    private let converted = FixedBuffer<Int16>(repeating: 0, count: 5760 + 48)
    /// Mean square of what was decoded last.
    private(set) var meanSquare: UInt32 = 0
    private var level = LevelMeter()
    /// Payloads that a codec refused.
    private(set) var refused = 0

    init(lineRate: Int, resampler: ResamplerUse) throws(MediaGraphError) {
        let opusRate = resampler == .always ? 48_000 : lineRate
        let opus = try Self.decoder(opusRate)
        let opusResampler = try Self.resampler(from: opusRate, to: lineRate)
        let lawResampler = try Self.resampler(from: 8000, to: lineRate)
        guard let concealer = LossConcealer() else { throw MediaGraphError("no memory for loss concealment") }
        self.lineRate = lineRate
        self.opusRate = opusRate
        self.opus = opus
        self.opusResampler = opusResampler
        self.lawResampler = lawResampler
        self.concealer = concealer
    }

    /// Decodes `length` bytes of `payload` behind the samples in `queue`; a refused payload becomes silence.
    mutating func decode(
        _ payload: Span<UInt8>, length: Int, coding: AudioCoding, samples: Int, into queue: inout SampleQueue
    ) {
        let scratch = decoded.elements
        var output = scratch.mutableSpan
        switch coding {
        case .opus:
            do {
                let count = try opus.decode(payload.extracting(0..<length), into: &output)
                finishOpus(count, into: &queue)
            } catch {
                refused += 1
                queue.appendSilence(samples * lineRate / 8000)
            }
        case .pcmu, .pcma:
            let law: G711Law = coding == .pcmu ? .mu : .a
            let count = law.decode(payload, range: 0..<length, into: &output)
            concealer.receive(&output, count: count)
            finishLaw(count, into: &queue)
        }
    }

    /// Rebuilds a lost Opus frame from the packet after it.
    mutating func recover(from next: Span<UInt8>, length: Int, samples: Int, into queue: inout SampleQueue) {
        let scratch = decoded.elements
        var output = scratch.mutableSpan
        do {
            let wanted = samples * opusRate / 8000
            finishOpus(try opus.recover(from: next.extracting(0..<length), count: wanted, into: &output), into: &queue)
        } catch { queue.appendSilence(samples * lineRate / 8000) }
    }

    /// Makes up for `samples` line samples (8 kHz).
    mutating func conceal(samples: Int, coding: AudioCoding, into queue: inout SampleQueue) {
        let scratch = decoded.elements
        var output = scratch.mutableSpan
        if coding == .opus {
            do {
                let wanted = samples * opusRate / 8000
                finishOpus(try opus.conceal(count: wanted, into: &output), into: &queue)
            } catch { queue.appendSilence(samples * lineRate / 8000) }
        } else {
            let count = min(samples, decoded.elements.count)
            concealer.conceal(into: &output, count: count)
            finishLaw(count, into: &queue)
        }
    }

    /// Forgets what was heard, at a new source.
    mutating func reset() {
        opus.reset()
        concealer.reset()
    }

    private static func decoder(_ rate: Int) throws(MediaGraphError) -> OpusDecoder {
        do { return try OpusDecoder(sampleRate: Int32(rate)) } catch { throw MediaGraphError("\(error)") }
    }

    /// - Returns: nil where the rates are equal.
    static func resampler(from: Int, to: Int) throws(MediaGraphError) -> SpeexResampler? {
        guard from != to else { return nil }
        do { return try SpeexResampler(inputRate: from, outputRate: to) } catch { throw MediaGraphError("\(error)") }
    }

    private mutating func finishOpus(_ count: Int, into queue: inout SampleQueue) {
        guard opusResampler != nil else { return append(count, into: &queue) }
        let scratch = converted.elements
        var output = scratch.mutableSpan
        let made = opusResampler?.process(decoded.elements.span.extracting(0..<count), into: &output).produced ?? 0
        appendConverted(made, into: &queue)
    }

    private mutating func finishLaw(_ count: Int, into queue: inout SampleQueue) {
        guard lawResampler != nil else { return append(count, into: &queue) }
        let scratch = converted.elements
        var output = scratch.mutableSpan
        let made = lawResampler?.process(decoded.elements.span.extracting(0..<count), into: &output).produced ?? 0
        appendConverted(made, into: &queue)
    }

    /// Level in dBFS of what was decoded or made up since the last call.
    mutating func takeLevel() -> Double { level.take() }

    private mutating func append(_ count: Int, into queue: inout SampleQueue) {
        queue.append(decoded.elements.span, count: count)
        meanSquare = AudioLevel.meanSquare(decoded.elements.span.extracting(0..<count))
        level.add(meanSquare: meanSquare, samples: count)
    }

    private mutating func appendConverted(_ count: Int, into queue: inout SampleQueue) {
        queue.append(converted.elements.span, count: count)
        meanSquare = AudioLevel.meanSquare(converted.elements.span.extracting(0..<count))
        level.add(meanSquare: meanSquare, samples: count)
    }
}
