internal import CGLib
internal import Synchronization

/// One GLib main loop on a thread of its own, lent to Swift as a serial executor.
///
/// Everything that a GLib library calls back arrives on this thread, and every job that Swift enqueues runs there too, so
/// state that belongs to one loop needs no lock. The loop runs until the process ends: executors may be asked for at any
/// time, so there is no way to stop one.
///
/// - Threads: `enqueue`, `perform` and `isCurrent` may be called from any thread.
public final class GLibLoop: SerialExecutor {
    /// The loop of the control plane: SIP, WebSocket and call logic live here (see ``ControlActor``).
    public static let control = GLibLoop(name: "control")

    /// The loop's name, as its thread shows it in a debugger.
    public let name: String

    private let handle: ContextHandle

    /// Makes a context, starts its thread and waits until the loop runs.
    public init(name: String) {
        self.name = name
        guard let context = g_main_context_new() else { preconditionFailure("GLib gave no main context") }
        handle = ContextHandle(context: context)
        let start = Unmanaged.passRetained(LoopStart(context: context))
        // The thread lives as long as the process; the handle's thread reference is given up at once.
        let thread = g_thread_new(name, runLoop, start.toOpaque())
        g_thread_unref(thread)
    }

    /// The GMainContext, for wrappers of GLib libraries only. It lives as long as the process.
    public var rawContext: OpaquePointer { handle.context }

    /// Whether the calling thread is this loop's.
    public var isCurrent: Bool { g_main_context_is_owner(handle.context) != 0 }

    /// Runs a job of Swift's on the loop's thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        attachIdle(
            Unmanaged.passRetained(PendingWork(run: { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) })))
    }

    /// The executor's reference for an actor; valid as long as the loop, which never ends.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    /// Traps unless the calling thread is the loop's.
    public func checkIsolated() { precondition(isCurrent, "not on the loop '\(name)'") }

    /// Whether the calling thread is the loop's.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    /// Runs `work` on the loop's thread, soon, in the order of the calls.
    public func perform(_ work: @escaping @Sendable () -> Void) {
        attachIdle(Unmanaged.passRetained(PendingWork(run: work)))
    }

    /// Runs `work` on the loop's thread and waits for its answer; at once if the caller is on it already.
    public func performAndWait<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) -> Answer {
        if isCurrent { return work() }
        let gate = Gate<Answer>()
        perform { gate.open(with: work()) }
        return gate.wait()
    }

    /// Runs `work` on the loop and suspends the caller until it is done.
    public func run<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            perform { continuation.resume(returning: work()) }
        }
    }

    private func attachIdle(_ work: Unmanaged<PendingWork>) {
        let source = g_idle_source_new()
        g_source_set_priority(source, G_PRIORITY_DEFAULT)
        g_source_set_callback(source, runPending, work.toOpaque(), releasePending)
        g_source_attach(source, handle.context)
        g_source_unref(source)
    }
}

/// Holds the context pointer. A GMainContext may be used from any thread (GLib guards it with its own lock), so sending the
/// pointer is safe.
private struct ContextHandle: @unchecked Sendable {
    let context: OpaquePointer
}

private final class LoopStart {
    let context: OpaquePointer
    init(context: OpaquePointer) { self.context = context }
}

private final class PendingWork {
    private let work: () -> Void
    /// GLib hands the work over under a lock that the thread sanitizer does not know. This pair orders the same and it does.
    private let isComplete = Atomic<Bool>(false)

    init(run: @escaping () -> Void) {
        work = run
        isComplete.store(true, ordering: .releasing)
    }

    func run() {
        if isComplete.load(ordering: .acquiring) { work() }
    }
}

/// Hands one answer from the loop's thread to a waiting one. The mutex and condition order all access to `answer`, so the
/// unchecked conformance is safe.
private final class Gate<Answer>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<GMutex>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<GCond>.allocate(capacity: 1)
    private var answer: Answer?

    init() {
        g_mutex_init(mutex)
        g_cond_init(condition)
    }

    deinit {
        g_mutex_clear(mutex)
        g_cond_clear(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    func open(with value: Answer) {
        g_mutex_lock(mutex)
        answer = value
        g_cond_signal(condition)
        g_mutex_unlock(mutex)
    }

    func wait() -> Answer {
        g_mutex_lock(mutex)
        defer { g_mutex_unlock(mutex) }
        while true {
            if let answer { return answer }
            g_cond_wait(condition, mutex)
        }
    }
}

private func runLoop(_ data: gpointer?) -> gpointer? {
    guard let data else { return nil }
    let start = Unmanaged<LoopStart>.fromOpaque(data).takeRetainedValue()
    g_main_context_push_thread_default(start.context)
    let loop = g_main_loop_new(start.context, 0)
    g_main_loop_run(loop)
    return nil
}

private func runPending(_ data: gpointer?) -> gboolean {
    guard let data else { return 0 }
    Unmanaged<PendingWork>.fromOpaque(data).takeUnretainedValue().run()
    return 0  // G_SOURCE_REMOVE
}

private func releasePending(_ data: gpointer?) {
    guard let data else { return }
    Unmanaged<PendingWork>.fromOpaque(data).release()
}
