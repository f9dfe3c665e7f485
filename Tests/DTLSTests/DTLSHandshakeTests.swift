import DTLS
import Testing

@Suite struct DTLSHandshakeTests {
    @Test func bothSidesGetTheSameKeysCrossed() throws {
        let pair = try DTLSPair()
        pair.start()
        let (active, passive) = try #require(pair.keys)
        #expect(active.profile == 0x0007)
        #expect(active.sendKey == passive.receiveKey)
        #expect(active.receiveKey == passive.sendKey)
        #expect(active.sendSalt == passive.receiveSalt)
        #expect(active.receiveSalt == passive.sendSalt)
        #expect(active.sendKey != active.receiveKey)
        #expect(active.sendKey.count == 16)
        #expect(active.sendSalt.count == 12)
        #expect(active.description == "DTLSSRTPKeys(profile 7, redacted)")
        #expect(pair.active.nextTimeout == nil)
        #expect(pair.passive.nextTimeout == nil)
    }

    @Test("H45 no datagram is longer than 1200 bytes, and the certificate is small")
    func datagramsAreSmall() throws {
        let pair = try DTLSPair()
        pair.start()
        #expect(pair.keys != nil)
        #expect(pair.crossed.allSatisfy { $0.count <= DTLSConnection.maximumDatagram })
        #expect(pair.crossed.map(\.count).reduce(0, +) < 3000)
    }

    @Test(
        "H46 the suite is the best that both sides have",
        arguments: [
            ([0x0007], 0x0007), ([0x0008], 0x0008), ([0x0001], 0x0001), ([0x0001, 0x0002], 0x0001),
            ([0x0001, 0x0007, 0x0008], 0x0001), ([0x0008, 0x0001], 0x0008),
        ] as [([UInt16], UInt16)])
    func suites(offered: [UInt16], chosen: UInt16) throws {
        let pair = try DTLSPair(active: DTLSCertificate(profiles: offered))
        pair.start()
        let (active, passive) = try #require(pair.keys)
        // OpenSSL's server walks its own list first only where it has no choice; either end of it is common to both.
        #expect(offered.contains(active.profile))
        #expect(active.profile == passive.profile)
        if offered.count == 1 { #expect(active.profile == chosen) }
        #expect(active.sendKey.count == (active.profile == 0x0008 ? 32 : 16))
        #expect(active.sendSalt.count == (active.profile == 0x0001 ? 14 : 12))
        #expect(active.sendKey == passive.receiveKey)
    }

    @Test("H46 NULL suites are never offered and no common suite is a clear failure")
    func noCommonSuite() throws {
        let gcm = try DTLSCertificate(profiles: [0x0007])
        let countermode = try DTLSCertificate(profiles: [0x0001, 0x0005, 0x0006])
        #expect(countermode.profiles == [0x0001])
        let pair = try DTLSPair(active: gcm, passive: countermode)
        pair.start()
        for side in [pair.active, pair.passive] {
            guard case .failed(let error) = side.state else {
                Issue.record("not failed: \(side.state)")
                continue
            }
            #expect(error.reason == .noCommonProfile)
        }
    }

    @Test func aStrangersCertificateEndsTheHandshakeOnBothSides() throws {
        let stranger = try DTLSCertificate()
        for pair in [
            try DTLSPair(activeExpects: [stranger.fingerprint]), try DTLSPair(passiveExpects: [stranger.fingerprint]),
            try DTLSPair(passiveExpects: []),
            try DTLSPair(passiveExpects: [DTLSFingerprint(algorithm: "sha-1", bytes: [1, 2, 3])]),
        ] {
            pair.start()
            let states = [pair.active.state, pair.passive.state]
            #expect(pair.keys == nil)
            let reasons = states.compactMap { state -> DTLSError.Reason? in
                if case .failed(let error) = state { error.reason } else { nil }
            }
            #expect(reasons.contains(.fingerprintMismatch))
            #expect(reasons.count == 2, "the alert tells the other side: \(states)")
        }
    }

    @Test func oneOfSeveralFingerprintsIsEnough() throws {
        let (one, _) = try DTLSPair.certificates.get()
        let unknown = try #require(DTLSFingerprint(sdp: "sha-3 00:11"))
        let pair = try DTLSPair(passiveExpects: [unknown, one.fingerprint])
        pair.start()
        #expect(pair.keys != nil)
    }

    @Test("DTL-5 any one lost datagram is sent again", arguments: 0..<6) func loss(lost: Int) async throws {
        let pair = try DTLSPair()
        pair.wire = { number, _, datagram in number == lost ? [] : [datagram] }
        pair.start()
        try await pair.runTimers()
        #expect(pair.keys != nil)
    }

    @Test func everyDatagramTwiceIsAsGoodAsOnce() throws {
        let pair = try DTLSPair()
        pair.wire = { _, _, datagram in [datagram, datagram] }
        pair.start()
        #expect(pair.keys != nil)
    }

    @Test("H60 bytes that are no DTLS record change nothing") func noise() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("noise: seed \(seed)")
        var random = Seeded(state: seed)
        let pair = try DTLSPair()
        pair.wire = { _, _, datagram in
            let noise = (0..<20).map { _ -> [UInt8] in
                var bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // Some look like records of a content type that does not exist here.
                if bytes.count >= 13, Bool.random(using: &random) {
                    bytes.replaceSubrange(0..<3, with: [UInt8.random(in: 30...63, using: &random), 0xFE, 0xFD])
                    bytes.replaceSubrange(11..<13, with: [0, UInt8(bytes.count - 13)])
                }
                return bytes
            }
            return noise + [datagram]
        }
        pair.start()
        #expect(pair.keys != nil)
    }

    @Test func closeNotifyEndsBothSides() throws {
        let pair = try DTLSPair()
        pair.start()
        let bye = pair.active.close()
        #expect(bye.change == .closed)
        #expect(!bye.datagrams.isEmpty)
        pair.cross(bye.datagrams, fromActive: true)
        #expect(pair.passive.state == .closed)
        #expect(pair.active.close().datagrams.isEmpty)
        #expect(pair.passive.close().datagrams.isEmpty)
    }

    @Test func aForgedCloseIsNotBelieved() throws {
        let pair = try DTLSPair()
        pair.start()
        // A plain alert (warning, close_notify) of epoch 0, and one of epoch 1 that is not encrypted.
        for epoch in [UInt8(0), 1] {
            let alert: [UInt8] = [21, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 99, 0, 2, 1, 0]
            _ = pair.active.feed(alert)
        }
        #expect(pair.keys != nil)
    }
}

/// A small generator whose seed can be printed.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
