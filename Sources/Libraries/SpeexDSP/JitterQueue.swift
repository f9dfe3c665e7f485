internal import CSpeexDSP

/// speexdsp's adaptive jitter buffer over packet slots of our own.
///
/// The library orders packets and estimates the delay they need; their bytes stay in one fixed block made here, so
/// neither `put` nor `take` allocates. Timestamps and spans are in one unit of the caller's choice, and must not pass
/// 2^31: the library compares them by signed difference.
///
/// - Threads: one owner at a time.
/// Unchecked: handle and storage have one owner and no thread of their own.
public struct JitterQueue: ~Copyable, @unchecked Sendable {
    private let handle: OpaquePointer
    private let storage: SlotStorage
    private let delayStep: UInt32
    /// Whether the library waits for a first packet to set its pointer by.
    private var isEmptyAfterReset = true
    /// Takes without a packet in a row. The library resets itself at 21; we do it first, to know of it.
    private var misses = 0

    /// What a take brought.
    public enum Outcome: Sendable, Hashable {
        /// A packet: read it by its slot, then ``JitterQueue/release(slot:)``.
        case packet
        /// Nothing for this time: lost or late. Conceal `span`.
        case missing
        /// The library makes the delay longer: conceal `span` without any packet being used up.
        case insertion
    }

    /// The result of ``JitterQueue/take(span:)``.
    public struct Taken: Sendable {
        /// What it is.
        public var outcome: Outcome
        /// Slot of the packet; -1 without one.
        public var slot = -1
        /// Timestamp of the packet, or of the gap.
        public var timestamp: UInt32 = 0
        /// Units that the packet or the gap lasts.
        public var span: UInt32 = 0
        /// Packet start minus the time asked for.
        public var offset: Int32 = 0
        /// Sequence number that came with the packet.
        public var sequence: UInt16 = 0
        /// What the caller gave with the packet.
        public var tag: UInt8 = 0
    }

    /// - Parameters:
    ///   - slots: packets held at most, up to 200.
    ///   - bytesPerSlot: longest payload.
    ///   - step: by how much the delay is changed, in timestamp units.
    /// - Returns: nil when memory is short.
    public init?(slots: Int, bytesPerSlot: Int, step: Int32) {
        guard let handle = jitter_buffer_init(step) else { return nil }
        self.handle = handle
        storage = SlotStorage(count: max(1, min(slots, 200)), bytesPerSlot: max(1, bytesPerSlot))
        delayStep = UInt32(clamping: step)
        _ = trunkline_jitter_set_destroy(handle, releaseSlot)
        // The first call ends the library's own adjusting at every tick: from here on it adjusts when it is told to.
        _ = jitter_buffer_update_delay(handle, nil, nil)
    }

    deinit {
        jitter_buffer_destroy(handle)
        storage.free()
    }

    // MARK: In and out

    /// Files one packet.
    /// - Returns: false if it is too late to be of use, too long, or there is no free slot.
    public mutating func put(_ payload: Span<UInt8>, timestamp: UInt32, span: UInt32, sequence: UInt16, tag: UInt8) -> Bool
    {
        if misses >= 20 { reset() }
        guard let slot = storage.fill(payload, timestamp, span, sequence, tag) else { return false }
        var packet = JitterBufferPacket()
        packet.data = storage.bytes(slot)
        packet.len = UInt32(payload.count)
        packet.timestamp = timestamp
        packet.span = span
        packet.sequence = sequence
        packet.user_data = UInt32(slot)
        // The library keeps no packet that ends a step before its pointer, and does not say so.
        let end = timestamp &+ span &+ delayStep
        let keeps = isEmptyAfterReset || Int32(bitPattern: end &- pointer) >= 0
        jitter_buffer_put(handle, &packet)
        if !keeps { storage.release(slot) }
        return keeps
    }

    /// Takes what is to be played next.
    /// - Parameter span: units wanted; a packet found may hold less or more.
    public mutating func take(span: Int32) -> Taken {
        var packet = JitterBufferPacket()
        var offset: Int32 = 0
        let code = jitter_buffer_get(handle, &packet, span, &offset)
        var taken = Taken(outcome: .missing, timestamp: packet.timestamp, span: packet.span)
        guard code == JITTER_BUFFER_OK else {
            if code == JITTER_BUFFER_INSERTION { taken.outcome = .insertion }
            if !isEmptyAfterReset { misses += 1 }
            return taken
        }
        isEmptyAfterReset = false
        misses = 0
        let slot = Int(packet.user_data)
        taken.outcome = .packet
        taken.slot = slot
        taken.offset = offset
        taken.sequence = packet.sequence
        taken.tag = storage.slots[slot].tag
        storage.slots[slot].isQueued = false
        return taken
    }

    /// Reads the payload of a slot that a take or a search named.
    public borrowing func withPayload<Result>(slot: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        body(UnsafeBufferPointer(storage.payload(slot)).span)
    }

    /// Copies the payload of a slot to the front of `bytes`.
    /// - Returns: its length; what does not fit is cut off.
    public func copyPayload(slot: Int, into bytes: inout MutableSpan<UInt8>) -> Int {
        let payload = storage.payload(slot)
        let length = min(payload.count, bytes.count)
        bytes.withUnsafeMutableBytes { target in
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(payload)[0..<length]))
        }
        return length
    }

    /// Gives a taken packet's slot back.
    public mutating func release(slot: Int) { storage.release(slot) }

    // MARK: Looking in

    /// Timestamp of the next unit to be played.
    public var pointer: UInt32 { UInt32(bitPattern: jitter_buffer_get_pointer_timestamp(handle)) }
    /// Whether no packet has set the pointer since the start or a reset.
    public var isWaitingForFirst: Bool { isEmptyAfterReset }
    /// Packets waiting.
    public var count: Int {
        var total = 0
        for index in 0..<storage.count where storage.slots[index].isQueued { total += 1 }
        return total
    }

    /// A waiting packet that holds `timestamp`, the earliest-starting one first.
    public func slot(holding timestamp: UInt32) -> Int? {
        var best: Int?
        for index in 0..<storage.count where storage.slots[index].isQueued {
            let slot = storage.slots[index]
            let into = Int32(bitPattern: timestamp &- slot.timestamp)
            guard into >= 0, into < Int32(bitPattern: slot.span) else { continue }
            if let found = best, Int32(bitPattern: storage.slots[found].timestamp &- slot.timestamp) <= 0 { continue }
            best = index
        }
        return best
    }

    /// The waiting packet that starts first.
    public var earliestSlot: Int? {
        var best: Int?
        for index in 0..<storage.count where storage.slots[index].isQueued {
            if let found = best, Int32(bitPattern: storage.slots[found].timestamp &- storage.slots[index].timestamp) <= 0 {
                continue
            }
            best = index
        }
        return best
    }

    /// Timestamp of a slot's packet.
    public func timestamp(slot: Int) -> UInt32 { storage.slots[slot].timestamp }
    /// Units that a slot's packet lasts.
    public func span(slot: Int) -> UInt32 { storage.slots[slot].span }
    /// What the caller gave with a slot's packet.
    public func tag(slot: Int) -> UInt8 { storage.slots[slot].tag }

    // MARK: Steering

    /// Tells, once per tick, how many units the caller still holds unplayed.
    public mutating func endTick(remaining: UInt32) { jitter_buffer_remaining_span(handle, remaining) }

    /// Lets the library change its delay now. It does so at no other time, but for insertions at a missing packet.
    /// - Returns: units skipped (positive) or to be inserted (negative).
    public mutating func updateDelay() -> Int32 {
        isEmptyAfterReset ? 0 : jitter_buffer_update_delay(handle, nil, nil)
    }

    /// Sets the least headroom, in units.
    public mutating func setMargin(_ units: Int32) {
        _ = trunkline_jitter_set_int(handle, JITTER_BUFFER_SET_MARGIN, units)
    }

    /// Sets the price of one percent of late packets, in units of delay.
    public mutating func setLateCost(_ units: Int32) {
        _ = trunkline_jitter_set_int(handle, JITTER_BUFFER_SET_LATE_COST, units)
    }

    /// Sets the most late packets in percent, whatever the delay; it also sets the estimator's memory (4 000 packets over it).
    public mutating func setMaximumLateRate(percent: Int32) {
        _ = trunkline_jitter_set_int(handle, JITTER_BUFFER_SET_MAX_LATE_RATE, percent)
    }

    /// Sets the size that gaps are rounded to, in units.
    public mutating func setConcealmentSize(_ units: Int32) {
        _ = trunkline_jitter_set_int(handle, JITTER_BUFFER_SET_CONCEALMENT_SIZE, units)
    }

    /// Drops every packet and forgets all timing.
    public mutating func reset() {
        jitter_buffer_reset(handle)
        isEmptyAfterReset = true
        misses = 0
    }
}

/// The library gives back a packet's bytes; the record that owns them is found through the word in front.
private func releaseSlot(_ data: UnsafeMutableRawPointer?) {
    guard let data else { return }
    let owner = data.advanced(by: -SlotStorage.prefix).load(as: UnsafeMutablePointer<SlotStorage.Slot>.self)
    owner.pointee.isQueued = false
    owner.pointee.isFree = true
}
