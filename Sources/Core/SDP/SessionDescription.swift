/// A session description (RFC 8866): session part and m-lines, attributes in their written order.
///
/// Lines this gateway has no use for (`i=`, `b=`, `z=` and so on) are read and forgotten.
public struct SessionDescription: Sendable, Hashable {
    /// The `o=` line.
    public var origin: Origin
    /// The text of `s=`; `-` when there is none to give.
    public var name: String
    /// The `c=` that holds for m-lines without one of their own.
    public var connection: Connection?
    /// The `a=` lines before the first m-line.
    public var attributes: [Attribute]
    /// The m-lines; their number and order never change within a dialog (RFC 3264 section 8).
    public var media: [MediaDescription]

    /// A description of the given parts.
    public init(
        origin: Origin, name: String = "-", connection: Connection? = nil, attributes: [Attribute] = [],
        media: [MediaDescription] = []
    ) {
        self.origin = origin
        self.name = name
        self.connection = connection
        self.attributes = attributes
        self.media = media
    }

    /// Reads a description from its text. See ``SDPParser``.
    public init(parsing text: String) throws(SDPParseError) {
        self = try SDPParser.parse(text)
    }

    /// The text for the wire, with CRLF line ends.
    public var text: String { SDPPrinter.print(self) }

    /// The mids of the first BUNDLE group (RFC 9143); `nil` when none is given.
    public var bundleGroup: [String]? {
        for attribute in attributes where attribute.name == "group" {
            let words = attribute.words
            if words.first == "BUNDLE" { return words.dropFirst().map(String.init) }
        }
        return nil
    }

    /// Whether the writer is an ICE-lite agent (RFC 8839 section 5.3).
    public var isICELite: Bool { attributes.contains { $0.name == "ice-lite" } }

    /// The `c=` that holds for the m-line at `index`: its own, or the session's.
    public func connection(ofMediaAt index: Int) -> Connection? {
        guard media.indices.contains(index) else { return connection }
        return media[index].connection ?? connection
    }

    /// The direction of the m-line at `index`, from its own attributes or the session's; `sendrecv` when unsaid.
    public func direction(ofMediaAt index: Int) -> MediaDirection {
        let own = media.indices.contains(index) ? media[index].direction : nil
        return own ?? MediaDirection(lastIn: attributes) ?? .sendrecv
    }
}

/// The `o=` line: who made the description, and which version of it this is.
public struct Origin: Sendable, Hashable {
    /// `-` where the writer gives no name.
    public var username: String
    /// Kept as text: the standard bounds it by no width.
    public var sessionID: String
    /// Rises by one with each changed description (RFC 3264 section 8).
    public var version: UInt64
    /// The address the description was made at; nobody needs it.
    public var address: Connection

    /// An origin of the given parts.
    public init(username: String = "-", sessionID: String, version: UInt64, address: Connection) {
        self.username = username
        self.sessionID = sessionID
        self.version = version
        self.address = address
    }
}

/// An address of a `c=` or `o=` line. It may hold a host name; nothing here looks names up.
public struct Connection: Sendable, Hashable {
    /// An IPv4 or IPv6 literal, or a host name.
    public var address: String
    /// Whether the line said `IP6`.
    public var isIPv6: Bool

    /// An address of a family that is known.
    public init(address: String, isIPv6: Bool) {
        self.address = address
        self.isIPv6 = isIPv6
    }

    /// Tells the address family by the colon that only IPv6 literals have.
    public init(address: String) {
        self.init(address: address, isIPv6: address.utf8.contains(UInt8(ascii: ":")))
    }

    /// Whether this is `0.0.0.0` or `::`, the old way to say hold (RFC 3264 section 8.4).
    public var isUnspecified: Bool {
        isIPv6 ? address.utf8.allSatisfy { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "0") } : address == "0.0.0.0"
    }
}

/// One `a=` line, split at its first colon.
public struct Attribute: Sendable, Hashable {
    /// The text before the colon.
    public var name: String
    /// The text after the colon; `nil` for a flag such as `a=rtcp-mux`.
    public var value: String?

    /// An attribute; a flag when `value` is left out.
    public init(_ name: String, _ value: String? = nil) {
        self.name = name
        self.value = value
    }

    var words: [Substring] { (value ?? "").split(separator: " ") }
}
