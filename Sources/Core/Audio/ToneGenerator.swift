/// One sine of a tone.
public struct Tone: Hashable, Sendable {
    /// Cycles per second.
    public var frequency: Double
    /// Its level in dBFS as `AudioLevel.rms` measures it: -3.01 is the loudest sine.
    public var level: Double

    /// A sine of `frequency` hertz at `level` dBFS.
    public init(frequency: Double, level: Double = -15) {
        self.frequency = frequency
        self.level = level
    }
}

/// Makes a sum of sines whose phase runs on from one frame to the next. A value: a copy goes on from the same place.
public struct ToneGenerator: Sendable {
    private struct Oscillator {
        var step = 0.0  // turns per sample
        var amplitude = 0.0
        var phase = 0.0  // turns, 0..<1
    }

    private var oscillators: [Oscillator]

    /// - Parameters:
    ///   - rate: the rate of the samples to be made.
    ///   - tones: the sines to be added up; none is silence. Frequencies from half the rate up are left out.
    public init(rate: SampleRate, tones: [Tone]) {
        let hertz = Double(rate.hertz)
        oscillators = tones.filter { $0.frequency >= 0 && $0.frequency < hertz / 2 }.map {
            Oscillator(
                step: $0.frequency / hertz, amplitude: Mathematics.ratio(decibels: $0.level) * 32768 * 2.0.squareRoot())
        }
    }

    /// A single sine.
    public init(rate: SampleRate, frequency: Double, level: Double = -15) {
        self.init(rate: rate, tones: [Tone(frequency: frequency, level: level)])
    }

    /// The two tones of a key (ITU-T Q.23): `0`-`9`, `*`, `#`, `A`-`D`; nil for anything else.
    public init?(rate: SampleRate, dtmf key: Character, level: Double = -13) {
        let rows = ["123A", "456B", "789C", "*0#D"]
        let upper = Character(key.uppercased())
        for (row, low) in zip(rows, [697.0, 770, 852, 941]) {
            for (character, high) in zip(row, [1209.0, 1336, 1477, 1633]) where character == upper {
                self.init(rate: rate, tones: [Tone(frequency: low, level: level), Tone(frequency: high, level: level)])
                return
            }
        }
        return nil
    }

    /// Fills the whole span; values beyond full scale are clipped. Does not allocate.
    public mutating func fill(_ samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = next() }
    }

    /// The next `count` samples in an array of their own.
    public mutating func samples(_ count: Int) -> [Int16] {
        var made = [Int16](repeating: 0, count: max(count, 0))
        var storage = made.mutableSpan
        fill(&storage)
        return made
    }

    private mutating func next() -> Int16 {
        var sum = 0.0
        for index in oscillators.indices {
            sum += oscillators[index].amplitude * Mathematics.sine(turns: oscillators[index].phase)
            var phase = oscillators[index].phase + oscillators[index].step
            if phase >= 1 { phase -= 1 }
            oscillators[index].phase = phase
        }
        return Int16(min(max(sum.rounded(), -32768), 32767))
    }
}
