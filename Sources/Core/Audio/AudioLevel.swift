/// How loud a stretch of samples is, in dBFS: 0 is a square wave at full scale, -3.01 a sine at full scale.
public struct AudioLevel: Hashable, Sendable {
    /// The root of the mean square, in dBFS; at least `floor`.
    public var rms: Double
    /// The largest magnitude, in dBFS; at least `floor`.
    public var peak: Double

    /// What digital silence measures: -127 dBFS.
    public static let floor = -127.0

    /// A level that was measured elsewhere.
    public init(rms: Double, peak: Double) {
        self.rms = rms
        self.peak = peak
    }

    /// Measures samples; an empty span is silence.
    public init(_ samples: Span<Int16>) {
        var sum: UInt64 = 0
        var largest: UInt16 = 0
        for index in samples.indices {
            let magnitude = samples[index].magnitude
            sum &+= UInt64(UInt32(magnitude) * UInt32(magnitude))
            largest = max(largest, magnitude)
        }
        let mean = samples.isEmpty ? 0 : Double(sum) / Double(samples.count)
        rms = max(Mathematics.decibels(mean.squareRoot() / 32768), Self.floor)
        peak = max(Mathematics.decibels(Double(largest) / 32768), Self.floor)
    }

    /// The mean square of the samples, 0...2^30: what to compare levels by where no decibels are wanted.
    public static func meanSquare(_ samples: Span<Int16>) -> UInt32 {
        guard !samples.isEmpty else { return 0 }
        var sum: UInt64 = 0
        for index in samples.indices {
            let magnitude = UInt32(samples[index].magnitude)
            sum &+= UInt64(magnitude * magnitude)
        }
        return UInt32(truncatingIfNeeded: sum / UInt64(samples.count))
    }
}
