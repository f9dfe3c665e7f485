/// Packet slots of one jitter queue in two blocks: small records that a search walks through, and the bytes.
/// In front of each slot's bytes stands the address of its record, for the C callback that knows the bytes alone.
struct SlotStorage {
    struct Slot {
        var timestamp: UInt32 = 0
        var span: UInt32 = 0
        var length: UInt16 = 0
        var sequence: UInt16 = 0
        var tag: UInt8 = 0
        var isFree = true
        /// In the library's hands; a taken slot is neither queued nor free.
        var isQueued = false
    }

    /// Bytes in front of each payload; keeps the payload aligned like the block.
    static let prefix = 16

    let count: Int
    let slots: UnsafeMutablePointer<Slot>
    private let block: UnsafeMutableRawPointer
    private let stride: Int
    private let bytesPerSlot: Int

    init(count: Int, bytesPerSlot: Int) {
        self.count = count
        self.bytesPerSlot = bytesPerSlot
        stride = Self.prefix + (bytesPerSlot + 15) / 16 * 16
        slots = .allocate(capacity: count)
        slots.initialize(repeating: Slot(), count: count)
        block = .allocate(byteCount: count * stride, alignment: 16)
        for index in 0..<count {
            block.storeBytes(of: slots + index, toByteOffset: index * stride, as: UnsafeMutablePointer<Slot>.self)
        }
    }

    func free() {
        slots.deallocate()
        block.deallocate()
    }

    func bytes(_ slot: Int) -> UnsafeMutablePointer<CChar> {
        block.advanced(by: slot * stride + Self.prefix).assumingMemoryBound(to: CChar.self)
    }

    func payload(_ slot: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let start = block.advanced(by: slot * stride + Self.prefix).assumingMemoryBound(to: UInt8.self)
        return UnsafeMutableBufferPointer(start: start, count: Int(slots[slot].length))
    }

    func fill(_ bytes: Span<UInt8>, _ timestamp: UInt32, _ span: UInt32, _ sequence: UInt16, _ tag: UInt8) -> Int? {
        guard bytes.count <= bytesPerSlot, bytes.count <= Int(UInt16.max) else { return nil }
        var index = 0
        while index < count, !slots[index].isFree { index += 1 }
        guard index < count else { return nil }
        slots[index] = Slot(
            timestamp: timestamp, span: span, length: UInt16(bytes.count), sequence: sequence, tag: tag, isFree: false,
            isQueued: true)
        let target = block.advanced(by: index * stride + Self.prefix)
        bytes.withUnsafeBytes { source in
            if let from = source.baseAddress { target.copyMemory(from: from, byteCount: source.count) }
        }
        return index
    }

    func release(_ slot: Int) {
        slots[slot].isQueued = false
        slots[slot].isFree = true
    }
}
