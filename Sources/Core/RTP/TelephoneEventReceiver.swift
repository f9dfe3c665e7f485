/// A key that a peer pressed, with the length it had.
public struct ReceivedKey: Hashable, Sendable {
    /// The key.
    public var key: DTMFKey
    /// Where it began on the peer's stream.
    public var timestamp: RTPTimestamp
    /// How long it lasted, in units of the receiver's clock; several segments are added up.
    public var duration: Int
    /// Units per second of that clock.
    public var clockRate: Int

    /// A key that was pressed.
    public init(key: DTMFKey, timestamp: RTPTimestamp, duration: Int, clockRate: Int) {
        self.key = key
        self.timestamp = timestamp
        self.duration = duration
        self.clockRate = max(clockRate, 1)
    }

    /// The length in milliseconds, rounded: what carries over to a leg with another clock.
    public var milliseconds: Int { (duration * 1000 + clockRate / 2) / clockRate }
}

/// What one packet told of keys. Read the three in this order; mostly all are nil.
public struct KeyChange: Hashable, Sendable {
    /// A key before this one whose end was lost, ended now.
    public var interrupted: ReceivedKey?
    /// A key seen for the first time. Input actions take it from here.
    public var began: DTMFKey?
    /// The key that this packet ends. A relay takes it, and `interrupted`, from here, with the length.
    public var ended: ReceivedKey?

    /// What a packet told; nothing, if nothing is given.
    public init(interrupted: ReceivedKey? = nil, began: DTMFKey? = nil, ended: ReceivedKey? = nil) {
        self.interrupted = interrupted
        self.began = began
        self.ended = ended
    }

    /// Whether the packet told nothing new.
    public var isEmpty: Bool { interrupted == nil && began == nil && ended == nil }
}

/// Makes keys of telephone event packets, each reported once whatever is lost, repeated or reordered (RFC 4733 2.5.2).
///
/// A key is a timestamp and an event code; the marker bit plays no part. Segments of a long key that join exactly are one key.
/// Make one receiver per payload type, since each has its clock. A plain value without allocation.
public struct TelephoneEventReceiver: Sendable {
    private struct Progress {
        var ssrc: SSRC
        var key: DTMFKey
        var start: RTPTimestamp
        var segmentStart: RTPTimestamp
        var segmentDuration: Int
        var earlierDuration: Int
        var lastArrival: Int64
        var hasEnded: Bool
    }

    /// Units per second of the event payload type's clock.
    public let clockRate: Int
    private let silenceLimit: Int64
    private let lateLimit: Int
    private var progress: Progress?

    /// - Parameters:
    ///   - clockRate: units per second, from the payload type's rtpmap.
    ///   - silenceLimitMilliseconds: how long after the last packet of a key its end counts as lost: three of the longest
    ///     intervals that a sender may take (50 ms).
    public init(clockRate: Int, silenceLimitMilliseconds: Int = 150) {
        self.clockRate = max(clockRate, 1)
        silenceLimit = Int64(silenceLimitMilliseconds) * 1_000_000
        // A repeated end of the segment before this one lies 0xFFFF back.
        lateLimit = max(5 * self.clockRate, 2 * 0xFFFF)
    }

    /// The key that is held down at present, if any.
    public var keyDown: DTMFKey? { progress.flatMap { $0.hasEnded ? nil : $0.key } }

    /// Takes one packet of the event payload type. Events that are no keys change nothing.
    ///
    /// - Parameter arrival: nanoseconds of any steady clock.
    public mutating func receive(
        _ event: TelephoneEvent, ssrc: SSRC, timestamp: RTPTimestamp, arrival: Int64
    ) -> KeyChange {
        guard let key = DTMFKey(event: event.event) else { return KeyChange() }
        guard var current = progress, current.ssrc == ssrc else {
            return begin(key, event: event, ssrc: ssrc, timestamp: timestamp, arrival: arrival)
        }
        let step = current.segmentStart.distance(to: timestamp)
        if step == 0, key == current.key {
            guard !current.hasEnded else { return KeyChange() }
        } else if step == 0xFFFF, key == current.key, !current.hasEnded {
            current.earlierDuration += 0xFFFF
            current.segmentStart = timestamp
            current.segmentDuration = 0
        } else if step < 0, step > -lateLimit {
            // A late packet of a key, or of a segment, that is over. Further back than that the sender has restarted.
            return KeyChange()
        } else {
            return begin(key, event: event, ssrc: ssrc, timestamp: timestamp, arrival: arrival)
        }
        current.segmentDuration = max(current.segmentDuration, Int(event.duration))
        current.lastArrival = arrival
        progress = current
        return event.isEnd ? KeyChange(ended: end()) : KeyChange()
    }

    /// Takes note of an audio packet: one that is clearly later than a key ends that key, if its end packets were lost.
    ///
    /// "Clearly" is 40 ms beyond what the key is known to last, since some senders let sound run on beside the events.
    public mutating func receiveAudio(ssrc: SSRC, timestamp: RTPTimestamp) -> ReceivedKey? {
        guard let current = progress, !current.hasEnded, current.ssrc == ssrc else { return nil }
        let beyond = current.segmentStart.distance(to: timestamp) - current.segmentDuration
        guard beyond >= clockRate / 25, beyond < 5 * clockRate else { return nil }
        return end()
    }

    /// Takes note of time: ends a key of which nothing was heard for the limit. Call it at each tick.
    public mutating func advance(to now: Int64) -> ReceivedKey? {
        guard let current = progress, !current.hasEnded, now &- current.lastArrival >= silenceLimit else { return nil }
        return end()
    }

    private mutating func begin(
        _ key: DTMFKey, event: TelephoneEvent, ssrc: SSRC, timestamp: RTPTimestamp, arrival: Int64
    ) -> KeyChange {
        var change = KeyChange(interrupted: end(), began: key)
        progress = Progress(
            ssrc: ssrc, key: key, start: timestamp, segmentStart: timestamp, segmentDuration: Int(event.duration),
            earlierDuration: 0, lastArrival: arrival, hasEnded: false)
        if event.isEnd { change.ended = end() }
        return change
    }

    private mutating func end() -> ReceivedKey? {
        guard var current = progress, !current.hasEnded else { return nil }
        current.hasEnded = true
        progress = current
        return ReceivedKey(
            key: current.key, timestamp: current.start, duration: current.earlierDuration + current.segmentDuration,
            clockRate: clockRate)
    }
}
