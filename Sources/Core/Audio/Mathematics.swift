// The one door to the platform's mathematics: sine, exponential, logarithm.

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

enum Mathematics {
    static func sine(turns: Double) -> Double { sin(2 * .pi * turns) }
    static func exponential(_ value: Double) -> Double { exp(value) }
    static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

    /// Decibels of an amplitude ratio.
    static func decibels(_ ratio: Double) -> Double { ratio > 0 ? 20 * log10(ratio) : -.infinity }

    /// The amplitude ratio of decibels.
    static func ratio(decibels: Double) -> Double { pow(10, decibels / 20) }
}
