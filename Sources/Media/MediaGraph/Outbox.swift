/// Where a datagram in the ``Outbox`` goes.
public enum OutboxKind: UInt8, Sendable, Hashable {
    /// To the client's selected address, from the client socket: SRTP and SRTCP.
    case client
    /// To the trunk's RTP address, from the RTP socket.
    case trunkRTP
    /// To the trunk's RTCP address, from the RTCP socket.
    case trunkRTCP
}

/// Datagrams that a call into the media graph made, in storage of fixed size. The owner sends them after each call and
/// empties the box.
///
/// - Threads: one owner at a time. Nothing is allocated after init.
public final class Outbox {
    /// Longest datagram in bytes.
    public static let slotBytes = 1536
    /// Most datagrams between two drains.
    public let capacity: Int
    /// Datagrams waiting.
    public private(set) var count = 0
    /// Datagrams that found no room.
    public private(set) var overflow = 0

    private let block: UnsafeMutableRawPointer
    private var lengths: [Int]
    private var kinds: [OutboxKind]

    /// - Parameter capacity: datagrams between two drains; one call makes at most a dozen.
    public init(capacity: Int = 24) {
        self.capacity = capacity
        block = .allocate(byteCount: capacity * Self.slotBytes, alignment: 16)
        lengths = Array(repeating: 0, count: capacity)
        kinds = Array(repeating: .client, count: capacity)
    }

    deinit { block.deallocate() }

    /// Hands each waiting datagram to `body`, oldest first, and empties the box.
    public func drain(_ body: (OutboxKind, Span<UInt8>) -> Void) {
        for index in 0..<count {
            body(
                kinds[index],
                UnsafeRawBufferPointer(slot(index)).bindMemory(to: UInt8.self).span.extracting(0..<lengths[index]))
        }
        count = 0
    }

    /// Lets `write` fill the next slot; a length of 0 leaves it unused.
    /// - Returns: the length written.
    @discardableResult
    func append(_ kind: OutboxKind, _ write: (inout MutableSpan<UInt8>) -> Int) -> Int {
        guard count < capacity else {
            overflow += 1
            return 0
        }
        var span = slot(count).bindMemory(to: UInt8.self).mutableSpan
        let length = write(&span)
        guard length > 0 else { return 0 }
        lengths[count] = length
        kinds[count] = kind
        count += 1
        return length
    }

    private func slot(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: block + index * Self.slotBytes, count: Self.slotBytes)
    }
}
