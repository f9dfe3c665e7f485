/// Why a call ended, in the gateway's own words. Each face maps it onto its vocabulary in one table.
public enum HangupCause: String, Error, Hashable, Sendable, CaseIterable {
    /// Either side hung up an answered call.
    case normal
    /// The caller gave up before the answer.
    case cancelled
    /// The callee is busy.
    case busy
    /// The callee said no.
    case declined
    /// It rang and nobody answered in time.
    case noAnswer
    /// No such number or user.
    case notFound
    /// The callee is known and cannot be reached now.
    case unavailable
    /// The trunk or a rule forbids the call.
    case forbidden
    /// The trunk refused the account's credentials.
    case credentialsRefused
    /// The dialled text is no number, user or SIP address.
    case invalidNumber
    /// No answer at all from the trunk.
    case trunkTimeout
    /// The trunk could not be reached, or failed.
    case trunkFailure
    /// Both sides have no codec in common.
    case noCommonCodec
    /// A session description cannot be read, or lacks what a call needs: audio, an address, credentials, a fingerprint.
    case unusableDescription
    /// No ICE check of the client arrived in time, or the path was lost.
    case iceFailure
    /// The DTLS handshake failed or its certificate is not the one described.
    case dtlsFailure
    /// A side that should send media went silent for too long.
    case mediaTimeout
    /// The gateway has no room: calls, ports.
    case overload
    /// The client's session is gone.
    case sessionLost
    /// The call lasted as long as the configuration allows.
    case durationLimit
    /// The gateway is shutting down.
    case shutdown
    /// A fault of the gateway itself.
    case internalError
}

extension HangupCause {
    /// One sentence for a person.
    public var sentence: String {
        switch self {
        case .normal: "Normal call clearing"
        case .cancelled: "The caller gave up"
        case .busy: "The other side is busy"
        case .declined: "The other side declined the call"
        case .noAnswer: "Nobody answered"
        case .notFound: "The number does not exist"
        case .unavailable: "The other side cannot be reached"
        case .forbidden: "The call is not allowed"
        case .credentialsRefused: "The trunk refused the credentials"
        case .invalidNumber: "That is not a number that can be dialled"
        case .trunkTimeout: "The trunk does not answer"
        case .trunkFailure: "The trunk failed"
        case .noCommonCodec: "The two sides have no codec in common"
        case .unusableDescription: "The session description cannot be used"
        case .iceFailure: "The way to the client was not found, or lost"
        case .dtlsFailure: "The client's media could not be secured"
        case .mediaTimeout: "The media fell silent"
        case .overload: "The gateway is full"
        case .sessionLost: "The client's session is gone"
        case .durationLimit: "The call reached its longest duration"
        case .shutdown: "The gateway is shutting down"
        case .internalError: "The gateway failed"
        }
    }
}
