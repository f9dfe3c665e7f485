public import Audio
internal import Foundation

/// Judges recorded sound: how loud, from when, with what holes, how late after another, and how like it.
public struct Ear: Sendable {
    /// A stretch of silence inside sound.
    public struct Gap: Hashable, Sendable {
        /// Where it begins, in milliseconds from the recording's start.
        public var start: Int
        /// How long it lasts, in milliseconds.
        public var length: Int

        /// A gap of `length` milliseconds from `start` on.
        public init(start: Int, length: Int) {
            self.start = start
            self.length = length
        }
    }

    /// How a recording matches a reference.
    public struct Match: Hashable, Sendable {
        /// How much later the recording has the reference's sound, in milliseconds.
        public var delay: Double
        /// How alike the two are there: 1 for the same sound at any level, about 0 for unrelated ones.
        public var similarity: Double
        /// How alike their envelopes are over the whole length: what codecs that keep no waveform leave.
        public var envelopeSimilarity: Double
    }

    /// The recording.
    public let samples: [Int16]
    /// Its rate.
    public let rate: SampleRate

    /// An ear on a mono recording.
    public init(_ samples: [Int16], rate: SampleRate) {
        self.samples = samples
        self.rate = rate
    }

    /// The recording's length in milliseconds.
    public var milliseconds: Int { samples.count * 1000 / rate.hertz }

    /// The level of the whole.
    public var level: AudioLevel { AudioLevel(samples.span) }

    /// A part of the recording, in milliseconds, as far as it exists.
    public func part(_ range: Range<Int>) -> Ear {
        let wanted = rate.samples(milliseconds: range.lowerBound)..<rate.samples(milliseconds: range.upperBound)
        return Ear(Array(samples[wanted.clamped(to: samples.indices)]), rate: rate)
    }

    /// The RMS level of each window in dBFS; a last short window is left out.
    public func levels(windowMilliseconds: Int = 10) -> [Double] {
        let window = max(rate.samples(milliseconds: windowMilliseconds), 1)
        return samples.withUnsafeBufferPointer { samples in
            stride(from: 0, to: samples.count - window + 1, by: window).map { start in
                AudioLevel(UnsafeBufferPointer(rebasing: samples[start..<start + window]).span).rms
            }
        }
    }

    /// Where sound starts: the first of two windows of 10 ms above the threshold, in milliseconds; nil if all is quiet.
    public func soundStart(threshold: Double = -45) -> Int? {
        let levels = levels()
        return levels.indices.dropLast().first { levels[$0] > threshold && levels[$0 + 1] > threshold }.map { $0 * 10 }
    }

    /// Where sound ends, in milliseconds; nil if all is quiet.
    public func soundEnd(threshold: Double = -45) -> Int? {
        levels().lastIndex { $0 > threshold }.map { ($0 + 1) * 10 }
    }

    /// Silences of at least `minimum` milliseconds between the first and the last sound of a range.
    ///
    /// Judges sound that should never pause: tones, music, noise. Windows are 5 ms.
    public func gaps(longerThan minimum: Int = 10, in range: Range<Int>? = nil, threshold: Double = -50) -> [Gap] {
        let offset = range?.lowerBound ?? 0
        let levels = part(range ?? 0..<milliseconds + 1).levels(windowMilliseconds: 5)
        guard let first = levels.firstIndex(where: { $0 > threshold }),
            let last = levels.lastIndex(where: { $0 > threshold })
        else { return [] }
        var gaps: [Gap] = []
        var quietFrom: Int?
        for index in first...last {
            if levels[index] <= threshold {
                quietFrom = quietFrom ?? index
            } else if let start = quietFrom {
                let length = (index - start) * 5
                if length >= minimum { gaps.append(Gap(start: offset + start * 5, length: length)) }
                quietFrom = nil
            }
        }
        return gaps
    }

    /// The level of a frequency over the recording, in dBFS.
    public func level(of frequency: Double) -> Double { ToneFinder.level(of: frequency, in: samples, rate: rate) }

    /// The windows of a recording in which a frequency is missing, as gaps: catches holes that noise would fill.
    public func gaps(inTone frequency: Double, drop: Double = 10, windowMilliseconds: Int = 10) -> [Gap] {
        let window = rate.samples(milliseconds: windowMilliseconds)
        let levels = stride(from: 0, to: samples.count - window + 1, by: window).map {
            ToneFinder.level(of: frequency, in: samples[$0..<$0 + window], rate: rate)
        }
        guard let median = levels.sorted().dropFirst(levels.count / 2).first else { return [] }
        var gaps: [Gap] = []
        for index in levels.indices where levels[index] < median - drop {
            let start = index * windowMilliseconds
            if let last = gaps.last, last.start + last.length == start {
                gaps[gaps.count - 1].length += windowMilliseconds
            } else {
                gaps.append(Gap(start: start, length: windowMilliseconds))
            }
        }
        return gaps
    }

    /// Finds a reference in the recording, coarsely by the envelopes, then finely by the waveforms.
    ///
    /// The reference must have the recording's rate and sound that does not repeat itself: speech, noise, a chirp.
    /// - Parameter maximumDelay: how far the recording may lag, in milliseconds; it may lead by `maximumLead`.
    /// - Returns: nil if either is silent, or has another rate.
    public func match(_ reference: Ear, maximumDelay: Int = 1000, maximumLead: Int = 0) -> Match? {
        guard reference.rate == rate else { return nil }
        return Correlation(reference: reference.samples, recording: samples, hertz: rate.hertz)
            .match(lags: -maximumLead...maximumDelay)
    }
}
