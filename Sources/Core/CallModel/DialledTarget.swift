/// What a client dialled, made safe to stand in a SIP URI.
///
/// A number or user name, or a full SIP URI of which user and host are taken. Parameters, headers, escapes and control
/// characters are refused, so that no dialled text can add to a request (rule FRD-7).
public struct DialledTarget: Hashable, Sendable {
    /// The user part: digits with an optional leading `+`, or a user name.
    public let user: String
    /// The host and optional port, when a full address was dialled.
    public let host: String?

    /// Longest dialled text.
    public static let maximumLength = 128

    /// Reads what was dialled; nil if it cannot be a number, a user name or a SIP address.
    public init?(_ dialled: String) {
        guard dialled.utf8.count <= Self.maximumLength else { return nil }
        var text = Substring(dialled.filter { $0 != " " })
        for scheme in ["sip:", "sips:", "tel:"] where text.lowercased().hasPrefix(scheme) {
            text = text.dropFirst(scheme.count)
        }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2 else { return nil }
        let stripped = Self.withoutSeparators(first)
        guard !stripped.isEmpty, stripped.utf8.allSatisfy(Self.isUserByte) else { return nil }
        user = stripped
        guard parts.count == 2 else {
            host = nil
            return
        }
        guard !parts[1].isEmpty, parts[1].utf8.allSatisfy(Self.isHostByte) else { return nil }
        host = String(parts[1])
    }

    /// Visual separators go only from what reads as a telephone number (RFC 3966 section 5.1.1).
    private static func withoutSeparators(_ text: Substring) -> String {
        let isNumber = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E, 0x28, 0x29].contains(byte)
        }
        return isNumber ? String(text.filter { !"-.()".contains($0) }) : String(text)
    }

    private static func isUserByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true  // digits and letters
        case UInt8(ascii: "+"), UInt8(ascii: "*"), UInt8(ascii: "#"), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"),
            UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}
