/// Samples per second of one channel.
public struct SampleRate: Hashable, Sendable, CustomStringConvertible {
    /// Samples per second; at least 1.
    public let hertz: Int

    /// A rate of `hertz` samples per second.
    public init(_ hertz: Int) { self.hertz = max(hertz, 1) }

    /// The telephone's: 8000 Hz.
    public static let telephone = SampleRate(8000)
    /// Wide band, G.722's: 16000 Hz.
    public static let wideBand = SampleRate(16000)
    /// Opus's: 48000 Hz.
    public static let fullBand = SampleRate(48000)

    /// How many samples a span of time holds, rounded down.
    public func samples(milliseconds: Int) -> Int { milliseconds * hertz / 1000 }

    /// How long a number of samples lasts, in nanoseconds, rounded down.
    public func nanoseconds(samples: Int) -> Int64 {
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: hertz)
        return Int64(seconds) * 1_000_000_000 + Int64(rest) * 1_000_000_000 / Int64(hertz)
    }

    /// The rate as text, for logs.
    public var description: String { "\(hertz) Hz" }
}
