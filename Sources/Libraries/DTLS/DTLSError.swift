internal import COpenSSL

/// Why a handshake did not come about, with OpenSSL's code and words where it has any.
public struct DTLSError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a caller may want to tell apart.
    public enum Reason: Sendable {
        /// The peer's certificate matches none of the fingerprints in its SDP (RFC 5763 section 5).
        case fingerprintMismatch
        /// The two sides have no SRTP profile in common (RFC 5764 section 4.1).
        case noCommonProfile
        /// The peer ended the handshake with an alert, or broke the protocol.
        case handshake
        /// OpenSSL could not make what it was asked for.
        case library
    }

    /// What went wrong, in our words.
    public let reason: Reason
    /// OpenSSL's packed error code, 0 if there is none.
    public let code: UInt
    /// OpenSSL's words for the code.
    public let words: String

    init(_ reason: Reason, code: UInt = 0) {
        self.reason = reason
        self.code = code
        words = code == 0 ? "" : Self.words(for: code)
    }

    /// Takes the newest error of this thread's queue and empties the queue.
    static func fromQueue(_ reason: Reason) -> DTLSError {
        let code = ERR_peek_last_error()
        ERR_clear_error()
        return DTLSError(reason, code: UInt(code))
    }

    private static func words(for code: UInt) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            guard let base = text.baseAddress else { return "" }
            ERR_error_string_n(code, base, text.count)
            return String(cString: base)
        }
    }

    /// The reason and OpenSSL's words.
    public var description: String { words.isEmpty ? "DTLS \(reason)" : "DTLS \(reason): \(words)" }
}
