/// A candidate as SDP carries it (RFC 8839 section 5.1).
public struct ICECandidate: Hashable, Sendable, CustomStringConvertible {
    /// How the address was found.
    public enum Kind: String, Sendable, CaseIterable {
        case host
        case serverReflexive = "srflx"
        case peerReflexive = "prflx"
        case relayed = "relay"
    }

    /// Candidates with the same foundation share their fate; 1-32 ice-chars.
    public var foundation: String
    /// 1 is RTP (and RTCP where they share a port); others are not used.
    public var component: UInt16
    /// "udp" or "tcp", in lower case.
    public var transport: String
    /// The higher the better.
    public var priority: UInt32
    /// A numeric address, or a name that is never looked up.
    public var host: String
    /// The UDP or TCP port.
    public var port: UInt16
    /// How the address was found.
    public var kind: Kind

    /// A UDP candidate of component 1.
    public init(foundation: String, priority: UInt32, host: String, port: UInt16, kind: Kind) {
        self.foundation = foundation
        component = 1
        transport = "udp"
        self.priority = priority
        self.host = host
        self.port = port
        self.kind = kind
    }

    /// Parses "candidate:1 1 udp 2130706431 192.0.2.1 40000 typ host ..."; "a=" before it and unknown extension pairs after it
    /// are passed over.
    ///
    /// - Returns: nil for a broken line or a type that is not known: such a candidate is skipped singly.
    public init?(sdp line: some StringProtocol) {
        var text = Substring(line)
        if text.hasPrefix("a=") { text = text.dropFirst(2) }
        if text.hasPrefix("candidate:") { text = text.dropFirst("candidate:".count) }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count >= 8, words[6].lowercased() == "typ", (1...32).contains(words[0].utf8.count),
            let component = UInt16(words[1]), let priority = UInt32(words[3]), let port = UInt16(words[5]),
            let kind = Kind(rawValue: words[7].lowercased())
        else { return nil }
        foundation = String(words[0])
        self.component = component
        transport = words[2].lowercased()
        self.priority = priority
        host = String(words[4])
        self.port = port
        self.kind = kind
    }

    /// Whether this agent can try it: UDP, component 1, a numeric address without a zone, a real port. Names (".local" ones
    /// hide a browser's address) are not looked up: the peer's own checks reveal where it is.
    public var isUsable: Bool {
        transport == "udp" && component == 1 && port != 0 && port != 9 && isNumericHost
    }

    private var isNumericHost: Bool {
        let digits = host.utf8
        if digits.contains(UInt8(ascii: ":")) {
            return digits.allSatisfy { character in
                character == UInt8(ascii: ":") || character == UInt8(ascii: ".")
                    || Character(UnicodeScalar(character)).isHexDigit
            }
        }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && $0.utf8.count <= 3 }
    }

    /// The SDP form, "candidate:..." without "a=".
    public var description: String {
        var text = "candidate:\(foundation) \(component) \(transport) \(priority) \(host) \(port) typ \(kind.rawValue)"
        // A reflexive or relayed candidate must name a related address; ours hides it (RFC 8839 section 5.1 allows zeros).
        if kind != .host { text += host.contains(":") ? " raddr :: rport 9" : " raddr 0.0.0.0 rport 9" }
        return text
    }
}
