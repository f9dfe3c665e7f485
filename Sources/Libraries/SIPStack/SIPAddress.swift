internal import CSofiaSIP

/// A SIP URI with an optional display name, as in From, To, Contact and P-Asserted-Identity.
public struct SIPAddress: Sendable, Hashable {
    /// Plain text without quotes; `nil` when there is none.
    public var displayName: String?
    /// The user part, percent escapes undone; "" when there is none.
    public var user: String
    /// Host name or literal; IPv6 in brackets.
    public var host: String
    /// `nil` for the default port.
    public var port: UInt16?
    /// URI parameters as written, without the first semicolon; "" when there are none.
    public var parameters: String

    /// An address of the given parts.
    public init(
        displayName: String? = nil, user: String, host: String, port: UInt16? = nil, parameters: String = ""
    ) {
        self.displayName = displayName
        self.user = user
        self.host = host
        self.port = port
        self.parameters = parameters
    }

    /// The URI. What a user part may not hold is escaped, so that no text can add parameters or headers to it (FRD-7).
    public var uri: String {
        var text = "sip:"
        if !user.isEmpty { text += Self.escape(user) + "@" }
        text += Self.plain(host)
        if let port { text += ":\(port)" }
        if !parameters.isEmpty { text += ";" + Self.plain(parameters) }
        return text
    }

    /// The header value: display name in quotes, URI in angle brackets.
    public var headerValue: String {
        guard let displayName, !displayName.isEmpty else { return "<\(uri)>" }
        var quoted = ""
        for scalar in displayName.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
            if scalar == "\"" || scalar == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(scalar)
        }
        return "\"\(quoted)\" <\(uri)>"
    }

    /// The URI as a loose route, for requests that go to a proxy first (RFC 3261 section 8.1.2).
    var routeValue: String {
        let isLoose = parameters.lowercased().split(separator: ";").contains("lr")
        return "<\(uri)\(isLoose ? "" : ";lr")>"
    }

    private static func escape(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            let isPlain =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.!~*'()+".utf8.contains(byte)
                }
            if isPlain {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                escaped += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
        return escaped
    }

    /// Without what would end a URI or a line.
    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value > 0x20 && $0 != "<" && $0 != ">" }))
    }

    init(_ url: url_t, display: UnsafePointer<CChar>? = nil) {
        user = Self.unescape(Self.text(url.url_user) ?? "")
        host = Self.text(url.url_host) ?? ""
        port = Self.text(url.url_port).flatMap { UInt16($0) }
        parameters = Self.text(url.url_params) ?? ""
        displayName = Self.text(display).flatMap { Self.unquote($0) }
    }

    /// Reads a header value of the form `"Name" <sip:user@host:port;params>` or a bare URI; `nil` for other schemes.
    init?(parsing value: String) {
        var name: String?
        var uri = Substring(value)
        if let open = value.lastIndex(of: "<") {
            name = Self.unquote(String(value[..<open]))
            uri = value[value.index(after: open)...].prefix { $0 != ">" }
        }
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        let scheme = uri[..<colon].lowercased()
        var rest = uri[uri.index(after: colon)...]
        if scheme == "tel" {
            self.init(displayName: name, user: String(rest.prefix { $0 != ";" }), host: "")
            return
        }
        guard scheme.hasSuffix("sip") || scheme == "sips" else { return nil }
        var user = ""
        if let at = rest.lastIndex(of: "@") {
            // A user part may hold parameters or a password; neither is part of the number.
            user = Self.unescape(String(rest[..<at].prefix { $0 != ";" && $0 != ":" }))
            rest = rest[rest.index(after: at)...]
        }
        let parameters = rest.firstIndex(of: ";").map { String(rest[rest.index(after: $0)...]) } ?? ""
        let place = rest.prefix { $0 != ";" && $0 != "?" }
        var port: UInt16?
        var host = place
        if let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") {
            port = UInt16(place[place.index(after: colon)...])
            host = place[..<colon]
        }
        self.init(displayName: name, user: user, host: String(host), port: port, parameters: parameters)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }

    private static func unquote(_ text: String) -> String? {
        var result = ""
        var escaped = false
        for character in text.trimmingBlanks() {
            if escaped {
                result.append(character)
                escaped = false
            } else if character == "\\" {
                escaped = true
            } else if character != "\"" {
                result.append(character)
            }
        }
        return result.isEmpty ? nil : result
    }

    private static func unescape(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension StringProtocol {
    func trimmingBlanks() -> String {
        var rest = Substring(self)
        while let first = rest.unicodeScalars.first, first.value <= 0x20 { rest.unicodeScalars.removeFirst() }
        while let last = rest.unicodeScalars.last, last.value <= 0x20 { rest.unicodeScalars.removeLast() }
        return String(rest)
    }
}
