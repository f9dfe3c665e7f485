internal import Synchronization

/// What other threads report, in order, for a test that waits for one of it.
public final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    /// An empty collection.
    public init() {}

    /// Takes one more.
    public func append(_ element: Element) { elements.withLock { $0.append(element) } }

    /// Everything so far.
    public var all: [Element] { elements.withLock { $0 } }

    /// Waits until an element gives an answer; nil after the time is over.
    public func first<Answer>(
        within limit: Duration = .seconds(20), isolation: isolated (any Actor)? = #isolation,
        _ pick: (Element) -> Answer?
    ) async -> Answer? {
        var answer: Answer?
        _ = await eventually(timeout: limit, every: .milliseconds(5)) {
            answer = all.lazy.compactMap(pick).first
            return answer != nil
        }
        return answer
    }
}
