/// Scratch storage of fixed size, made once and freed with its owner.
///
/// `elements` is handed out as a plain buffer, since a span into a stored array would bar its owner from calling its own
/// mutating methods meanwhile. Turn it into a span at once, and let neither outlive the call.
struct FixedBuffer<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {  // safe: one owner, like any value
    let elements: UnsafeMutableBufferPointer<Element>

    init(repeating value: Element, count: Int) {
        elements = .allocate(capacity: count)
        elements.initialize(repeating: value)
    }

    deinit { elements.deallocate() }
}
