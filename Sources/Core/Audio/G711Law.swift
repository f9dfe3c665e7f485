/// The two laws of G.711: one byte a sample at 8000 Hz.
///
/// Samples are 16 bits wide, left aligned: mu-law knows 14 of them, A-law 13. Encoding takes the interval between the
/// standard's decision values that the sample lies in; one on a decision value goes to the greater magnitude. Nothing
/// allocates; the decoding tables are made at first use.
public enum G711Law: Hashable, Sendable, CaseIterable {
    /// PCMU: North America and Japan.
    case mu
    /// PCMA: elsewhere.
    case a

    /// The byte of silence, which fills gaps: mu-law 0xFF, A-law 0xD5.
    public var silence: UInt8 { self == .mu ? 0xFF : 0xD5 }

    /// The sample of one byte.
    public func decode(_ code: UInt8) -> Int16 {
        self == .mu ? G711Tables.mu[Int(code)] : G711Tables.a[Int(code)]
    }

    /// The byte of one sample.
    @inline(__always) public func encode(_ sample: Int16) -> UInt8 {
        self == .mu ? Self.encodeMu(sample) : Self.encodeA(sample)
    }

    /// Decodes as many bytes as both spans hold.
    /// - Returns: how many samples were written.
    @discardableResult
    public func decode(_ codes: Span<UInt8>, into samples: inout MutableSpan<Int16>) -> Int {
        decode(codes, range: codes.indices, into: &samples)
    }

    /// Decodes a range of the bytes: the payload of a datagram, in place.
    /// - Returns: how many samples were written, from the start of `samples`.
    @discardableResult
    public func decode(_ datagram: Span<UInt8>, range: Range<Int>, into samples: inout MutableSpan<Int16>) -> Int {
        let range = range.clamped(to: datagram.indices)
        let count = min(range.count, samples.count)
        let table = self == .mu ? G711Tables.mu : G711Tables.a
        let values = table.span
        for index in 0..<count { samples[index] = values[Int(datagram[range.lowerBound + index])] }
        return count
    }

    /// Encodes as many samples as there is room for from `offset` on.
    /// - Returns: how many bytes were written.
    @discardableResult
    public func encode(_ samples: Span<Int16>, into datagram: inout MutableSpan<UInt8>, at offset: Int = 0) -> Int {
        guard offset >= 0, offset < datagram.count else { return 0 }
        let count = min(samples.count, datagram.count - offset)
        switch self {
        case .mu: for index in 0..<count { datagram[offset + index] = Self.encodeMu(samples[index]) }
        case .a: for index in 0..<count { datagram[offset + index] = Self.encodeA(samples[index]) }
        }
        return count
    }

    // The bias of 33 (of 14 bits; 132 here) puts the segments' borders on powers of two.
    @inline(__always) private static func encodeMu(_ sample: Int16) -> UInt8 {
        let magnitude = min(Int32(sample.magnitude), 32635) + 132
        let segment = 24 - Int32(truncatingIfNeeded: magnitude.leadingZeroBitCount)
        let step = (magnitude >> (segment + 3)) & 0x0F
        let code = UInt8(truncatingIfNeeded: segment << 4 | step)
        return ~(sample < 0 ? code | 0x80 : code)
    }

    // Even bits are inverted on the line; the sign bit is 1 for positive values.
    @inline(__always) private static func encodeA(_ sample: Int16) -> UInt8 {
        let magnitude = min(Int32(sample.magnitude), 32767)
        let code: Int32
        if magnitude < 256 {
            code = magnitude >> 4
        } else {
            let segment = 24 - Int32(truncatingIfNeeded: magnitude.leadingZeroBitCount)
            code = segment << 4 | (magnitude >> (segment + 3)) & 0x0F
        }
        let byte = UInt8(truncatingIfNeeded: code)
        return (sample < 0 ? byte : byte | 0x80) ^ 0x55
    }
}

enum G711Tables {
    static let mu: [Int16] = (0...255).map { code in
        let bits = ~code & 0xFF
        let magnitude = (((bits & 0x0F) << 3 + 132) << ((bits >> 4) & 7)) - 132
        return Int16(bits & 0x80 == 0 ? magnitude : -magnitude)
    }

    static let a: [Int16] = (0...255).map { code in
        let bits = code ^ 0x55
        let segment = (bits >> 4) & 7
        let step = (bits & 0x0F) << 4
        let magnitude = segment == 0 ? step + 8 : (step + 0x108) << (segment - 1)
        return Int16(bits & 0x80 == 0 ? -magnitude : magnitude)
    }
}
