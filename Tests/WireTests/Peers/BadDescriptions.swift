import Foundation

/// Descriptions that no client should send, by what is wrong with them.
enum BadDescriptions {
    /// Each made of a good one.
    static func all(from good: String) -> [(flaw: String, text: String)] {
        let long = String(repeating: "x", count: 60_000)
        return [
            ("empty", ""),
            ("not SDP", "hello"),
            ("no audio", cut(good, from: "m=audio")),
            ("video only", good.replacing("m=audio 9", with: "m=video 9").replacing("opus", with: "VP8")),
            ("port zero", good.replacing("m=audio 9", with: "m=audio 0")),
            ("port beyond 65535", good.replacing("m=audio 9", with: "m=audio 99999999999999999999")),
            ("negative port", good.replacing("m=audio 9", with: "m=audio -9")),
            ("no fingerprint", without(good, "a=fingerprint")),
            ("fingerprint of nothing", good.replacing("a=fingerprint:sha-256 ", with: "a=fingerprint:md5 ")),
            ("no ice-ufrag", without(good, "a=ice-ufrag")),
            ("no ice-pwd", without(good, "a=ice-pwd")),
            ("long ice-ufrag", good.replacing("a=ice-ufrag:", with: "a=ice-ufrag:" + long)),
            ("no known codec", good.replacing("opus", with: "speex")),
            ("payload numbers of nowhere", good.replacing(" 111", with: " 999 -1 x")),
            ("a line of 60 kB in place of the audio", cut(good, from: "m=audio") + "m=" + long + "\r\n"),
            ("an unknown line of 60 kB", good + "a=x-long:" + long + "\r\n"),
            ("bytes of nothing", "v=0\r\n\u{0}\u{1}\u{fffd}=\r\nm=\r\n"),
        ]
    }

    /// Strange, but usable: none of these may be refused.
    static func usable(from good: String) -> [(oddity: String, text: String)] {
        [
            ("line feeds alone", good.replacing("\r\n", with: "\n")),
            ("500 candidates that lead nowhere", good + String(repeating: candidate, count: 500)),
            ("broken candidates", good + "a=candidate:\r\na=candidate:1 1 udp x 999.1.1.1 -4 typ nothing\r\n"),
        ]
    }

    private static let candidate = "a=candidate:1 1 udp 2130706431 192.0.2.1 9 typ host\r\n"

    private static func cut(_ text: String, from mark: String) -> String {
        text.range(of: mark).map { String(text[..<$0.lowerBound]) } ?? text
    }

    private static func without(_ text: String, _ mark: String) -> String {
        text.split(separator: "\r\n").filter { !$0.hasPrefix(mark) }.map { $0 + "\r\n" }.joined()
    }
}
