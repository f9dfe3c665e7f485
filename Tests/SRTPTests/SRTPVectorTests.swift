import SRTP
import Testing

/// Whole packets worked out apart from libsrtp, with Python's hmac and an AES library, from the master key and salt of
/// RFC 3711 appendix B.3 (whose session keys the same script reproduces) and, for GCM, from a counted key and salt by the
/// rules of RFC 7714 sections 8, 9 and 11.
@Suite struct SRTPVectorTests {
    struct Vector: Sendable {
        let profile: SRTPProfile
        let key: String
        let salt: String
        let rtp: String
        let rtcp: String
    }

    static let vectors = [
        Vector(
            profile: .aes128CmHmacSha1, key: "E1F97A0D3E018BE0D64FA32C06DE4139", salt: "0EC675AD498AFEEBB6960B3AABE6",
            rtp: "800012340001e240cafebabee5ff75e44837d5742f0673b5333b81a68f0181f14404f7de3b9370b3a9ae",
            rtcp: "80c90001cafebabe5b49a8f485d2a8a8145b5a8831b86b65192c132a80000001c257b42916c0c9b83dee"),
        Vector(
            profile: .aeadAes128Gcm, key: "000102030405060708090a0b0c0d0e0f", salt: "a0a1a2a3a4a5a6a7a8a9aaab",
            rtp: "800012340001e240cafebabe6eaa8776ab6170821ab3f8402fac05ca7a8b1d62"
                + "6499448946f48a38b2d4c28eb0467952",
            rtcp: "80c90001cafebabee3ea20f2916c3b402f88a6e86441bee8ae060ce8"
                + "8ed7f131c182abe486b247b7490227ce80000001"),
        Vector(
            profile: .aeadAes256Gcm, key: "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
            salt: "a0a1a2a3a4a5a6a7a8a9aaab",
            rtp: "800012340001e240cafebabea15d5bb6253e1001d9e0fd3c964bee155b82b0c8"
                + "d68144ba9d05f243a331cbe6b9831886",
            rtcp: "80c90001cafebabea0de0408e1521b8542ac5ba8078562c5a58d2d48"
                + "4cce9914fd5ce8bbedb38b9eab550bc480000001"),
    ]
    /// A receiver report without blocks and a CNAME.
    static let plainRTCP = "80c90001cafebabe81ca0004cafebabe010861626364656667680000"

    @Test(arguments: vectors) func packetsAreAsTheStandardsSay(vector: Vector) throws {
        let keys = try SRTPKeyMaterial(profile: vector.profile, key: bytes(vector.key), salt: bytes(vector.salt))
        let sender = try Sender(keys)
        let receiver = try Receiver(keys)
        let plain = packet(sequence: 0x1234)
        #expect(try sender.rtp(plain) == bytes(vector.rtp))
        #expect(try receiver.rtp(bytes(vector.rtp)) == plain)
        #expect(bytes(vector.rtp).count == plain.count + vector.profile.rtpOverhead)
        let report = bytes(Self.plainRTCP)
        #expect(try sender.rtcp(report) == bytes(vector.rtcp))
        #expect(try receiver.rtcp(bytes(vector.rtcp)) == report)
        #expect(bytes(vector.rtcp).count == report.count + vector.profile.rtcpOverhead)
    }
}
