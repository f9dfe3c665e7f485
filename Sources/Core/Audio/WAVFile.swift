/// Why bytes are no WAV file that can be played. Offsets are bytes from the file's start.
public enum WAVError: Error, Hashable, Sendable {
    /// The file does not begin with a RIFF header of type WAVE.
    case notWAV(offset: Int)
    /// A chunk ends before its own header, or the format chunk before its fields.
    case truncated(offset: Int)
    /// No format chunk comes before the samples.
    case noFormat(offset: Int)
    /// No chunk of samples was found.
    case noSamples(offset: Int)
    /// A format that is not read: its tag and bits per sample.
    case unsupportedFormat(tag: Int, bits: Int, offset: Int)
    /// A channel count other than 1 and 2, or a rate outside 1...384000.
    case badFormat(channels: Int, rate: Int, offset: Int)
}

extension WAVError: CustomStringConvertible {
    /// A few words for a person.
    public var description: String {
        switch self {
        case .notWAV: "not a WAV file"
        case .truncated(let offset): "cut short at byte \(offset)"
        case .noFormat: "its samples come without a format"
        case .noSamples: "no samples in it"
        case .unsupportedFormat(let tag, let bits, _):
            "its samples are \(bits)-bit \(Self.formatName(tag)): 16-bit PCM, mu-law and A-law are read"
        case .badFormat(let channels, let rate, _):
            "\(channels) channels at \(rate) Hz: one or two channels at up to 384000 Hz are read"
        }
    }

    private static func formatName(_ tag: Int) -> String {
        switch tag {
        case 1: "PCM"
        case 3: "floating point"
        default: "of format \(tag)"
        }
    }
}

/// Mono samples with their rate, read from and written to the bytes of a WAV file.
public struct WAVFile: Hashable, Sendable {
    /// The rate of the samples.
    public var rate: SampleRate
    /// The samples; two channels of a file are averaged into one.
    public var samples: [Int16]

    /// A file of samples made here.
    public init(rate: SampleRate, samples: [Int16]) {
        self.rate = rate
        self.samples = samples
    }

    /// Reads 16-bit PCM, mu-law or A-law, of one or two channels.
    ///
    /// Chunks of other kinds are skipped. Samples cut short by the file's end, or of a length of 0xFFFFFFFF as streaming
    /// writers leave it, are read as far as they go.
    public init(bytes: [UInt8]) throws(WAVError) { try self.init(bytes: bytes.span) }

    /// Reads a file from a span; see `init(bytes:)`.
    public init(bytes: Span<UInt8>) throws(WAVError) {
        guard bytes.count >= 12, Self.isTag("RIFF", bytes, at: 0) else { throw .notWAV(offset: 0) }
        guard Self.isTag("WAVE", bytes, at: 8) else { throw .notWAV(offset: 8) }
        var format: Format?
        var offset = 12
        while offset < bytes.count {
            guard bytes.count - offset >= 8 else { break }
            let length = Self.uint32(bytes, at: offset + 4)
            let start = offset + 8
            if Self.isTag("fmt ", bytes, at: offset) {
                format = try Format(bytes, at: start, length: length)
            } else if Self.isTag("data", bytes, at: offset) {
                guard let format else { throw .noFormat(offset: offset) }
                self.init(rate: format.rate, samples: format.decode(bytes, start..<min(start + length, bytes.count)))
                return
            }
            offset = start + length + length & 1  // chunks begin at even offsets
        }
        throw format == nil ? .noFormat(offset: offset) : .noSamples(offset: min(offset, bytes.count))
    }

    /// The file's bytes: 16-bit PCM, one channel.
    public func bytes() -> [UInt8] {
        let dataLength = samples.count * 2
        var bytes: [UInt8] = []
        bytes.reserveCapacity(44 + dataLength)
        bytes += Array("RIFF".utf8) + Self.littleEndian(UInt32(clamping: 36 + dataLength)) + Array("WAVEfmt ".utf8)
        bytes += Self.littleEndian(16 as UInt32) + Self.littleEndian(1 as UInt16) + Self.littleEndian(1 as UInt16)
        bytes += Self.littleEndian(UInt32(clamping: rate.hertz)) + Self.littleEndian(UInt32(clamping: rate.hertz * 2))
        bytes += Self.littleEndian(2 as UInt16) + Self.littleEndian(16 as UInt16)
        bytes += Array("data".utf8) + Self.littleEndian(UInt32(clamping: dataLength))
        for sample in samples {
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
        }
        return bytes
    }

    private static func littleEndian<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
        (0..<Integer.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> Integer($0 * 8)) }
    }

    private static func isTag(_ tag: StaticString, _ bytes: Span<UInt8>, at offset: Int) -> Bool {
        tag.withUTF8Buffer { wanted in wanted.indices.allSatisfy { bytes[offset + $0] == wanted[$0] } }
    }

    fileprivate static func uint16(_ bytes: Span<UInt8>, at offset: Int) -> Int {
        Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
    }

    fileprivate static func uint32(_ bytes: Span<UInt8>, at offset: Int) -> Int {
        uint16(bytes, at: offset) | uint16(bytes, at: offset + 2) << 16
    }
}

/// What the format chunk says.
private struct Format {
    let law: G711Law?  // nil: PCM of 16 bits
    let channels: Int
    let rate: SampleRate

    init(_ bytes: Span<UInt8>, at start: Int, length: Int) throws(WAVError) {
        guard length >= 16, start + length <= bytes.count else { throw .truncated(offset: start) }
        var tag = WAVFile.uint16(bytes, at: start)
        let bits = WAVFile.uint16(bytes, at: start + 14)
        // The extensible format holds the tag in the first two bytes of its GUID.
        if tag == 0xFFFE, length >= 40 { tag = WAVFile.uint16(bytes, at: start + 24) }
        switch (tag, bits) {
        case (1, 16): law = nil
        case (6, 8): law = .a
        case (7, 8): law = .mu
        default: throw .unsupportedFormat(tag: tag, bits: bits, offset: start)
        }
        channels = WAVFile.uint16(bytes, at: start + 2)
        let hertz = WAVFile.uint32(bytes, at: start + 4)
        guard (1...2).contains(channels), (1...384_000).contains(hertz) else {
            throw .badFormat(channels: channels, rate: hertz, offset: start + 2)
        }
        rate = SampleRate(hertz)
    }

    func decode(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [Int16] {
        let width = law == nil ? 2 : 1
        let frameCount = range.count / (width * channels)
        var samples: [Int16] = []
        samples.reserveCapacity(frameCount)
        for frame in 0..<frameCount {
            var sum = 0
            for channel in 0..<channels {
                let offset = range.lowerBound + (frame * channels + channel) * width
                if let law {
                    sum += Int(law.decode(bytes[offset]))
                } else {
                    sum += Int(Int16(truncatingIfNeeded: WAVFile.uint16(bytes, at: offset)))
                }
            }
            samples.append(Int16(truncatingIfNeeded: sum / channels))
        }
        return samples
    }
}
