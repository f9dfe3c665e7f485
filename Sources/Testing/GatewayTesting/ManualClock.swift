internal import Synchronization

/// A clock that moves when the test says so.
public final class ManualClock: Sendable {
    private let value: Atomic<Int64>

    /// A clock that stands at `nanoseconds`.
    public init(nanoseconds: Int64 = 0) { value = Atomic(nanoseconds) }

    /// The present time in nanoseconds.
    public var nanoseconds: Int64 { value.load(ordering: .sequentiallyConsistent) }

    /// Moves the clock on and tells the new time in nanoseconds.
    @discardableResult
    public func advance(nanoseconds: Int64) -> Int64 {
        value.add(nanoseconds, ordering: .sequentiallyConsistent).newValue
    }

    /// Moves the clock on by milliseconds.
    @discardableResult
    public func advance(milliseconds: Int) -> Int64 { advance(nanoseconds: Int64(milliseconds) * 1_000_000) }
}
