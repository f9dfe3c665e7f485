import Testing

@testable import Telemetry

@Suite struct LogTests {
    /// SCN-8: remote text can neither split a line nor end a value.
    @Test(arguments: [
        ("plain", "plain"), ("two words", "\"two words\""), ("a\r\nerror forged", "\"a\\u{d}\\u{a}error forged\""),
        ("\"quoted\"", "\"\\\"quoted\\\"\""), ("a=b", "\"a=b\""), ("", "\"\""), ("\u{2028}x", "\"\\u{2028}x\""),
    ])
    func valuesStayInTheirLine(value: String, written: String) {
        #expect(Log.escaped(value) == written)
    }

    @Test func numbersAreCutShortUnlessDebugging() {
        #expect(Redacted.party("+15550100123") == "…123")
        #expect(Redacted.party("100") == "100")
    }
}
