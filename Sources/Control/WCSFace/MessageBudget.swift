/// Counts messages in one-second windows, so that one client cannot keep the control loop to itself.
struct MessageBudget {
    private let perSecond: Int
    private var window: Int64 = .min
    private var used = 0

    init(perSecond: Int) { self.perSecond = perSecond }

    /// A long message costs the loop as much as several short ones.
    private static let bytesPerMessage = 65_536

    /// Whether one more message is allowed in the second that `second` names.
    mutating func take(bytes: Int, second: Int64) -> Bool {
        if second != window {
            window = second
            used = 0
        }
        used += 1 + bytes / Self.bytesPerMessage
        return used <= perSecond
    }
}

/// The present second of a steady clock.
enum ContinuousSecond {
    private static let start = ContinuousClock.now

    static var now: Int64 { (ContinuousClock.now - start).components.seconds }
}
