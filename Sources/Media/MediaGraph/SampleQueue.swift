/// Samples waiting for a whole packet, first in first out, in storage of fixed size.
struct SampleQueue: ~Copyable {
    private var storage: [Int16]
    private var head = 0
    private(set) var count = 0
    /// Samples that found no room.
    private(set) var overflow = 0

    init(capacity: Int) { storage = Array(repeating: 0, count: capacity) }

    mutating func append(_ samples: Span<Int16>, count added: Int) {
        let fits = makeRoom(added)
        for index in 0..<fits { storage[head + count + index] = samples[index] }
        count += fits
    }

    mutating func appendSilence(_ added: Int) {
        let fits = makeRoom(added)
        for index in 0..<fits { storage[head + count + index] = 0 }
        count += fits
    }

    /// Moves the oldest `wanted` samples out; what is missing becomes silence.
    mutating func take(_ wanted: Int, into output: inout MutableSpan<Int16>) {
        let here = min(wanted, count)
        for index in 0..<here { output[index] = storage[head + index] }
        for index in here..<max(wanted, here) { output[index] = 0 }
        head += here
        count -= here
        if count == 0 { head = 0 }
    }

    mutating func removeAll() {
        head = 0
        count = 0
    }

    private mutating func makeRoom(_ added: Int) -> Int {
        if head + count + added > storage.count {
            for index in 0..<count { storage[index] = storage[head + index] }
            head = 0
        }
        let fits = min(added, storage.count - count)
        overflow += added - fits
        return fits
    }
}
