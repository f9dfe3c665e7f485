import RTP

/// Sets a stream's timestamps on a line of 8 kHz samples that starts small: no arithmetic on it can overflow, wherever the
/// peer's own timestamps began (case H15).
///
/// A peer whose timestamps step by less than its packets last (case H07) is placed by sequence number instead.
struct StreamLine {
    /// Where a stream begins: room for packets from before the first.
    static let origin: UInt32 = 80_000
    /// A longer step, either way, is another stream.
    private static let longestStep: Int64 = 30 * 8000
    /// The library compares by signed difference; start anew long before it matters (37 hours).
    private static let limit: Int64 = 1 << 30

    private var unwrapper = TimestampUnwrapper()
    private var unitsPerSample: Int64 = 0
    private var newestPlace: Int64 = 0
    private var newestStart: Int64 = 0
    private var newestSamples: Int64 = 0
    private var shortSteps = 0
    private(set) var isEmpty = true

    /// Where a packet belongs; nil if it cannot be on this line.
    mutating func place(_ audio: RTPReceiver.Audio, samples: Int) -> UInt32? {
        let units = Int64(audio.coding.unitsPerLineSample)
        if isEmpty { unitsPerSample = units }
        guard units == unitsPerSample else { return nil }
        var start = Int64(Self.origin) + unwrapper.unwrap(audio.timestamp) / units
        guard !isEmpty else { return UInt32(start) }
        let steps = audio.place - newestPlace
        if steps == 1 {
            let step = start - newestStart
            if shortSteps < 3 { shortSteps = step > -800 && step < newestSamples ? shortSteps + 1 : 0 }
        }
        if shortSteps >= 3 {
            start = newestStart + (steps > 0 ? newestSamples + (steps - 1) * Int64(samples) : steps * Int64(samples))
        }
        guard start > 0, start < Self.limit, abs(start - newestStart) < Self.longestStep else { return nil }
        return UInt32(start)
    }

    /// Takes note of a packet that was placed.
    mutating func note(_ audio: RTPReceiver.Audio, start: UInt32, samples: Int) {
        guard isEmpty || audio.place > newestPlace else { return }
        isEmpty = false
        newestPlace = audio.place
        newestStart = Int64(start)
        newestSamples = Int64(samples)
    }

    /// Whether no later packet has come.
    func isNewest(_ place: Int64) -> Bool { isEmpty || place > newestPlace }
}
