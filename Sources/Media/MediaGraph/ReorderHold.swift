import RTP

/// Holds a trunk's packets that came before an earlier one, only as long as reordering demands: the far browser has a jitter
/// buffer of its own. Storage of fixed size.
struct ReorderHold: ~Copyable {
    static let slots = 4
    private static let slotBytes = 512
    private static let patience: Int64 = 30_000_000

    private var bytes: [UInt8]
    private var held: [RTPReceiver.Audio?]
    private(set) var count = 0
    /// When the wait for the missing packet ends.
    private(set) var deadline = MediaTime.distantFuture
    /// The sequence number that is due next.
    private(set) var expected: Int64?

    init() {
        bytes = Array(repeating: 0, count: Self.slots * Self.slotBytes)
        held = Array(repeating: nil, count: Self.slots)
    }

    mutating func restart() {
        for index in 0..<Self.slots { held[index] = nil }
        count = 0
        deadline = .distantFuture
        expected = nil
    }

    mutating func advance(past place: Int64) { expected = place + 1 }

    /// - Returns: false if there is no room (or the packet is too long to be held).
    mutating func hold(_ datagram: Span<UInt8>, _ audio: RTPReceiver.Audio, at now: MediaTime) -> Bool {
        guard audio.payload.count <= Self.slotBytes else { return false }
        for index in 0..<Self.slots where held[index] == nil {
            for offset in 0..<audio.payload.count {
                bytes[index * Self.slotBytes + offset] = datagram[audio.payload.lowerBound + offset]
            }
            var copy = audio
            copy.payload = index * Self.slotBytes..<index * Self.slotBytes + audio.payload.count
            held[index] = copy
            if count == 0 { deadline = now.advanced(nanoseconds: Self.patience) }
            count += 1
            return true
        }
        return false
    }

    /// Takes out the held packet with the lowest place, if it is due or if the wait is over.
    mutating func takeNext(isImpatient: Bool, into payload: inout MutableSpan<UInt8>, at now: MediaTime) -> RTPReceiver
        .Audio?
    {
        guard count > 0 else { return nil }
        var best: Int?
        for index in 0..<Self.slots {
            guard let place = held[index]?.place else { continue }
            if let found = best, let other = held[found]?.place, other <= place { continue }
            best = index
        }
        guard let best, var audio = held[best] else { return nil }
        guard isImpatient || audio.place <= (expected ?? audio.place) else { return nil }
        let length = min(audio.payload.count, payload.count)
        for offset in 0..<length { payload[offset] = bytes[audio.payload.lowerBound + offset] }
        audio.payload = 0..<length
        held[best] = nil
        count -= 1
        deadline = count == 0 ? .distantFuture : now.advanced(nanoseconds: Self.patience)
        return audio
    }
}
