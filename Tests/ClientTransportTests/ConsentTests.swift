import ClientTransport
import Foundation
import GLibLoop
import Testing

@Suite struct ConsentTests {
    /// Whether consent was lost within the time.
    private func losesConsent(_ side: TransportSide, within limit: Duration) async -> Bool {
        await side.first(within: limit) { if case .consentLost = $0 { true } else { nil } } ?? false
    }

    @Test("ICE-12 a peer whose checks come back within the standard's time keeps its call")
    func shortSilence() async throws {
        let frozen = GLibLoop(name: "frozen")
        let side = try TransportSide(
            controlling: false, deadlines: .init(consent: .seconds(16)), loop: GLibLoop(name: "here"))
        let peer = try TransportSide(controlling: true, loop: frozen)
        let (path, peerPath) = try await ClientTransportTests.connect(side, peer)
        frozen.perform { Thread.sleep(forTimeInterval: 13) }
        await frozen.run {}
        // Longer than the rest of the allowance after libnice has given up.
        #expect(await !losesConsent(side, within: .seconds(8)))
        let (here, there) = try (Lane(path), Lane(peerPath))
        try there.send(sequence: 1, payload: [5])
        #expect(try await eventually { try here.receive() == [[5]] })
    }

    @Test func aPeerThatStaysSilentLosesItsConsent() async throws {
        let frozen = GLibLoop(name: "dead")
        let side = try TransportSide(controlling: false, deadlines: .init(consent: .seconds(12)))
        let peer = try TransportSide(controlling: true, loop: frozen)
        _ = try await ClientTransportTests.connect(side, peer)
        frozen.perform { Thread.sleep(forTimeInterval: 20) }
        let start = ContinuousClock.now
        #expect(await losesConsent(side, within: .seconds(20)))
        #expect(ContinuousClock.now - start > .seconds(8))
    }
}
