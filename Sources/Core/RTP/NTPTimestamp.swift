/// A wall clock instant as RTCP carries it: seconds since 1900 and a binary fraction (RFC 3550 4).
public struct NTPTimestamp: Hashable, Sendable {
    /// Whole seconds since 1 January 1900, modulo 2^32.
    public var seconds: UInt32
    /// The rest of a second in units of 2^-32 s.
    public var fraction: UInt32

    /// Takes both halves from the wire.
    public init(seconds: UInt32, fraction: UInt32) {
        self.seconds = seconds
        self.fraction = fraction
    }

    /// Converts nanoseconds since the Unix epoch. The era wraps in 2036, as the wire does.
    public init(unixNanoseconds: Int64) {
        var whole = unixNanoseconds / 1_000_000_000
        var rest = unixNanoseconds % 1_000_000_000
        if rest < 0 {
            whole -= 1
            rest += 1_000_000_000
        }
        seconds = UInt32(truncatingIfNeeded: whole + Self.unixEpoch)
        fraction = UInt32(truncatingIfNeeded: (UInt64(rest) << 32) / 1_000_000_000)
    }

    /// Nanoseconds since the Unix epoch, in the era of 1968...2104 (the reading RFC 4330 3 recommends).
    public var unixNanoseconds: Int64 {
        let era: Int64 = seconds & 0x8000_0000 == 0 ? 1 << 32 : 0
        return (Int64(seconds) + era - Self.unixEpoch) * 1_000_000_000 + Int64((UInt64(fraction) * 1_000_000_000) >> 32)
    }

    /// The middle 32 bits, in units of 1/65536 s: what LSR carries (RFC 3550 6.4.1).
    public var middle: UInt32 { seconds << 16 | fraction >> 16 }

    private static let unixEpoch: Int64 = 2_208_988_800
}
