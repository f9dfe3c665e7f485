/// A call's status as clients know it (wcs.md 3.5). The Web SDK and the Android SDK act on it, whatever the message's name.
public enum CallStatus: String, Sendable, CaseIterable {
    /// Made, nothing sent yet.
    case new = "NEW"
    /// The client's own status while it waits for our first event.
    case pending = "PENDING"
    /// Our immediate answer to `call`.
    case trying = "TRYING"
    /// The far side rings, no media yet.
    case ring = "RING"
    /// The far side rings with early media.
    case ringMedia = "RING_MEDIA"
    /// SIP 183 without a description.
    case sessionProgress = "SESSION_PROGRESS"
    /// Answered.
    case established = "ESTABLISHED"
    /// On hold by the client.
    case hold = "HOLD"
    /// Ended in the ordinary way.
    case finish = "FINISH"
    /// The far side is busy.
    case busy = "BUSY"
    /// Failed.
    case failed = "FAILED"

    /// Whether the client forgets the call after this status.
    public var isFinal: Bool { self == .finish || self == .busy || self == .failed }
}

/// Where one of our calls is, as far as this protocol tells states apart.
public enum CallPhase: Sendable, Equatable, CaseIterable {
    /// `call` has been received.
    case trying
    /// The far side rings.
    case ringing
    /// 183 without a description; an optional event.
    case progressing
    /// Early media flow.
    case earlyMedia
    /// Answered, or taken off hold.
    case established
    /// On hold by the client.
    case held
    /// Ended in the ordinary way: hang-up, cancel, ring timeout.
    case ended
    /// Ended because the far side is busy.
    case endedBusy
    /// Ended by a failure.
    case endedFailed

    /// The status that goes into the call object (table of wcs.md 3.3).
    public var status: CallStatus {
        switch self {
        case .trying: .trying
        case .ringing: .ring
        case .progressing: .sessionProgress
        case .earlyMedia: .ringMedia
        case .established: .established
        case .held: .hold
        case .ended: .finish
        case .endedBusy: .busy
        case .endedFailed: .failed
        }
    }
}

/// The words that clients know as reasons of a final event (wcs.md 3.3); any other text may be sent as well.
public enum CallInfo {
    /// An ordinary end.
    public static let normalClearing = "Normal call clearing"
    /// The call could not be set up.
    public static let sessionCreation = "Failed by session creation"
    /// No path to the client was found, or it was lost.
    public static let iceError = "Failed by ICE error"
    /// No media came for too long.
    public static let rtpActivity = "Failed by RTP activity"
    /// The client's certificate is not the one its description names.
    public static let dtlsFingerprint = "Failed by DTLS fingerprint error"
    /// The DTLS handshake failed.
    public static let dtlsError = "Failed by DTLS error"
    /// The sides have no codec in common.
    public static let noCommonCodecs = "No common codecs"
    /// Any other failure.
    public static let error = "Failed by error"
    /// The far side did not answer a request in time.
    public static let requestTimeout = "Failed by request timeout"
}
