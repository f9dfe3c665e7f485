/// A small phrase of plucked notes that goes round for ever: something pleasant to hear while nobody talks.
///
/// Each sample is a function of its position alone, so that any two listeners, and any two frame sizes, hear the same. It takes
/// some 0.5 us a sample; who plays it to many renders one round, from position `length` on, once.
public struct MusicLoop: Sendable {
    private struct Note {
        var beat: Double
        var frequency: Double
        var gain: Double
    }

    /// The rate of the samples.
    public let rate: SampleRate
    /// The length of one round, in samples.
    public let length: Int

    private let notes: [Note]
    private let peak: Double
    private static let secondsPerBeat = 0.4
    private static let ring = 1.6  // seconds until a note is inaudible

    /// - Parameters:
    ///   - rate: the rate of the samples to be made.
    ///   - level: about the peak, in dBFS.
    public init(rate: SampleRate, level: Double = -9) {
        self.rate = rate
        peak = Mathematics.ratio(decibels: level) * 32768
        // Four bars over A, F sharp minor, D and E: a broken chord below, a tune above. -1 is a rest.
        let chords: [[Double]] = [[0, 7, 12, 16], [-3, 4, 9, 12], [-7, 0, 5, 9], [-5, 2, 7, 11]]
        let tune: [Double] = [28, 26, 24, 19, 21, 24, -1, 21, 17, 21, 24, 26, 23, 19, 23, -1]
        var notes: [Note] = []
        for (bar, chord) in chords.enumerated() {
            for (index, key) in chord.enumerated() {
                notes.append(Note(beat: Double(bar * 4 + index), frequency: Self.frequency(key), gain: 0.22))
            }
        }
        for (beat, key) in tune.enumerated() where key >= 0 {
            let late = beat % 4 == 3 ? 0.5 : 0
            notes.append(Note(beat: Double(beat) + late, frequency: Self.frequency(key), gain: 0.3))
        }
        self.notes = notes
        length = Int(16 * Self.secondsPerBeat * Double(rate.hertz))
    }

    /// The sample at a position since the music began; negative positions are silence.
    public func sample(at position: Int64) -> Int16 {
        guard position >= 0 else { return 0 }
        let round = Double(length) / Double(rate.hertz)
        let now = Double(position % Int64(length)) / Double(rate.hertz)
        let isFirstRound = position < Int64(length)
        var sum = 0.0
        for note in notes {
            var age = now - note.beat * Self.secondsPerBeat
            if age < 0, !isFirstRound { age += round }  // still ringing from the round before
            guard age >= 0, age < Self.ring else { continue }
            sum += note.gain * Self.pluck(age: age, frequency: note.frequency)
        }
        return Int16(min(max((sum * peak).rounded(), -32768), 32767))
    }

    /// Fills the whole span with the samples from `position` on. Does not allocate.
    public func fill(_ samples: inout MutableSpan<Int16>, from position: Int64) {
        for index in samples.indices { samples[index] = sample(at: position + Int64(index)) }
    }

    // A sine with two soft overtones that die away sooner; 5 ms of attack and 50 ms of release keep clicks out.
    private static func pluck(age: Double, frequency: Double) -> Double {
        let edge = min(age / 0.005, 1) * min((ring - age) / 0.05, 1)
        let body = Mathematics.exponential(-age / 0.45)
        let turns = frequency * age
        let sine = Mathematics.sine(turns: turns)
        let cosine = Mathematics.sine(turns: turns + 0.25)
        // The overtones by the formulas for multiples of an angle, which are cheaper than two sines more.
        let second = 0.35 * body * 2 * sine * cosine
        let third = 0.15 * body * body * (3 - 4 * sine * sine) * sine
        return edge * body * (sine + second + third)
    }

    // Semitones above the A of 220 Hz, evenly tempered.
    private static func frequency(_ semitones: Double) -> Double { 220 * Mathematics.power(2, semitones / 12) }
}
