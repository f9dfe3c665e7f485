import Dispatch
import Synchronization

/// Letters from any thread to waiting tests: each waiter takes the first letter that it wants, or nil at its time limit.
///
/// Letters that nobody asked for stay, in order, so a test may ask for an event after it has happened.
final class Mailbox<Letter: Sendable>: Sendable {
    private struct Waiter {
        let number: UInt64
        let wants: @Sendable (Letter) -> Bool
        let keeps: Bool
        let continuation: CheckedContinuation<Letter?, Never>
    }

    private struct State {
        var letters: [Letter] = []
        var waiters: [Waiter] = []
        var nextNumber: UInt64 = 0
        var isClosed = false
    }

    private enum Outcome { case now(Letter?), later(UInt64) }

    private let state = Mutex(State())

    /// Everything that is waiting to be taken.
    var letters: [Letter] { state.withLock { $0.letters } }

    func post(_ letter: Letter) {
        let happy = state.withLock { state -> [Waiter] in
            var happy: [Waiter] = []
            var taken = false
            state.waiters.removeAll { waiter in
                guard !taken, waiter.wants(letter) else { return false }
                happy.append(waiter)
                taken = !waiter.keeps
                return true
            }
            if !taken { state.letters.append(letter) }
            return happy
        }
        for waiter in happy { waiter.continuation.resume(returning: letter) }
    }

    /// Says that no letter will come any more: those who wait get nil at once.
    func close() {
        let disappointed = state.withLock { state -> [Waiter] in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in disappointed { waiter.continuation.resume(returning: nil) }
    }

    /// Forgets what came so far.
    func empty() { state.withLock { $0.letters = [] } }

    /// The first letter that `wants` is true for, past or future; it is taken out unless `keeping`.
    func first(
        within limit: Duration, keeping: Bool = false, where wants: @escaping @Sendable (Letter) -> Bool = { _ in true }
    ) async -> Letter? {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> Outcome in
                if let index = state.letters.firstIndex(where: wants) {
                    return .now(keeping ? state.letters[index] : state.letters.remove(at: index))
                }
                if state.isClosed { return .now(nil) }
                state.nextNumber += 1
                let number = state.nextNumber
                state.waiters.append(Waiter(number: number, wants: wants, keeps: keeping, continuation: continuation))
                return .later(number)
            }
            switch outcome {
            case .now(let letter): continuation.resume(returning: letter)
            case .later(let number):
                DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds) { self.giveUp(number) }
            }
        }
    }

    private func giveUp(_ number: UInt64) {
        let late = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiters.remove(at: index)
        }
        late?.continuation.resume(returning: nil)
    }
}

extension Duration {
    /// The same span as a number of seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

/// What a peer could not do, in words for the test's report.
struct PeerFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
