internal import CGLib

/// A timer on a GLib loop. It fires on the loop's thread and stops when it is cancelled or released.
///
/// - Threads: make, cancel and release it from any thread; `action` runs on the loop's. A fire that has already begun on the
///   loop is not recalled by `cancel` from another thread.
public final class GLibTimer: Sendable {
    private let source: SourceHandle

    /// - Parameters:
    ///   - interval: time to the first fire, and between fires if it repeats; whole milliseconds.
    ///   - repeats: whether it fires again and again.
    public init(
        on loop: GLibLoop, after interval: Duration, repeats: Bool = false, action: @escaping @Sendable () -> Void
    ) {
        let (seconds, attoseconds) = interval.components
        let milliseconds = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        let raw = g_timeout_source_new(guint(clamping: milliseconds))
        let box = Unmanaged.passRetained(TimerAction(repeats: repeats, action: action))
        g_source_set_callback(raw, fireTimer, box.toOpaque(), releaseTimer)
        g_source_attach(raw, loop.rawContext)
        source = SourceHandle(raw: raw)
    }

    /// Stops the timer. Calling it again does nothing.
    public func cancel() { g_source_destroy(source.raw) }

    deinit {
        g_source_destroy(source.raw)
        g_source_unref(source.raw)
    }
}

/// GLib guards an attached source with its context's lock, so the pointer may be used from any thread.
private struct SourceHandle: @unchecked Sendable {
    let raw: UnsafeMutablePointer<GSource>?
}

private final class TimerAction {
    let repeats: Bool
    let action: @Sendable () -> Void
    init(repeats: Bool, action: @escaping @Sendable () -> Void) {
        self.repeats = repeats
        self.action = action
    }
}

private func fireTimer(_ data: gpointer?) -> gboolean {
    guard let data else { return 0 }
    let timer = Unmanaged<TimerAction>.fromOpaque(data).takeUnretainedValue()
    timer.action()
    return timer.repeats ? 1 : 0
}

private func releaseTimer(_ data: gpointer?) {
    guard let data else { return }
    Unmanaged<TimerAction>.fromOpaque(data).release()
}
