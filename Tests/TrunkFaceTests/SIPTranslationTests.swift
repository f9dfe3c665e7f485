import CallModel
import SIPStack
import Switchboard
import Testing

@testable import TrunkFace

@Suite struct SIPTranslationTests {
    @Test(arguments: [
        (486, HangupCause.busy), (600, .busy), (603, .declined), (404, .notFound), (484, .invalidNumber),
        (480, .unavailable),
        (401, .credentialsRefused), (407, .credentialsRefused), (403, .forbidden), (408, .trunkTimeout), (487, .cancelled),
        (488, .noCommonCodec), (503, .trunkFailure), (302, .trunkFailure), (900, .trunkFailure),
    ])
    func eachStatusHasItsCause(status: Int, cause: HangupCause) {
        #expect(HangupCause(sipStatus: status, reason: nil) == cause)
    }

    @Test func aQ850CauseKnowsMoreThanTheStatus() {
        let busy = SIPReason(protocol: "Q.850", cause: 17)
        #expect(HangupCause(sipStatus: 503, reason: busy) == .busy)
        #expect(HangupCause(sipStatus: 486, reason: SIPReason(protocol: "SIP", cause: 200)) == .busy)
        #expect(HangupCause(sipStatus: 404, reason: SIPReason(protocol: "Q.850", cause: 999)) == .notFound)
    }

    /// CAU-4: every cause refuses a caller with a status of its own kind, and CAU-2: every end has its Q.850 cause.
    @Test(arguments: HangupCause.allCases)
    func everyCauseHasAFinalStatusAndAQ850Cause(cause: HangupCause) {
        #expect((400...699).contains(cause.rejection.0))
        #expect((1...127).contains(cause.q850))
        #expect(cause.q850Reason.hasPrefix("Q.850;cause=\(cause.q850);text=\""))
    }

    @Test(
        arguments: [
            ("pbx.example.org", "pbx.example.org", nil), ("192.0.2.1:5080", "192.0.2.1", 5080),
            ("[2001:db8::1]:5070", "[2001:db8::1]", 5070),
            ("2001:db8::1", "[2001:db8::1]", nil), ("[::1]", "[::1]", nil),
        ] as [(String, String, UInt16?)])
    func hostsAndPortsAreToldApart(text: String, host: String, port: UInt16?) {
        let address = SIPAddress(hostAndPort: text)
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test func anAccountsPortBelongsToItsProxyOrElseToItsDomain() {
        var account = ClientAccount(user: "7001", domain: "pbx.example.org", port: 5080, registers: true)
        #expect(account.addressOfRecord.uri == "sip:7001@pbx.example.org:5080")
        #expect(account.proxyAddress == nil)
        account.outboundProxy = "192.0.2.9"
        #expect(account.addressOfRecord.uri == "sip:7001@pbx.example.org")
        #expect(account.proxyAddress?.uri == "sip:192.0.2.9:5080")
        account.outboundProxy = "192.0.2.9:5090"
        #expect(account.proxyAddress?.uri == "sip:192.0.2.9:5090")
    }

    @Test(arguments: ["lr", "MADDR", "transport", "user"])
    func parametersThatSteerARequestAreReserved(name: String) {
        #expect(InviteToken.isReservedParameter(name))
    }

    @Test(arguments: ["", "a;b", "a b", "a\r\nb", "a=b", "ü"])
    func namesThatAreNoTokensAreRefused(name: String) {
        #expect(!InviteToken.isName(name))
    }

    @Test(arguments: ["a;lr", "a?b", "a>b", "a\r\nX: 1", "a b"])
    func valuesThatCouldEndAParameterAreRefused(value: String) {
        #expect(!InviteToken.isParameterValue(value))
    }
}
