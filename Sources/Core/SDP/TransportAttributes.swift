/// Who sends on an m-line (RFC 8866 section 6.7), seen by the writer of the line.
public enum MediaDirection: String, Sendable, Hashable, CaseIterable {
    case sendrecv, sendonly, recvonly, inactive

    /// The direction in which the writer sends and receives as told.
    public init(sends: Bool, receives: Bool) {
        switch (sends, receives) {
        case (true, true): self = .sendrecv
        case (true, false): self = .sendonly
        case (false, true): self = .recvonly
        case (false, false): self = .inactive
        }
    }

    /// Whether the writer of the line sends.
    public var sends: Bool { self == .sendrecv || self == .sendonly }
    /// Whether the writer of the line receives.
    public var receives: Bool { self == .sendrecv || self == .recvonly }

    /// The same state seen by the other side.
    public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }

    /// What both this and `other`, seen from the same side, allow.
    public func limited(to other: MediaDirection) -> MediaDirection {
        MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
    }

    init?(lastIn attributes: [Attribute]) {
        guard let found = attributes.last(where: { MediaDirection(rawValue: $0.name) != nil }) else { return nil }
        self.init(rawValue: found.name)
    }
}

/// The DTLS role of an `a=setup` line (RFC 5763 section 5).
public enum DTLSSetup: String, Sendable, Hashable {
    case active, passive, actpass, holdconn
}

/// A certificate fingerprint (RFC 8122), compared as bytes.
public struct Fingerprint: Sendable, Hashable {
    /// The hash function in lower case, for example `sha-256`.
    public var algorithm: String
    /// The hash; 32 bytes for SHA-256.
    public var bytes: [UInt8]

    /// A fingerprint of a hash that is known.
    public init(algorithm: String, bytes: [UInt8]) {
        self.algorithm = algorithm.lowercased()
        self.bytes = bytes
    }

    /// Reads `sha-256 AB:CD:...`; `nil` when it is malformed or a SHA-256 of the wrong length.
    public init?(parsing value: String) {
        let words = value.split(separator: " ")
        guard words.count == 2 else { return nil }
        var bytes: [UInt8] = []
        for pair in words[1].split(separator: ":", omittingEmptySubsequences: false) {
            // A sign is a number's to Swift, not a fingerprint's.
            guard pair.utf8.count == 2, pair.utf8.first != UInt8(ascii: "+"), let byte = UInt8(pair, radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        self.init(algorithm: String(words[0]), bytes: bytes)
        if algorithm == "sha-256" && bytes.count != 32 { return nil }
    }

    /// The value of the line: colon-separated hexadecimal in upper case.
    public var text: String {
        let digits = bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return algorithm + " " + digits.joined(separator: ":")
    }
}

/// The ICE and DTLS values of one m-line, those of the session level filled in.
struct TransportAttributes {
    var iceUfrag: String?
    var icePwd: String?
    var fingerprints: [Fingerprint]
    var setup: DTLSSetup?

    init(of media: MediaDescription, in session: SessionDescription) {
        func first(_ name: String) -> String? {
            media.value(of: name) ?? session.attributes.first { $0.name == name }?.value
        }
        iceUfrag = first("ice-ufrag")
        icePwd = first("ice-pwd")
        setup = first("setup").flatMap { DTLSSetup(rawValue: $0.lowercased()) }
        let own = media.values(of: "fingerprint")
        let written = own.isEmpty ? session.attributes.compactMap { $0.name == "fingerprint" ? $0.value : nil } : own
        fingerprints = written.compactMap { Fingerprint(parsing: $0) }
    }
}
