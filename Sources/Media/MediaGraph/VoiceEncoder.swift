import Audio
import Opus
import SpeexDSP

/// Turns samples at the line's rate into payloads of the coding that was agreed.
struct VoiceEncoder: ~Copyable {
    private(set) var coding: AudioCoding
    private var opus: OpusEncoder
    private var toOpus: SpeexResampler?
    private var toLaw: SpeexResampler?
    private let converted = FixedBuffer<Int16>(repeating: 0, count: 2880 + 48)

    init(
        coding: AudioCoding, lineRate: Int, resampler: ResamplerUse, settings: OpusEncoderSettings
    ) throws(MediaGraphError) {
        let opusRate = resampler == .always ? 48_000 : lineRate
        let opus = try Self.encoder(opusRate, settings)
        let toOpus = try VoiceDecoder.resampler(from: lineRate, to: opusRate)
        let toLaw = try VoiceDecoder.resampler(from: lineRate, to: 8000)
        self.coding = coding
        self.opus = opus
        self.toOpus = toOpus
        self.toLaw = toLaw
    }

    private static func encoder(_ rate: Int, _ settings: OpusEncoderSettings) throws(MediaGraphError) -> OpusEncoder {
        do {
            return try OpusEncoder(sampleRate: Int32(rate), settings: settings)
        } catch { throw MediaGraphError("\(error)") }
    }

    mutating func adopt(_ newCoding: AudioCoding) { coding = newCoding }

    /// Tunes Opus FEC to the loss that the peer reports.
    mutating func setExpectedLoss(percent: Int32) {
        // Only a closed handle could refuse a value in range.
        do { try opus.setExpectedLoss(percent: percent) } catch {}
    }

    /// Encodes one frame to `offset` of a datagram.
    /// - Returns: bytes written; 0 if the codec refused the frame.
    mutating func encode(_ samples: Span<Int16>, into datagram: inout MutableSpan<UInt8>, at offset: Int) -> Int {
        switch coding {
        case .opus:
            guard toOpus != nil else { return encodeOpus(samples, into: &datagram, at: offset) }
            let scratch = converted.elements
            var output = scratch.mutableSpan
            let made = toOpus?.process(samples, into: &output).produced ?? 0
            let frame = converted.elements.span.extracting(0..<made)
            return encodeOpus(frame, into: &datagram, at: offset)
        case .pcmu, .pcma:
            let law: G711Law = coding == .pcmu ? .mu : .a
            guard toLaw != nil else { return law.encode(samples, into: &datagram, at: offset) }
            let scratch = converted.elements
            var output = scratch.mutableSpan
            let made = toLaw?.process(samples, into: &output).produced ?? 0
            return law.encode(converted.elements.span.extracting(0..<made), into: &datagram, at: offset)
        }
    }

    private mutating func encodeOpus(_ samples: Span<Int16>, into datagram: inout MutableSpan<UInt8>, at offset: Int) -> Int
    {
        do { return try opus.encode(samples, into: &datagram, at: offset) } catch { return 0 }
    }
}
