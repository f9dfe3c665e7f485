internal import CSRTP

/// A protection profile, by its number in the DTLS-SRTP registry (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
public enum SRTPProfile: UInt16, Sendable, CaseIterable {
    /// SRTP_AES128_CM_HMAC_SHA1_80, the profile that every peer has; its tag is 10 bytes.
    case aes128CmHmacSha1 = 0x0001
    /// SRTP_AEAD_AES_128_GCM, the cheapest on processors with AES instructions.
    case aeadAes128Gcm = 0x0007
    /// SRTP_AEAD_AES_256_GCM.
    case aeadAes256Gcm = 0x0008

    /// Bytes of the master key.
    public var keyLength: Int { self == .aeadAes256Gcm ? 32 : 16 }
    /// Bytes of the master salt.
    public var saltLength: Int { self == .aes128CmHmacSha1 ? 14 : 12 }
    /// Bytes that protecting an RTP packet adds.
    public var rtpOverhead: Int { self == .aes128CmHmacSha1 ? 10 : 16 }
    /// Bytes that protecting an RTCP packet adds: the tag and the index word.
    public var rtcpOverhead: Int { rtpOverhead + 4 }
    /// The most that any profile adds to any packet.
    public static let maximumOverhead = 20

    var libraryProfile: Int32 { Int32(rawValue) }
}

/// One direction's master key and salt. Its description tells no bytes.
public struct SRTPKeyMaterial: Sendable, Equatable, CustomStringConvertible {
    /// What the key is for.
    public let profile: SRTPProfile
    /// The master key, `profile.keyLength` bytes.
    public let key: [UInt8]
    /// The master salt, `profile.saltLength` bytes.
    public let salt: [UInt8]

    /// Checks the lengths (``SRTPError/Reason/keyLength``).
    public init(profile: SRTPProfile, key: [UInt8], salt: [UInt8]) throws(SRTPError) {
        guard key.count == profile.keyLength, salt.count == profile.saltLength else { throw SRTPError(.keyLength) }
        self.profile = profile
        self.key = key
        self.salt = salt
    }

    /// The profile only.
    public var description: String { "SRTPKeyMaterial(\(profile), redacted)" }
}

/// Both directions of one leg, as seen from this side.
public struct SRTPKeys: Sendable, Equatable {
    /// What protects what we send.
    public let send: SRTPKeyMaterial
    /// What opens what we receive.
    public let receive: SRTPKeyMaterial

    /// Joins the two directions.
    public init(send: SRTPKeyMaterial, receive: SRTPKeyMaterial) {
        self.send = send
        self.receive = receive
    }

    /// The profile; DTLS-SRTP gives both directions the same.
    public var profile: SRTPProfile { send.profile }
}
