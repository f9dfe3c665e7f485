import GLibLoop
import GatewayTesting
import ICE
import Testing

/// One agent and what it has reported.
final class ICESide: Sendable {
    let agent: ICEAgent
    private let seen = Collected<ICEEvent>()

    init(
        loop: GLibLoop, controlling: Bool, addresses: [String] = ["127.0.0.1"], portRange: ClosedRange<UInt16>? = nil
    ) {
        agent = ICEAgent(
            loop: loop,
            configuration: .init(isControlling: controlling, localAddresses: addresses, portRange: portRange)
        ) { [seen] event in seen.append(event) }
        agent.gather()
    }

    var events: [ICEEvent] { seen.all }

    /// Waits until an event gives an answer; nil after the time is over.
    func first<Answer>(within limit: Duration = .seconds(15), _ pick: (ICEEvent) -> Answer?) async -> Answer? {
        await seen.first(within: limit, pick)
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
