import RTP
import SpeexDSP

/// How much delay a leg may spend on jitter.
public struct JitterSettings: Sendable, Hashable {
    /// The most sound that may wait, in milliseconds: a hard ceiling (case H18).
    public var ceilingMilliseconds: Int
    /// The most packets in percent that may come too late before delay is added.
    public var maximumLatePercent: Int32

    /// The defaults suit a client on a mobile network.
    public init(ceilingMilliseconds: Int = 200, maximumLatePercent: Int32 = 6) {
        self.ceilingMilliseconds = ceilingMilliseconds
        self.maximumLatePercent = maximumLatePercent
    }
}

/// Orders a stream's packets and says at each tick what to play. speexdsp's jitter buffer stands behind this policy:
///
/// - Every stream is set on a line of our own (``StreamLine``), in samples at 8 kHz from a small start, so that no timestamp
///   of a peer can make the library's signed arithmetic overflow (case H15).
/// - More than the ceiling never waits; the oldest goes (H14, H18).
/// - After a drought the stream is taken up where it goes on, and a burst of held-up packets is cut to what waited before
///   the drought (H18, H19).
/// - The library may shorten the delay when it is quiet, and once a second otherwise.
struct JitterBuffer: ~Copyable {
    enum Decision {
        /// A packet is in the payload span: its length, coding and line samples.
        case play(length: Int, coding: AudioCoding, samples: Int)
        /// The packet is lost; the one after it is in the payload span and may hold a copy.
        case recover(length: Int, coding: AudioCoding, samples: Int)
        /// Make up for this many line samples.
        case conceal(samples: Int)
        /// There is no stream, or it has paused for long.
        case idle
    }

    private var queue: JitterQueue
    private var line = StreamLine()
    private let ceiling: Int
    private var lastSamples = 160
    private var lastCoding = AudioCoding.opus
    private var lastWasSilence = false
    private var newestEnd: UInt32 = 0
    private var misses = 0
    private var ticksSinceAdjustment = 0
    private var catchUpTicks = 0
    private var lateInOrder = 0

    private(set) var late = 0
    private(set) var discarded = 0
    private(set) var resynchronisations = 0

    init?(_ settings: JitterSettings) {
        // 48 slots hold the ceiling in packets of 10 ms twice over; 1 275 bytes is the longest Opus frame.
        guard let queue = JitterQueue(slots: 48, bytesPerSlot: 1280, step: 160) else { return nil }
        self.queue = queue
        ceiling = max(40, settings.ceilingMilliseconds) * LineUnits.perMillisecond
        self.queue.setMaximumLateRate(percent: settings.maximumLatePercent)
        self.queue.setConcealmentSize(20)
    }

    /// Line samples that wait.
    var depth: Int {
        guard !queue.isWaitingForFirst else { return 0 }
        return max(0, Int(Int32(bitPattern: newestEnd &- queue.pointer)))
    }

    /// Files a packet of `samples` line samples.
    /// - Returns: its place on the line, for the playout phase; nil if it was of no use.
    mutating func put(
        _ payload: Span<UInt8>, _ audio: RTPReceiver.Audio, samples: Int, isSilence: Bool
    ) -> (start: UInt32, isFirst: Bool)? {
        guard samples > 0 else { return nil }
        var isFirst = audio.isNewStream || line.isEmpty
        if isFirst { restart() }
        var start = line.place(audio, samples: samples)
        if start == nil || isAfterDrought(start ?? 0, samples, audio.place) {
            restart()
            isFirst = true
            resynchronisations += 1
            catchUpTicks = 5
            start = line.place(audio, samples: samples)
        }
        guard let start else { return nil }
        line.note(audio, start: start, samples: samples)
        let tag = audio.coding.rawValue | (isSilence ? 0x80 : 0)
        let sequence = UInt16(truncatingIfNeeded: audio.place)
        var isFiled = queue.put(payload, timestamp: start, span: UInt32(samples), sequence: sequence, tag: tag)
        if !isFiled, Int32(bitPattern: start &- queue.pointer) >= 0 || queue.isWaitingForFirst, dropOldest() {
            isFiled = queue.put(payload, timestamp: start, span: UInt32(samples), sequence: sequence, tag: tag)
        }
        guard isFiled else {
            late += 1
            return (start, isFirst)
        }
        let end = start &+ UInt32(samples)
        if isFirst || Int32(bitPattern: end &- newestEnd) > 0 { newestEnd = end }
        keepBelowCeiling()
        return (start, isFirst)
    }

    /// What to play next; its bytes go into `payload`.
    /// - Parameter isQuiet: whether what was played last was near silence, so that a cut does not show.
    mutating func next(isQuiet: Bool, into payload: inout MutableSpan<UInt8>) -> Decision {
        if queue.isWaitingForFirst, queue.count == 0 { return .idle }
        adjust(isQuiet: isQuiet)
        let taken = queue.take(span: wantedSpan())
        switch taken.outcome {
        case .packet:
            misses = 0
            let length = queue.copyPayload(slot: taken.slot, into: &payload)
            queue.release(slot: taken.slot)
            lastSamples = Int(taken.span)
            lastCoding = AudioCoding(rawValue: taken.tag & 0x7F) ?? .opus
            lastWasSilence = taken.tag & 0x80 != 0
            return .play(length: length, coding: lastCoding, samples: lastSamples)
        case .missing, .insertion:
            misses += 1
            var samples = taken.span == 0 ? lastSamples : Int(taken.span)
            // An insertion is delay. Played shorter, it adds less: the library's pointer stands where it stood.
            if taken.outcome == .insertion { samples = max(lastSamples, min(samples, ceiling - depth)) }
            if taken.outcome == .missing, lastCoding == .opus,
                let next = queue.slot(holding: taken.timestamp &+ taken.span),
                queue.tag(slot: next) & 0x7F == AudioCoding.opus.rawValue
            {
                let length = queue.copyPayload(slot: next, into: &payload)
                return .recover(length: length, coding: .opus, samples: samples)
            }
            return .conceal(samples: samples)
        }
    }

    /// Whether the peer has fallen silent by design (DTX), so that a gap is no loss.
    var isPausedByPeer: Bool { lastWasSilence }
    /// Takes without a packet in a row.
    var consecutiveMisses: Int { misses }
    /// The coding played last.
    var coding: AudioCoding { lastCoding }
    /// Place on the line of what is played next.
    var pointer: UInt32 { queue.pointer }
    /// Whether a stream is running.
    var isRunning: Bool { !queue.isWaitingForFirst }
    /// Line samples of the packet played last.
    var frameSamples: Int { lastSamples }

    /// Ends a tick; `remaining` line samples were taken out but not played yet.
    mutating func endTick(remaining: Int) {
        guard !queue.isWaitingForFirst else { return }
        queue.endTick(remaining: UInt32(clamping: remaining))
        ticksSinceAdjustment += 1
        if catchUpTicks > 0 { catchUpTicks -= 1 }
    }

    // MARK: Policy

    private mutating func restart() {
        queue.reset()
        line = StreamLine()
        misses = 0
        lateInOrder = 0
        newestEnd = 0
    }

    /// A stream that stood still goes on with the next packet in order, but for the library it is hopelessly late.
    ///
    /// So does one that comes a little late packet after packet, with nothing to be played between: the library would put up
    /// with that until it has seen enough of it to change its mind.
    private mutating func isAfterDrought(_ start: UInt32, _ samples: Int, _ place: Int64) -> Bool {
        guard !queue.isWaitingForFirst, misses > 0, line.isNewest(place) else {
            lateInOrder = 0
            return false
        }
        guard Int32(bitPattern: start &+ UInt32(samples) &- queue.pointer) <= 0 else { return false }
        lateInOrder += 1
        return misses >= 8 || lateInOrder >= 4
    }

    private mutating func keepBelowCeiling() {
        while waiting > ceiling, dropOldest() {}
    }

    /// Line samples from the earliest that can still be played to the newest.
    private var waiting: Int {
        if !queue.isWaitingForFirst { return depth }
        guard let first = queue.earliestSlot else { return 0 }
        return Int(Int32(bitPattern: newestEnd &- queue.timestamp(slot: first)))
    }

    private mutating func dropOldest() -> Bool {
        guard queue.count > 0 else { return false }
        let taken = queue.take(span: wantedSpan())
        if taken.slot >= 0 {
            queue.release(slot: taken.slot)
            discarded += 1
        }
        return taken.slot >= 0 || taken.span > 0
    }

    private mutating func adjust(isQuiet: Bool) {
        // What a burst brings after a drought is old; play the newest of it.
        while catchUpTicks > 0, waiting > 2 * lastSamples, dropOldest() {}
        guard isQuiet || ticksSinceAdjustment >= 50 else { return }
        ticksSinceAdjustment = 0
        let change = queue.updateDelay()
        if change > 0 { discarded += Int(change) / max(1, lastSamples) }
    }

    /// How much to ask for, so that a packet found is never shorter than what was asked: the library takes that ill.
    private func wantedSpan() -> Int32 {
        guard !queue.isWaitingForFirst else {
            return Int32(queue.earliestSlot.map { Int(queue.span(slot: $0)) } ?? lastSamples)
        }
        let pointer = queue.pointer
        if let slot = queue.slot(holding: pointer) {
            let end = queue.timestamp(slot: slot) &+ queue.span(slot: slot)
            return max(1, min(Int32(lastSamples * 8), Int32(bitPattern: end &- pointer)))
        }
        return Int32(lastSamples)
    }
}
