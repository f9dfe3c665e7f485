/// Why a text is no usable session description.
public struct SDPParseError: Error, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// Over ``SDPParser/maximumBytes``.
        case tooLarge
        /// Over ``SDPParser/maximumMedia``.
        case tooManyMedia
        /// No `v=0` at the start.
        case notSDP
        /// A line that is not of the form `x=...`.
        case malformedLine
        /// An m-line without port, profile or formats, or with a port above 65535.
        case malformedMedia
        /// A `c=` line without an address.
        case malformedConnection
    }

    /// What is wrong.
    public var reason: Reason
    /// The line, counted from 1; 0 when the whole text is meant.
    public var line: Int

    /// A fault at a line.
    public init(reason: Reason, line: Int) {
        self.reason = reason
        self.line = line
    }
}

/// Reads session descriptions as they come from the field: LF or CRLF, blanks at line ends, empty lines, attributes for
/// payload types that are not in the m-line, session lines in any order.
///
/// Total: every input gives a description or a typed error.
public enum SDPParser {
    /// The largest text that is read (SCN-6).
    public static let maximumBytes = 32 * 1024
    /// The most m-lines that are read (SCN-6).
    public static let maximumMedia = 32

    /// Reads one description.
    ///
    /// - Throws: the first fault, with its line.
    public static func parse(_ text: String) throws(SDPParseError) -> SessionDescription {
        guard text.utf8.count <= maximumBytes else { throw SDPParseError(reason: .tooLarge, line: 0) }
        var reader = Reader()
        var number = 0
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            try reader.take(line(bytes), number: number)
        }
        guard reader.hasVersion else { throw SDPParseError(reason: .notSDP, line: 0) }
        return reader.session
    }

    /// The line without CR, blanks or NUL at its end. The UTF-8 view is used because CR LF is one `Character`.
    private static func line(_ bytes: Substring.UTF8View) -> Substring {
        var bytes = bytes
        while let last = bytes.last, last <= UInt8(ascii: " ") { bytes.removeLast() }
        return Substring(bytes)
    }

    private struct Reader {
        var session = SessionDescription(
            origin: Origin(sessionID: "0", version: 0, address: Connection(address: "0.0.0.0")))
        var hasVersion = false

        mutating func take(_ line: Substring, number: Int) throws(SDPParseError) {
            guard !line.isEmpty else { return }
            var bytes = line.utf8
            guard let key = bytes.popFirst(), bytes.popFirst() == UInt8(ascii: "=") else {
                throw SDPParseError(reason: hasVersion ? .malformedLine : .notSDP, line: number)
            }
            let value = Substring(bytes)
            guard hasVersion || key == UInt8(ascii: "v") else { throw SDPParseError(reason: .notSDP, line: number) }
            switch key {
            case UInt8(ascii: "v"): hasVersion = true
            case UInt8(ascii: "o"): session.origin = origin(value)
            case UInt8(ascii: "s"): session.name = String(value)
            case UInt8(ascii: "c"): try takeConnection(value, number: number)
            case UInt8(ascii: "m"): try takeMedia(value, number: number)
            case UInt8(ascii: "a"): takeAttribute(value)
            default: break
            }
        }

        private func origin(_ value: Substring) -> Origin {
            let words = value.split(separator: " ")
            guard words.count >= 6 else { return session.origin }
            return Origin(
                username: String(words[0]), sessionID: String(words[1]), version: UInt64(words[2]) ?? 0,
                address: Connection(address: String(words[5]), isIPv6: words[4] == "IP6"))
        }

        private mutating func takeConnection(_ value: Substring, number: Int) throws(SDPParseError) {
            let words = value.split(separator: " ")
            // A multicast time-to-live may follow a slash.
            guard words.count >= 3, let address = words[2].split(separator: "/").first else {
                throw SDPParseError(reason: .malformedConnection, line: number)
            }
            let connection = Connection(address: String(address), isIPv6: words[1].uppercased() == "IP6")
            if session.media.isEmpty {
                session.connection = connection
            } else {
                session.media[session.media.count - 1].connection = connection
            }
        }

        private mutating func takeMedia(_ value: Substring, number: Int) throws(SDPParseError) {
            guard session.media.count < SDPParser.maximumMedia else {
                throw SDPParseError(reason: .tooManyMedia, line: number)
            }
            let words = value.split(separator: " ")
            guard words.count >= 4, let port = words[1].split(separator: "/").first.flatMap({ UInt16($0) }) else {
                throw SDPParseError(reason: .malformedMedia, line: number)
            }
            session.media.append(
                MediaDescription(
                    kind: words[0].lowercased(), port: port, profile: String(words[2]),
                    formats: words[3...].map(String.init)))
        }

        private mutating func takeAttribute(_ value: Substring) {
            let halves = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first else { return }
            let attribute = Attribute(
                String(name.trimmed), halves.count > 1 ? String(halves[1].trimmed) : nil)
            if session.media.isEmpty {
                session.attributes.append(attribute)
            } else {
                session.media[session.media.count - 1].attributes.append(attribute)
            }
        }
    }
}
