/// One packet of a key to be sent: its header's marker and timestamp, and its payload.
public struct TelephoneEventPacket: Hashable, Sendable {
    /// True on the first packet of a key only.
    public var marker: Bool
    /// The timestamp of the key's (or its segment's) start: the same on all its packets.
    public var timestamp: RTPTimestamp
    /// The payload.
    public var event: TelephoneEvent
}

/// Why a string of digits was not taken.
public enum DTMFStringError: Error, Hashable, Sendable {
    /// A character that is neither key nor pause, and its place in the string.
    case badCharacter(Character, index: Int)
    /// The queue has no room for the whole string; nothing of it was queued.
    case queueFull(capacity: Int)
}

/// Plays keys as telephone events on a running stream (RFC 4733 2.5.1).
///
/// Ask it at each packet time of the stream. While it answers with a packet, that packet goes out in the place of audio, with
/// the stream's next sequence number; when it answers nil, audio goes out, and the stream's timestamp goes on by the time that
/// passed. Durations grow with each packet; the last goes out three times; the next key waits for the gap. Storage is made once.
public struct TelephoneEventSender: Sendable {
    private struct Entry {
        var key: DTMFKey?  // nil: a pause
        var units: Int
    }

    private enum State {
        case idle
        case tone(Tone)
        case ending(packet: TelephoneEventPacket, copiesLeft: Int, gapLeft: Int)
        case gap(left: Int)
    }

    private struct Tone {
        var key: DTMFKey
        var segmentStart: RTPTimestamp
        var elapsed: Int  // in this segment
        var left: Int  // of the whole key, from the segment's start
        var fullCopiesLeft: Int  // packets that still have to say 0xFFFF before the next segment begins
        var isFirstPacket: Bool
    }

    /// Units per second of the event payload type's clock; the same as the stream's.
    public let clockRate: Int
    /// The least length of a key; shorter ones are lengthened to it.
    public let minimumToneMilliseconds: Int
    /// The silence between two keys.
    public let gapMilliseconds: Int
    private let volume: UInt8
    private var entries: [Entry]
    private var first = 0
    private var count = 0
    private var state = State.idle
    private var lastTimestamp: RTPTimestamp?

    /// The length of a key where none is given.
    public static let defaultToneMilliseconds = 100
    /// The longest key.
    public static let maximumToneMilliseconds = 6000

    /// - Parameters:
    ///   - clockRate: units per second of the stream.
    ///   - capacity: how many keys and pauses can wait.
    ///   - minimumToneMilliseconds: 40 at least.
    ///   - gapMilliseconds: 40 at least.
    ///   - volume: level as a drop below 0 dBm0, 0...63.
    public init(
        clockRate: Int, capacity: Int = 64, minimumToneMilliseconds: Int = 40, gapMilliseconds: Int = 70, volume: UInt8 = 10
    ) {
        self.clockRate = max(clockRate, 1)
        self.minimumToneMilliseconds = min(max(minimumToneMilliseconds, 40), Self.maximumToneMilliseconds)
        self.gapMilliseconds = min(max(gapMilliseconds, 40), Self.maximumToneMilliseconds)
        self.volume = min(volume, 63)
        entries = Array(repeating: Entry(key: nil, units: 0), count: max(capacity, 1))
    }

    /// Whether nothing is playing, pausing or waiting.
    public var isIdle: Bool {
        if case .idle = state { return count == 0 }
        return false
    }

    /// How many keys and pauses wait.
    public var waiting: Int { count }

    /// Queues a key of the given length, which is brought within the limits.
    /// - Returns: false if the queue is full; the key is not taken then.
    public mutating func enqueue(_ key: DTMFKey, milliseconds: Int = defaultToneMilliseconds) -> Bool {
        let length = min(max(milliseconds, minimumToneMilliseconds), Self.maximumToneMilliseconds)
        return append(Entry(key: key, units: length * clockRate / 1000))
    }

    /// Queues a pause of 0...6000 ms between the keys around it.
    /// - Returns: false if the queue is full.
    public mutating func enqueuePause(milliseconds: Int) -> Bool {
        append(Entry(key: nil, units: min(max(milliseconds, 0), Self.maximumToneMilliseconds) * clockRate / 1000))
    }

    /// Queues a string of keys: `p` is a pause of 500 ms, `,` one of 2 s. All of it is taken, or nothing.
    public mutating func enqueue(_ digits: String, milliseconds: Int = defaultToneMilliseconds) throws(DTMFStringError) {
        var index = 0
        for character in digits {
            guard DTMFKey(character) != nil || character == "p" || character == "," else {
                throw .badCharacter(character, index: index)
            }
            index += 1
        }
        guard index <= entries.count - count else { throw .queueFull(capacity: entries.count) }
        for character in digits {
            if let key = DTMFKey(character) {
                _ = enqueue(key, milliseconds: milliseconds)
            } else {
                _ = enqueuePause(milliseconds: character == "p" ? 500 : 2000)
            }
        }
    }

    /// Drops what waits. A key that has begun is played to its end.
    public mutating func cancelWaiting() {
        count = 0
        first = 0
    }

    /// The packet to send at this packet time in the place of audio, or nil if audio is to be sent.
    ///
    /// - Parameters:
    ///   - timestamp: the timestamp that audio would carry in this place.
    ///   - interval: the packet's length in clock units: 160 for 20 ms at 8000.
    public mutating func nextPacket(at timestamp: RTPTimestamp, interval: Int) -> TelephoneEventPacket? {
        let advance = timePassed(at: timestamp, interval: interval)
        switch state {
        case .tone(var tone):
            tone.elapsed += advance
            return play(&tone)
        case .ending(let packet, let copiesLeft, let gapLeft):
            state =
                copiesLeft > 1
                ? .ending(packet: packet, copiesLeft: copiesLeft - 1, gapLeft: gapLeft - advance)
                : .gap(left: gapLeft - advance)
            return packet
        case .gap(let left):
            // The gap ends where this packet begins, not where it ends.
            guard left - advance <= -interval else {
                state = .gap(left: left - advance)
                return nil
            }
            state = .idle
        case .idle: break
        }
        return startNext(at: timestamp, interval: interval)
    }

    private mutating func startNext(at timestamp: RTPTimestamp, interval: Int) -> TelephoneEventPacket? {
        guard count > 0 else { return nil }
        let entry = entries[first]
        first = (first + 1) % entries.count
        count -= 1
        guard let key = entry.key else {
            // Silence up to `units` from this packet's start; the packet itself is already a part of it.
            state = .gap(left: entry.units - interval)
            return nil
        }
        var tone = Tone(
            key: key, segmentStart: timestamp, elapsed: interval, left: entry.units, fullCopiesLeft: 0, isFirstPacket: true)
        return play(&tone)
    }

    private mutating func play(_ tone: inout Tone) -> TelephoneEventPacket {
        if tone.fullCopiesLeft == 1 {
            tone.segmentStart = tone.segmentStart.advanced(by: 0xFFFF)
            tone.elapsed -= 0xFFFF
            tone.left -= 0xFFFF
            tone.fullCopiesLeft = 0
        }
        let isEnd = tone.fullCopiesLeft == 0 && tone.left <= 0xFFFF && tone.elapsed >= tone.left
        let isFull = !isEnd && (tone.fullCopiesLeft > 0 || tone.elapsed > 0xFFFF)
        let duration = isEnd ? tone.left : isFull ? 0xFFFF : tone.elapsed
        if isFull { tone.fullCopiesLeft = tone.fullCopiesLeft == 0 ? 3 : tone.fullCopiesLeft - 1 }
        var packet = TelephoneEventPacket(
            marker: tone.isFirstPacket, timestamp: tone.segmentStart,
            event: TelephoneEvent(event: tone.key.event, isEnd: isEnd, volume: volume, duration: UInt16(clamping: duration))
        )
        tone.isFirstPacket = false
        guard isEnd else {
            state = .tone(tone)
            return packet
        }
        let gap = gapMilliseconds * clockRate / 1000 - (tone.elapsed - tone.left)
        let sent = packet
        packet.marker = false
        state = .ending(packet: packet, copiesLeft: 2, gapLeft: gap)
        return sent
    }

    // Time by the stream's own line; a jump of that line counts as one packet, so that nothing waits for hours.
    private mutating func timePassed(at timestamp: RTPTimestamp, interval: Int) -> Int {
        defer { lastTimestamp = timestamp }
        guard let lastTimestamp else { return interval }
        let step = lastTimestamp.distance(to: timestamp)
        return step > 0 && step <= clockRate ? step : interval
    }

    private mutating func append(_ entry: Entry) -> Bool {
        guard count < entries.count else { return false }
        entries[(first + count) % entries.count] = entry
        count += 1
        return true
    }
}
