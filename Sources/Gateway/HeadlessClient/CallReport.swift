public import Audio
public import MediaGraph
internal import SDP

/// Why there was no call.
public enum HeadlessError: Error, Sendable, CustomStringConvertible {
    /// The WebSocket could not be opened.
    case noConnection(String)
    /// The gateway closed the WebSocket.
    case closed(String)
    /// The gateway refused the sign-in, the registration or the call.
    case refused(String)
    /// The call ended before it was answered.
    case ended(status: String, sipStatus: Int, info: String)
    /// Nobody answered in time.
    case noAnswer
    /// Nobody called in time.
    case noCall
    /// ICE or DTLS failed.
    case media(String)
    /// The gateway said something that the protocol does not allow.
    case protocolFault(String)
    /// This machine could not do its part.
    case local(String)

    /// One line for a person.
    public var description: String {
        switch self {
        case .noConnection(let words): "no connection: \(words)"
        case .closed(let words): "the gateway closed the connection: \(words)"
        case .refused(let words): "refused: \(words)"
        case .ended(let status, let sipStatus, let info): "the call ended: \(status), SIP \(sipStatus), \(info)"
        case .noAnswer: "nobody answered in time"
        case .noCall: "nobody called in time"
        case .media(let words): "no media: \(words)"
        case .protocolFault(let words): "protocol fault: \(words)"
        case .local(let words): words
        }
    }
}

/// What was seen and heard of a call.
public struct CallReport: Sendable {
    /// The rate of what was heard.
    public static let rate = SampleRate.fullBand

    /// The leg's counters at the end.
    public var figures: LegStatistics
    /// What was heard, from the moment the media was connected.
    public var heard: [Int16]
    /// From our ICE agent's start to the keys.
    public var connectMilliseconds: Int
}

/// Where the one call of a headless client stands.
struct CallProgress {
    var id = Self.freshID()
    var isBegun = false
    var wasEstablished = false
    var ourOffer: SessionDescription?
    var theirOffer: String?
    var accepted: NegotiatedClientAudio?
    var connectMilliseconds = 0

    private static func freshID() -> String {
        // The protocol wants an RFC 9562 UUID.
        let hex = { (count: Int) in (0..<count).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined() }
        return "\(hex(8))-\(hex(4))-4\(hex(3))-a\(hex(3))-\(hex(12))"
    }
}
