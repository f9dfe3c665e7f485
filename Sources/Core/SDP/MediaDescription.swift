/// One m-line with the lines that belong to it (RFC 8866 section 5.14).
public struct MediaDescription: Sendable, Hashable {
    /// `audio`, `video`, `application` and so on.
    public var kind: String
    /// 0 says that the m-line is refused or ended (RFC 3264 section 6).
    public var port: UInt16
    /// The profile, for example `RTP/AVP` or `UDP/TLS/RTP/SAVPF`.
    public var profile: String
    /// The formats in order of preference; payload type numbers for the RTP profiles.
    public var formats: [String]
    /// The `c=` line of this m-line itself; see ``SessionDescription/connection(ofMediaAt:)``.
    public var connection: Connection?
    /// The `a=` lines of this m-line.
    public var attributes: [Attribute]

    /// An m-line of the given parts.
    public init(
        kind: String, port: UInt16, profile: String, formats: [String], connection: Connection? = nil,
        attributes: [Attribute] = []
    ) {
        self.kind = kind
        self.port = port
        self.profile = profile
        self.formats = formats
        self.connection = connection
        self.attributes = attributes
    }

    /// The value of the first attribute of that name.
    public func value(of name: String) -> String? {
        attributes.first { $0.name == name }?.value
    }

    /// The values of all attributes of that name, in order.
    public func values(of name: String) -> [String] {
        attributes.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Whether there is an attribute of that name, with or without a value.
    public func has(_ name: String) -> Bool {
        attributes.contains { $0.name == name }
    }

    /// The payload types of the m-line in order, without repeats; formats that are no number of 0...127 are left out.
    public var payloadTypes: [UInt8] {
        var seen: Set<UInt8> = []
        return formats.compactMap { format in
            guard let number = UInt8(format), number < 128, seen.insert(number).inserted else { return nil }
            return number
        }
    }

    /// What a payload type means: by its rtpmap line, or by number alone for the static ones (RFC 3551 section 6).
    ///
    /// - Returns: `nil` for a dynamic number without rtpmap, and for one whose rtpmap is absurd (a clock of 0).
    public func rtpMap(for payloadType: UInt8) -> RTPMap? {
        for value in values(of: "rtpmap") where RTPMap.number(in: value) == payloadType {
            return RTPMap(parsing: value)
        }
        return RTPMap.staticMap(for: payloadType)
    }

    /// The format parameters written for a payload type; lines for numbers outside the m-line are never asked for.
    public func formatParameters(for payloadType: UInt8) -> FormatParameters? {
        for value in values(of: "fmtp") where RTPMap.number(in: value) == payloadType {
            let parts = value.split(separator: " ", maxSplits: 1)
            return FormatParameters(parts.count > 1 ? String(parts[1]) : "")
        }
        return nil
    }

    /// `a=ptime` in whole milliseconds; `nil` when missing or outside 1...200, as an absurd one says nothing.
    public var packetTime: Int? { milliseconds("ptime") }

    /// `a=maxptime` in whole milliseconds, under the rule of ``packetTime``.
    public var maximumPacketTime: Int? { milliseconds("maxptime") }

    private func milliseconds(_ name: String) -> Int? {
        // Some peers write "20.0"; the whole part is meant.
        guard let value = value(of: name), let whole = value.split(separator: ".").first else { return nil }
        guard let number = Int(whole.trimmed), (1...200).contains(number) else { return nil }
        return number
    }

    /// The direction written at this m-line; `nil` when it has none of its own.
    public var direction: MediaDirection? { MediaDirection(lastIn: attributes) }

    /// The identification (RFC 5888).
    public var mid: String? { value(of: "mid") }
    /// Whether RTP and RTCP may share the port (RFC 5761).
    public var hasRTCPMux: Bool { has("rtcp-mux") || has("rtcp-mux-only") }

    /// `a=rtcp` (RFC 3605): the port, and the address when it differs from the m-line's.
    public var rtcp: (port: UInt16, connection: Connection?)? {
        guard let words = attributes.first(where: { $0.name == "rtcp" })?.words, let first = words.first,
            let port = UInt16(first)
        else { return nil }
        guard words.count >= 4 else { return (port, nil) }
        return (port, Connection(address: String(words[3]), isIPv6: words[2] == "IP6"))
    }

    /// The candidates (RFC 8839) as written, without `candidate:` in front.
    public var candidates: [String] { values(of: "candidate") }

    /// The SSRCs announced by `a=ssrc` lines (RFC 5576), in order, without repeats.
    public var ssrcs: [UInt32] {
        var seen: Set<UInt32> = []
        return attributes.compactMap { attribute in
            guard attribute.name == "ssrc", let word = attribute.words.first, let ssrc = UInt32(word),
                seen.insert(ssrc).inserted
            else { return nil }
            return ssrc
        }
    }

    /// `a=msid` (RFC 8830): stream and track identifiers.
    public var msid: String? { value(of: "msid") }
}

extension Substring {
    /// Without blanks at either end.
    var trimmed: Substring {
        var rest = self
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
