/// A call to make.
public struct OutgoingCall: Sendable, Hashable {
    /// The Request-URI.
    public var target: SIPAddress
    /// The To header, when it is not the target.
    public var to: SIPAddress?
    /// The caller.
    public var from: SIPAddress
    /// The user part of our Contact.
    public var contactUser: String?
    /// Where the request goes instead of the target's host.
    public var proxy: SIPAddress?
    /// For digest challenges.
    public var credentials: SIPCredentials?
    /// The offer; without it the peer makes one (late offer).
    public var sdp: String?
    /// Further header lines.
    public var headers: [SIPHeader]
    /// How long it may ring, in seconds, before it is cancelled.
    public var ringLimit: UInt32

    /// A call with the usual values.
    public init(
        target: SIPAddress, to: SIPAddress? = nil, from: SIPAddress, contactUser: String? = nil, proxy: SIPAddress? = nil,
        credentials: SIPCredentials? = nil, sdp: String?, headers: [SIPHeader] = [], ringLimit: UInt32 = 180
    ) {
        self.target = target
        self.to = to
        self.from = from
        self.contactUser = contactUser
        self.proxy = proxy
        self.credentials = credentials
        self.sdp = sdp
        self.headers = headers
        self.ringLimit = ringLimit
    }
}

/// What happens in a dialog. ``DialogEvent/ended(_:)`` comes exactly once and last.
public enum DialogEvent: Sendable, Hashable {
    /// Our INVITE got a 101...199; with a description it is early media.
    case provisional(SIPStatus, sdp: String?)
    /// Our INVITE was answered; the ACK has gone out.
    case answered(SIPMessage)
    /// The ACK to our 200 has come: the call is up.
    case confirmed
    /// Our 200 carried an offer, and this is the answer from the ACK; `nil` when it had none (LO-2).
    case lateAnswer(sdp: String?)
    /// A re-INVITE or UPDATE; `nil` asks for our offer. Answer with ``Dialog/acceptOffer(sdp:)`` or
    /// ``Dialog/refuseOffer(_:_:)``.
    case offered(sdp: String?)
    /// The answer to our re-INVITE.
    case reofferAnswered(sdp: String?)
    /// Our re-INVITE was refused; the call goes on as it was.
    case reofferRefused(SIPStatus)
    /// A key in an INFO request; it has been answered.
    case digit(InfoDigit)
    /// The result of our own INFO.
    case infoAnswered(SIPStatus)
    /// The dialog is over.
    case ended(DialogEnd)
}

/// How a dialog ended.
public enum DialogEnd: Sendable, Hashable {
    /// Our INVITE was refused, or nobody answered it (408).
    case refused(SIPStatus, reason: SIPReason?, retryAfter: Int?)
    /// We took our INVITE back.
    case cancelled
    /// The caller took its INVITE back.
    case cancelledByPeer(SIPReason?)
    /// We refused the call.
    case rejected(SIPStatus)
    /// We hung up.
    case hungUp
    /// The peer hung up.
    case hungUpByPeer(SIPReason?)
    /// It broke: no ACK, a refresh without answer, the user agent shut down.
    case lost(SIPStatus)
}
