import Testing

@testable import SIPStack

@Suite("Digest responses")
struct DigestTests {
    @Test(
        "AUTH-2 the vectors of the fact sheet",
        arguments: [
            (DigestAlgorithm.md5, true, "26bf638846f6f2c36f53136116969cae"),
            (.md5, false, "c3f1ade047187dbd4639cc9c8ad2f2dd"),
            (.sha256, true, "c1a385358305dcf927e1d85605e3464ff511542e6d7ba5d01f55ee08bad51f1f"),
        ])
    func vectors(algorithm: DigestAlgorithm, hasQop: Bool, expected: String) {
        let response = DigestResponse(
            algorithm: algorithm, user: "gw01", realm: "trunk.example.net", password: "correct horse", method: "INVITE",
            uri: "sip:+15550100@trunk.example.net", nonce: "n0nce-0001", protection: hasQop ? ("00000001", "c0ffee00") : nil
        )
        #expect(response.text == expected)
    }
}
