import ClientTransport
import DTLS
import GLibLoop
import ICE
import SRTP
import Sockets
import Synchronization
import Testing

@Suite struct ClientTransportTests {
    /// Connects a waiting side (which hears of no candidates) and a calling one.
    static func connect(
        _ waiting: TransportSide, _ calling: TransportSide, answererSetup: TransportSetup = .active
    ) async throws -> (waiting: ClientMediaPath, calling: ClientMediaPath) {
        let (ours, theirs) = try await (waiting.gathered(), calling.gathered())
        let offererIsWaiting = ours.setup == .actpass
        waiting.transport.setRemote(
            theirs.remote(setup: offererIsWaiting ? answererSetup : .actpass, withCandidates: false))
        calling.transport.setRemote(ours.remote(setup: offererIsWaiting ? .actpass : answererSetup))
        return try await (waiting.path(), calling.path())
    }

    @Test(arguments: ["127.0.0.1", "::1"], [true, false])
    func twoTransportsConnectAndMediaCrossesBetweenTheirLanes(host: String, waitingSideOffers: Bool) async throws {
        let waiting = try TransportSide(controlling: waitingSideOffers, hosts: [host])
        let calling = try TransportSide(controlling: !waitingSideOffers, hosts: [host])
        let (one, two) = try await Self.connect(waiting, calling)
        #expect(one.keys.send == two.keys.receive)
        #expect(one.keys.receive == two.keys.send)
        #expect(one.keys.profile == .aeadAes128Gcm)
        #expect(one.remote == two.socket.localAddress)
        #expect(two.remote == one.socket.localAddress)
        let (here, there) = try (Lane(one), Lane(two))
        // Long enough for consent checks, which come every 4 to 6 s (RFC 7675).
        let start = ContinuousClock.now
        var sequence: UInt16 = 0
        var heard = (0, 0)
        while ContinuousClock.now - start < .seconds(7) {
            try here.send(sequence: sequence, payload: [1, UInt8(sequence & 0xFF)])
            try there.send(sequence: sequence, payload: [2, UInt8(sequence & 0xFF)])
            sequence += 1
            try await Task.sleep(for: .milliseconds(20))
            for payload in try here.receive() {
                #expect(payload[0] == 2)
                heard.0 += 1
            }
            for payload in try there.receive() {
                #expect(payload[0] == 1)
                heard.1 += 1
            }
        }
        #expect(heard.0 == Int(sequence))
        #expect(heard.1 == Int(sequence))
        #expect(here.foreign == 0, "STUN and DTLS stay with the ICE agent")
        #expect(there.foreign == 0)
        for side in [waiting, calling] { #expect(side.events.count == 2, "nothing but gathered and connected") }
    }

    @Test("H44 the role follows the offer", arguments: [TransportSetup.actpass, .active, .passive, nil])
    func roles(offered: TransportSetup?) async throws {
        let offerer = try TransportSide(controlling: true)
        let answerer = try TransportSide(controlling: false)
        let offer = try await offerer.gathered()
        #expect(offer.setup == .actpass)
        answerer.transport.setRemote(offer.remote(setup: offered))
        let answer = TransportSetup.answer(toOffer: offered)
        #expect(answer == (offered == .active ? .passive : .active))
        offerer.transport.setRemote(try await answerer.gathered().remote(setup: answer))
        #expect(try await offerer.path().keys.send == answerer.path().keys.receive)
    }

    @Test("H44 the handshake may begin before the answer is known")
    func earlyHello() async throws {
        let offerer = try TransportSide(controlling: true)
        let answerer = try TransportSide(controlling: false)
        let (offer, answer) = try await (offerer.gathered(), answerer.gathered())
        answerer.transport.setRemote(offer.remote(setup: .actpass))
        // The answerer's checks, and perhaps its ClientHello, come while the answer is still on its way.
        try await Task.sleep(for: .milliseconds(700))
        offerer.transport.setRemote(answer.remote(setup: .active))
        #expect(try await offerer.path().keys.send == answerer.path().keys.receive)
    }

    @Test func aPathThatNobodyChecksFailsInTime() async throws {
        let side = try TransportSide(controlling: false, deadlines: .init(ice: .milliseconds(300)))
        let local = try await side.gathered()
        side.transport.setRemote(local.remote(setup: .actpass, withCandidates: false))
        #expect(await side.failure() == .iceTimeout)
    }

    @Test func aPeerThatNeverShakesHandsFailsInTime() async throws {
        let side = try TransportSide(controlling: false, deadlines: .init(handshake: .milliseconds(400)))
        let local = try await side.gathered()
        let mute = Mutex<ICELocalDescription?>(nil)
        let agent = ICEAgent(
            loop: TransportSide.loops.0, configuration: .init(isControlling: true, localAddresses: ["127.0.0.1"])
        ) { event in
            if case .gathered(let description) = event { mute.withLock { $0 = description } }
        }
        agent.gather()
        #expect(await eventually { mute.withLock { $0 != nil } })
        let theirs = try #require(mute.withLock { $0 })
        let fingerprint = try TransportSide.certificate.get().fingerprint
        side.transport.setRemote(
            RemoteTransportDescription(
                iceUfrag: theirs.ufrag, icePwd: theirs.password, fingerprints: [fingerprint], setup: .actpass))
        agent.setRemote(ufrag: local.iceUfrag, password: local.icePwd, candidates: local.candidates)
        #expect(await side.failure() == .handshakeTimeout)
    }

    @Test func aStrangersCertificateFailsBothSides() async throws {
        let offerer = try TransportSide(controlling: true)
        let answerer = try TransportSide(controlling: false, certificate: DTLSCertificate())
        let (offer, answer) = try await (offerer.gathered(), answerer.gathered())
        let wrong = try DTLSCertificate().fingerprint
        offerer.transport.setRemote(answer.remote(setup: .active, fingerprint: wrong))
        answerer.transport.setRemote(offer.remote(setup: .actpass))
        guard case .dtls(let error)? = await offerer.failure() else {
            Issue.record("no handshake failure")
            return
        }
        #expect(error.reason == .fingerprintMismatch)
        guard case .dtls? = await answerer.failure() else {
            Issue.record("the alert did not reach the other side")
            return
        }
    }

    @Test func aDescriptionWithoutAStrongFingerprintFailsAtOnce() async throws {
        let side = try TransportSide(controlling: false)
        let local = try await side.gathered()
        var remote = local.remote(setup: .actpass)
        remote.fingerprints = [DTLSFingerprint(algorithm: "sha-1", bytes: [UInt8](repeating: 0, count: 20))]
        side.transport.setRemote(remote)
        #expect(await side.failure() == .noUsableFingerprint)
    }

    @Test("H46 the keys follow the chosen suite", arguments: SRTPProfile.allCases)
    func suites(profile: SRTPProfile) async throws {
        let waiting = try TransportSide(controlling: false)
        let calling = try TransportSide(controlling: true, certificate: DTLSCertificate(profiles: [profile.rawValue]))
        let (one, two) = try await Self.connect(waiting, calling)
        #expect(one.keys.profile == profile)
        let (here, there) = try (Lane(one), Lane(two))
        try there.send(sequence: 1, payload: [7])
        #expect(try await eventually { try here.receive() == [[7]] })
    }

    @Test func closeTellsThePeer() async throws {
        let waiting = try TransportSide(controlling: false)
        let calling = try TransportSide(controlling: true)
        _ = try await Self.connect(waiting, calling)
        calling.transport.close()
        #expect(await waiting.isClosedByPeer())
        let before = calling.events.count
        await TransportSide.loops.0.run {}
        #expect(calling.events.count == before)
    }
}
