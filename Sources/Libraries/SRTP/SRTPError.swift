internal import CSRTP

/// Why a packet was not protected or opened. A small plain value: throwing it on a lane allocates nothing.
public struct SRTPError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller may want to tell apart.
    public enum Reason: Sendable {
        /// The tag does not fit: forged, damaged, or another key (RFC 3711 section 3.3).
        case authentication
        /// Seen before, or older than the replay window.
        case replay
        /// Not an RTP or RTCP packet, or cut short.
        case malformed
        /// The caller's buffer has no room for the tag.
        case noRoom
        /// The key or salt has the wrong length for the profile.
        case keyLength
        /// Good, but of one source more than a peer may have.
        case tooManySources
        /// The key has protected as many packets as it may.
        case keyExpired
        /// Anything else; see the code.
        case library
    }

    /// What went wrong, in our words.
    public let reason: Reason
    /// libsrtp's `srtp_err_status_t`; 0 where libsrtp was not asked.
    public let code: UInt32

    init(_ reason: Reason) {
        self.reason = reason
        code = 0
    }

    init(libraryStatus status: UInt32) {
        code = status
        reason =
            switch srtp_err_status_t(rawValue: status) {
            case srtp_err_status_auth_fail, srtp_err_status_cipher_fail: .authentication
            case srtp_err_status_replay_fail, srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: .replay
            case srtp_err_status_bad_param, srtp_err_status_parse_err: .malformed
            case srtp_err_status_key_expired: .keyExpired
            default: .library
            }
    }

    static func check(_ status: srtp_err_status_t) throws(SRTPError) {
        guard status == srtp_err_status_ok else { throw SRTPError(libraryStatus: status.rawValue) }
    }

    /// The reason and libsrtp's code (its library has no words of its own).
    public var description: String { "SRTP \(reason) (libsrtp status \(code))" }
}
