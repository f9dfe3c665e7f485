import DTLS
import Testing

@Suite struct DTLSCertificateTests {
    @Test func eachCertificateIsItsOwn() throws {
        let (one, two) = try (DTLSCertificate(), DTLSCertificate())
        #expect(one.fingerprint != two.fingerprint)
        #expect(one.fingerprint.algorithm == "sha-256")
        #expect(one.fingerprint.bytes.count == 32)
    }

    @Test func fingerprintsComeBackAsTheyWereWritten() throws {
        let fingerprint = try DTLSCertificate().fingerprint
        #expect(DTLSFingerprint(sdp: fingerprint.description) == fingerprint)
        #expect(DTLSFingerprint(sdp: fingerprint.description.lowercased()) == fingerprint)
        #expect(fingerprint.description.count == "sha-256 ".count + 32 * 3 - 1)
        #expect(fingerprint.isSupported)
        #expect(DTLSFingerprint(sdp: "SHA-1 00:FF")?.isSupported == false)
    }

    @Test(arguments: [
        "", "sha-256", "sha-256 ", "sha-256 AA:B", "sha-256 AA::BB", "sha-256 +A:BB", "sha-256 AA BB", "sha-256 GG",
    ])
    func brokenFingerprintsAreRefused(text: String) {
        #expect(DTLSFingerprint(sdp: text) == nil)
    }
}
