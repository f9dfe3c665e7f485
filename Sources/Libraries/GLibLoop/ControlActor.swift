/// The global actor of the control plane: its executor is the thread of ``GLibLoop/control``.
///
/// Sessions, calls, SIP dialogs and WebSocket connections are all isolated to it, so the call logic needs no lock.
@globalActor public actor ControlActor {
    /// The one instance.
    public static let shared = ControlActor()

    /// The control loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { GLibLoop.control.asUnownedSerialExecutor() }

    /// Runs `body` as code of this actor. For C callbacks, which arrive on the control loop's thread but cannot say so in
    /// their type.
    ///
    /// - Precondition: the calling thread is the control loop's; anything else traps.
    public static func assumeIsolated<Answer: Sendable>(_ body: @ControlActor () throws -> Answer) rethrows -> Answer {
        GLibLoop.control.checkIsolated()
        typealias Plain = () throws -> Answer
        return try withoutActuallyEscaping(body) { isolated in
            // Dropping the isolation from the type is safe: the line above has checked the thread.
            try unsafeBitCast(isolated, to: Plain.self)()
        }
    }
}
