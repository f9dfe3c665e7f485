import GLibLoop
import SIPStack
import Testing

/// Collects events and lets a test wait for one; no test sleeps.
@ControlActor final class Events<Event: Sendable> {
    private(set) var all: [Event] = []
    private var waiters:
        [(position: Int, match: (Event) -> Bool, continuation: CheckedContinuation<Event?, Never>, timer: GLibTimer)] =
            []
    private var read = 0

    func append(_ event: Event) {
        all.append(event)
        let position = all.count - 1
        guard let index = waiters.firstIndex(where: { position >= $0.position && $0.match(event) }) else { return }
        let waiter = waiters.remove(at: index)
        read = position + 1
        waiter.timer.cancel()
        waiter.continuation.resume(returning: event)
    }

    /// The next event that matches, after the last one waited for; `nil` after 15 s.
    func next(_ match: @escaping (Event) -> Bool) async -> Event? {
        if let index = all[read...].firstIndex(where: match) {
            read = index + 1
            return all[index]
        }
        return await withCheckedContinuation { continuation in
            let timer = GLibTimer(on: .control, after: .seconds(15)) { [weak self] in
                ControlActor.assumeIsolated { self?.giveUp() }
            }
            waiters.append((all.count, match, continuation, timer))
        }
    }

    private func giveUp() {
        guard !waiters.isEmpty else { return }
        waiters.removeFirst().continuation.resume(returning: nil)
    }
}

/// Two user agents on loopback; the second one collects its incoming calls.
@ControlActor final class Bench {
    let near: UserAgent
    let far: UserAgent
    let calls = Events<Dialog>()
    let farEvents = Events<DialogEvent>()

    /// Timers short enough for tests of what never comes.
    static let quick = SIPTimers(t1: 50, t2: 400, t4: 500, t1x64: 1600)

    init(timers: SIPTimers = SIPTimers()) throws {
        near = try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: 0, timers: timers))
        far = try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: 0, timers: timers))
        far.onIncomingCall = { [calls, farEvents] dialog in
            dialog.onEvent = { farEvents.append($0) }
            calls.append(dialog)
        }
    }

    func address(_ user: String, _ agent: UserAgent, transport: String = "") -> SIPAddress {
        SIPAddress(user: user, host: "127.0.0.1", port: agent.port, parameters: transport)
    }

    func call(
        _ user: String = "100", sdp: String? = "v=0\r\noffer\r\n", headers: [SIPHeader] = [], transport: String = "",
        credentials: SIPCredentials? = nil
    ) throws -> (Dialog, Events<DialogEvent>) {
        let events = Events<DialogEvent>()
        let dialog = try near.invite(
            OutgoingCall(
                target: address(user, far, transport: transport), from: address("caller", near), credentials: credentials,
                sdp: sdp, headers: headers), onEvent: { events.append($0) })
        return (dialog, events)
    }

    /// An answered call.
    func talk() async throws -> (near: Dialog, far: Dialog, events: Events<DialogEvent>) {
        let (dialog, events) = try call()
        let incoming = try #require(await calls.next { _ in true })
        try incoming.answer(sdp: "v=0\r\nanswer\r\n")
        _ = try #require(await events.next { $0.isAnswered })
        _ = try #require(await farEvents.next { $0 == .confirmed })
        return (dialog, incoming, events)
    }

    func close() async {
        await near.shutdown()
        await far.shutdown()
    }
}

extension DialogEvent {
    var isAnswered: Bool { if case .answered = self { true } else { false } }
    var isEnded: Bool { end != nil }
    var end: DialogEnd? { if case .ended(let end) = self { end } else { nil } }
    var provisional: (code: Int, sdp: String?)? {
        if case .provisional(let status, let sdp) = self { (status.code, sdp) } else { nil }
    }
}

extension DialogEnd {
    var status: Int? { if case .refused(let status, _, _) = self { status.code } else { nil } }
}
