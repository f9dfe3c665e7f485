public import Audio
internal import Foundation

/// Measures single frequencies in recorded sound.
public enum ToneFinder {
    /// The level of one frequency, in dBFS on `AudioLevel`'s scale: a clean sine reads what `AudioLevel.rms` reads of it.
    ///
    /// The window is a Hann window, so a tone four bins away (4 x rate / count hertz) does not show.
    public static func level(of frequency: Double, in samples: some Collection<Int16>, rate: SampleRate) -> Double {
        let count = samples.count
        guard count > 8 else { return AudioLevel.floor }
        let turn = 2 * Double.pi * frequency / Double(rate.hertz)
        let coefficient = 2 * cos(turn)
        // The window's cosine is itself a recurrence.
        let windowCoefficient = 2 * cos(2 * Double.pi / Double(count))
        var (windowNow, windowBefore) = (1.0, cos(2 * Double.pi / Double(count)))
        var (one, two) = (0.0, 0.0)
        for sample in samples {
            let value = Double(sample) * 0.5 * (1 - windowNow) + coefficient * one - two
            (two, one) = (one, value)
            (windowBefore, windowNow) = (windowNow, windowCoefficient * windowNow - windowBefore)
        }
        let power = one * one + two * two - coefficient * one * two
        let amplitude = max(power, 0).squareRoot() * 4 / Double(count)
        guard amplitude > 0 else { return AudioLevel.floor }
        return max(20 * log10(amplitude / 2.0.squareRoot() / 32768), AudioLevel.floor)
    }

    /// Whether a frequency stands out: at least at `threshold` dBFS and no more than `margin` dB below the whole sound.
    public static func contains(
        _ frequency: Double, in samples: some Collection<Int16>, rate: SampleRate, threshold: Double = -45,
        margin: Double = 6
    ) -> Bool {
        let found = level(of: frequency, in: samples, rate: rate)
        return found >= threshold && found >= AudioLevel(Array(samples).span).rms - margin
    }

    /// The loudest of some frequencies, if it stands out as `contains` demands.
    public static func loudest(
        of frequencies: [Double], in samples: some Collection<Int16>, rate: SampleRate, threshold: Double = -45
    ) -> Double? {
        let best = frequencies.max { level(of: $0, in: samples, rate: rate) < level(of: $1, in: samples, rate: rate) }
        return best.flatMap { contains($0, in: samples, rate: rate, threshold: threshold) ? $0 : nil }
    }

    /// The keys whose two tones are heard, in order, each once per press. A press and a pause last 40 ms at least.
    public static func keys(in samples: [Int16], rate: SampleRate) -> String {
        let window = rate.samples(milliseconds: 25)
        var heard = ""
        var before: Character?
        var reported: Character?
        var start = 0
        while start + window <= samples.count {
            let key = key(in: samples[start..<start + window], rate: rate)
            if let key, key == before, key != reported {
                heard.append(key)
                reported = key
            }
            if key == nil, before == nil { reported = nil }
            before = key
            start += window / 2
        }
        return heard
    }

    private static func key(in samples: ArraySlice<Int16>, rate: SampleRate) -> Character? {
        let rows = ["123A", "456B", "789C", "*0#D"].map(Array.init)
        let (low, lowIndex) = strongest(of: [697, 770, 852, 941], in: samples, rate: rate)
        let (high, highIndex) = strongest(of: [1209, 1336, 1477, 1633], in: samples, rate: rate)
        guard min(low, high) > -40, abs(low - high) < 9 else { return nil }
        // Both tones together are nearly all that is heard.
        let together = 10 * log10(pow(10, low / 10) + pow(10, high / 10))
        guard together > AudioLevel(Array(samples).span).rms - 5 else { return nil }
        return rows[lowIndex][highIndex]
    }

    private static func strongest(
        of frequencies: [Double], in samples: ArraySlice<Int16>, rate: SampleRate
    ) -> (level: Double, index: Int) {
        let levels = frequencies.map { level(of: $0, in: samples, rate: rate) }
        let index = levels.indices.max { levels[$0] < levels[$1] } ?? 0
        return (levels[index], index)
    }
}
