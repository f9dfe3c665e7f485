import GLibLoop
import ICE
import Synchronization
import Testing

/// One agent and what it has reported.
final class ICESide: Sendable {
    let agent: ICEAgent
    private let seen: Events

    private final class Events: Sendable {
        let list = Mutex<[ICEEvent]>([])
    }

    init(
        loop: GLibLoop, controlling: Bool, addresses: [String] = ["127.0.0.1"], portRange: ClosedRange<UInt16>? = nil
    ) {
        let events = Events()
        seen = events
        agent = ICEAgent(
            loop: loop,
            configuration: .init(isControlling: controlling, localAddresses: addresses, portRange: portRange)
        ) { event in events.list.withLock { $0.append(event) } }
        agent.gather()
    }

    var events: [ICEEvent] { seen.list.withLock { $0 } }

    /// Waits until an event gives an answer; nil after the time is over.
    func first<Answer>(
        within limit: Duration = .seconds(15), _ pick: (ICEEvent) -> Answer?
    ) async -> Answer? {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if let answer = events.lazy.compactMap(pick).first { return answer }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return nil
    }

    func gathered() async throws -> ICELocalDescription {
        try #require(await first { if case .gathered(let description) = $0 { description } else { nil } })
    }

    func isReady() async -> Bool {
        await first { if case .stateChanged(.ready) = $0 { true } else { nil } } ?? false
    }

    func selectedPair() async throws -> ICESelectedPair {
        try #require(await first { if case .selectedPair(let pair) = $0 { pair } else { nil } })
    }

    func received() async -> [UInt8]? {
        await first { if case .received(let datagram) = $0 { datagram } else { nil } }
    }
}

extension ICELocalDescription {
    func give(to side: ICESide, candidates: [ICECandidate]? = nil) {
        side.agent.setRemote(ufrag: ufrag, password: password, candidates: candidates ?? self.candidates)
    }
}
