import CallModel
import Testing

@Suite struct DialledTargetTests {
    @Test(
        arguments: [
            ("+1 (555) 010-0123", "+15550100123", nil), ("100", "100", Optional<String>.none),
            ("front-desk", "front-desk", nil),
            ("sip:7002@pbx.example.org:5080", "7002", "pbx.example.org:5080"), ("SIP:a@[::1]", "a", "[::1]"),
            ("*43#", "*43#", nil), ("tel:+15550100", "+15550100", nil),
        ] as [(String, String, String?)])
    func whatIsDialledIsRead(dialled: String, user: String, host: String?) {
        let target = DialledTarget(dialled)
        #expect(target?.user == user)
        #expect(target?.host == host)
    }

    /// FRD-7: nothing dialled can add parameters, headers or lines to a request.
    @Test(arguments: [
        "", "100\r\nX-Evil: 1", "100;phone-context=x", "100?Replaces=1", "a@b@c", "%40", "100@", "@host", "1<2>", "\"a\"",
        "100@host;lr", "100\u{0}", "ä",
    ])
    func whatCouldAddToARequestIsRefused(dialled: String) {
        #expect(DialledTarget(dialled) == nil)
    }

    @Test func longTextIsRefused() {
        #expect(DialledTarget(String(repeating: "1", count: 129)) == nil)
    }

    @Test func identifiersAreUUIDsAndClientsMayChooseTheirOwn() {
        let minted = CallID(randomBits: (0, .max))
        #expect(minted.rawValue == "00000000-0000-4000-bfff-ffffffffffff")
        #expect(CallID(rawValue: "abc\n") == nil)
        #expect(CallID(rawValue: String(repeating: "x", count: 129)) == nil)
        #expect(CallID(rawValue: "475c5330-ecfd-11f1-b377-3306344a998c") != nil)
    }
}
