import Synchronization

/// One value that its owner publishes and any thread reads, without a lock: a sequence lock over atomic words. A reader that
/// meets a write in progress tries again.
///
/// - Threads: `publish` from one owner at a time; `read` from any.
public final class SnapshotBoard<Value: BitwiseCopyable & Sendable>: Sendable {
    private let words: AtomicWords
    private let version = Atomic<UInt64>(0)

    /// A board that shows `value`.
    public init(_ value: Value) {
        words = AtomicWords(count: (MemoryLayout<Value>.size + 7) / 8)
        publish(value)
    }

    /// Shows a new value.
    public func publish(_ value: Value) {
        let before = version.load(ordering: .relaxed)
        version.store(before &+ 1, ordering: .relaxed)
        atomicMemoryFence(ordering: .releasing)
        withUnsafeBytes(of: value) { words.store($0) }
        version.store(before &+ 2, ordering: .releasing)
    }

    /// The value shown last.
    public func read() -> Value {
        while true {
            let before = version.load(ordering: .acquiring)
            guard before & 1 == 0 else { continue }
            let value = words.load(as: Value.self)
            atomicMemoryFence(ordering: .acquiring)
            if version.load(ordering: .relaxed) == before { return value }
        }
    }
}

/// A fixed row of atomic words. Unchecked: the block is reached through atomics only, and freed with the last reference.
private final class AtomicWords: @unchecked Sendable {
    private let block: UnsafeMutablePointer<Atomic<UInt64>>
    private let count: Int

    init(count: Int) {
        self.count = count
        block = .allocate(capacity: count)
        for index in 0..<count { (block + index).initialize(to: Atomic(0)) }
    }

    deinit {
        block.deinitialize(count: count)
        block.deallocate()
    }

    func store(_ bytes: UnsafeRawBufferPointer) {
        for index in 0..<count {
            var word: UInt64 = 0
            let length = min(8, bytes.count - index * 8)
            withUnsafeMutableBytes(of: &word) { target in
                target.copyBytes(from: bytes[index * 8..<index * 8 + length])
            }
            block[index].store(word, ordering: .relaxed)
        }
    }

    func load<Value: BitwiseCopyable>(as type: Value.Type) -> Value {
        withUnsafeTemporaryAllocation(byteCount: count * 8, alignment: 16) { buffer in
            for index in 0..<count {
                buffer.storeBytes(of: block[index].load(ordering: .relaxed), toByteOffset: index * 8, as: UInt64.self)
            }
            return buffer.load(as: Value.self)
        }
    }
}
