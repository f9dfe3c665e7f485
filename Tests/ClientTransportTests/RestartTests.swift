import ClientTransport
import DTLS
import GLibLoop
import ICE
import Sockets
import Synchronization
import Testing

@Suite struct RestartTests {
    /// A client's bare ICE agent at a new address, as it appears after a change of network.
    private final class Roamer: Sendable {
        private let description: Seen
        let agent: ICEAgent

        private final class Seen: Sendable {
            let value = Mutex<ICELocalDescription?>(nil)
        }

        init() {
            let seen = Seen()
            description = seen
            agent = ICEAgent(
                loop: TransportSide.loops.0, configuration: .init(isControlling: true, localAddresses: ["127.0.0.1"])
            ) { event in
                if case .gathered(let description) = event { seen.value.withLock { $0 = description } }
            }
            agent.gather()
        }

        func gathered() async throws -> ICELocalDescription {
            _ = await eventually { description.value.withLock { $0 != nil } }
            return try #require(description.value.withLock { $0 })
        }
    }

    private func reoffer(_ local: ICELocalDescription) throws -> RemoteTransportDescription {
        RemoteTransportDescription(
            iceUfrag: local.ufrag, icePwd: local.password, fingerprints: [try TransportSide.certificate.get().fingerprint],
            setup: .actpass)
    }

    private func descriptions(_ side: TransportSide) -> [LocalTransportDescription] {
        side.events.compactMap { if case .gathered(let description) = $0 { description } else { nil } }
    }

    private func changedPath(_ side: TransportSide) async -> ClientMediaPath? {
        await side.first { if case .pathChanged(let path) = $0 { path } else { nil } }
    }

    @Test("H42 a restart moves the path, a second one before the first is done too, and the keys stay")
    func restart() async throws {
        let gateway = try TransportSide(controlling: false)
        let client = try TransportSide(controlling: true)
        let (path, _) = try await ClientTransportTests.connect(gateway, client)
        let (abandoned, roamer) = (Roamer(), Roamer())
        let (first, second) = try await (abandoned.gathered(), roamer.gathered())
        gateway.transport.setRemote(try reoffer(first))
        gateway.transport.setRemote(try reoffer(second))
        #expect(await eventually { descriptions(gateway).count == 3 })
        let credentials = descriptions(gateway)
        #expect(Set(credentials.map(\.iceUfrag)).count == 3)
        #expect(Set(credentials.map(\.icePwd)).count == 3)
        let answer = credentials[2]
        #expect(answer.setup == .active, "H44: the role stays")
        roamer.agent.setRemote(ufrag: answer.iceUfrag, password: answer.icePwd, candidates: answer.candidates)
        let moved = try #require(await changedPath(gateway))
        #expect(moved.remote.port == second.candidates[0].port)
        #expect(moved.remote != path.remote)
        #expect(moved.keys == path.keys)
        #expect(moved.socket === path.socket, "the local end has not changed")
    }

    @Test func eitherSideMayRestart() async throws {
        let gateway = try TransportSide(controlling: false)
        let client = try TransportSide(controlling: true)
        let (path, clientPath) = try await ClientTransportTests.connect(gateway, client)
        client.transport.restartICE()
        #expect(await eventually { descriptions(client).count == 2 })
        gateway.transport.setRemote(descriptions(client)[1].remote(setup: .actpass))
        #expect(await eventually { descriptions(gateway).count == 2 })
        #expect(descriptions(client)[1].setup == .actpass)
        #expect(descriptions(gateway)[1].setup == .active)
        client.transport.setRemote(descriptions(gateway)[1].remote(setup: .active))
        let (here, there) = try (Lane(path), Lane(clientPath))
        for sequence in UInt16(0)..<100 {
            try here.send(sequence: sequence, payload: [1])
            try there.send(sequence: sequence, payload: [2])
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try here.receive().count == 100)
        #expect(try there.receive().count == 100)
        for side in [gateway, client] {
            let bad = side.events.filter { event in
                switch event {
                case .gathered, .connected, .pathChanged: false
                default: true
                }
            }
            #expect(bad.isEmpty, "\(bad)")
        }
    }

    @Test func aDescriptionWithTheSameCredentialsRestartsNothing() async throws {
        let gateway = try TransportSide(controlling: false)
        let client = try TransportSide(controlling: true)
        _ = try await ClientTransportTests.connect(gateway, client)
        // H44: a re-offer that says actpass again does not turn the roles.
        let offer = try await client.gathered()
        gateway.transport.setRemote(offer.remote(setup: .actpass))
        await TransportSide.loops.1.run {}
        #expect(gateway.events.count == 2)
    }

    @Test func thePoolMakesLoopsAsTheyAreNeeded() async throws {
        let pool = ICELoopPool(agentsPerLoop: 2, maximumLoops: 2)
        let certificate = try TransportSide.certificate.get()
        var transports = (0..<6).map { _ in
            ClientTransport(
                iceLoops: pool, certificate: certificate, isControlling: true, localAddresses: ["127.0.0.1"]
            ) { _ in }
        }
        #expect(pool.load == [3, 3])
        transports.removeLast(5)
        #expect(pool.load.reduce(0, +) == 1)
        withExtendedLifetime(transports) {}
    }
}
