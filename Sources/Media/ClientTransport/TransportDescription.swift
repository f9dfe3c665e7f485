public import DTLS
public import ICE

/// The value of an `a=setup` line (RFC 4145, RFC 5763 section 5).
public enum TransportSetup: String, Sendable {
    case actpass
    case active
    case passive

    /// Parses the attribute's value; anything unknown (and a missing line) is nil.
    public init?(sdp value: String?) {
        guard let value else { return nil }
        self.init(rawValue: value.trimmingSpaces().lowercased())
    }

    /// What an answerer says to an offer (H44): active wherever the offer leaves the choice, for the answerer can begin at
    /// once.
    public static func answer(toOffer offer: TransportSetup?) -> TransportSetup {
        offer == .active ? .passive : .active
    }
}

/// This side's lines for the SDP.
public struct LocalTransportDescription: Sendable, Equatable {
    /// `a=ice-ufrag`
    public let iceUfrag: String
    /// `a=ice-pwd`
    public let icePwd: String
    /// `a=candidate`, each by its `description`; no more will come.
    public let candidates: [ICECandidate]
    /// `a=fingerprint`
    public let fingerprint: DTLSFingerprint
    /// `a=setup`: actpass in an offer. In an answer it follows the offer, if `setRemote` came first; else it is active. In an
    /// answer to a re-offer it is the role as it stands.
    public let setup: TransportSetup
}

/// The remote side's lines of the SDP.
public struct RemoteTransportDescription: Sendable, Equatable {
    /// `a=ice-ufrag`
    public var iceUfrag: String
    /// `a=ice-pwd`
    public var icePwd: String
    /// `a=candidate`; may be empty, and those that cannot be used are skipped.
    public var candidates: [ICECandidate]
    /// `a=fingerprint`; the certificate must match one of them.
    public var fingerprints: [DTLSFingerprint]
    /// `a=setup`; nil if the line is missing.
    public var setup: TransportSetup?

    /// A description by its parts.
    public init(
        iceUfrag: String, icePwd: String, candidates: [ICECandidate] = [], fingerprints: [DTLSFingerprint],
        setup: TransportSetup?
    ) {
        self.iceUfrag = iceUfrag
        self.icePwd = icePwd
        self.candidates = candidates
        self.fingerprints = fingerprints
        self.setup = setup
    }

    /// A description from the attributes' values as text: "candidate:..." lines and "sha-256 AA:BB..." values. Broken ones are
    /// skipped singly.
    public init(
        iceUfrag: String, icePwd: String, candidateLines: [String], fingerprintValues: [String], setupValue: String?
    ) {
        self.init(
            iceUfrag: iceUfrag, icePwd: icePwd, candidates: candidateLines.compactMap { ICECandidate(sdp: $0) },
            fingerprints: fingerprintValues.compactMap { DTLSFingerprint(sdp: $0) }, setup: TransportSetup(sdp: setupValue))
    }
}

extension String {
    fileprivate func trimmingSpaces() -> String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
