/// An instant on the media plane: nanoseconds since an arbitrary start. Whoever owns a clock hands it in.
public struct MediaTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the start.
    public var nanoseconds: Int64

    /// The instant that lies `nanoseconds` after the start.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Never: later than any instant that comes.
    public static let distantFuture = MediaTime(nanoseconds: .max / 2)

    /// The instant `milliseconds` later, or earlier if negative.
    @inlinable public func advanced(milliseconds: Int) -> MediaTime {
        MediaTime(nanoseconds: nanoseconds + Int64(milliseconds) * 1_000_000)
    }

    /// The instant `other` nanoseconds later, or earlier if negative.
    @inlinable public func advanced(nanoseconds other: Int64) -> MediaTime {
        MediaTime(nanoseconds: nanoseconds + other)
    }

    /// Nanoseconds from `other` to this instant.
    @inlinable public func since(_ other: MediaTime) -> Int64 { nanoseconds - other.nanoseconds }

    /// Earlier comes first.
    @inlinable public static func < (a: MediaTime, b: MediaTime) -> Bool { a.nanoseconds < b.nanoseconds }
}

/// Samples of the telephone line, 8 000 a second: the unit in which both paths of a bridge keep their place.
enum LineUnits {
    static let perSecond = 8000
    static let perMillisecond = 8
    static let nanoseconds: Int64 = 125_000
}

/// A small seeded generator, so that a whole call can be run twice alike. Not for secrets.
struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    /// Evenly distributed over 0..<1.
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}
