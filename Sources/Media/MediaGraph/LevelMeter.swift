/// The mean level of a stretch of sound, for statistics.
struct LevelMeter {
    private var sum = 0.0
    private var samples = 0

    mutating func add(meanSquare: UInt32, samples added: Int) {
        sum += Double(meanSquare) * Double(added)
        samples += added
    }

    /// The level in dBFS since the last call; -127 is silence.
    mutating func take() -> Double {
        let mean = samples == 0 ? 0 : sum / Double(samples)
        sum = 0
        samples = 0
        return Self.decibels(meanSquare: mean)
    }

    /// dBFS of a mean square of 16-bit samples, to some 0.01 dB.
    static func decibels(meanSquare: Double) -> Double {
        guard meanSquare >= 1 else { return -127 }
        // ln m by the area tangent's series; m is in 1..<2.
        let z = (meanSquare.significand - 1) / (meanSquare.significand + 1)
        let log2 = Double(meanSquare.exponent) + 2 * (z + z * z * z / 3 + z * z * z * z * z / 5) / 0.693_147_180_56
        return max(-127, (log2 - 30) * 3.010_299_956_6)
    }
}
