internal import CallModel
internal import SIPStack
internal import Switchboard

extension HangupCause {
    /// The cause of a call that the trunk refused: its Q.850 reason first, for it knows more than the status (section 10).
    init(sipStatus: Int, reason: SIPReason?) {
        if reason?.protocol == "Q.850", let cause = reason?.cause, let known = Self.byQ850[cause] {
            self = known
            return
        }
        switch sipStatus {
        case 486, 600: self = .busy
        case 603, 607, 608: self = .declined
        case 401, 407: self = .credentialsRefused
        case 403, 402, 405: self = .forbidden
        case 404, 410, 485, 604: self = .notFound
        case 484, 414, 416: self = .invalidNumber
        case 480: self = .unavailable
        case 408, 504: self = .trunkTimeout
        case 487: self = .cancelled
        case 406, 415, 488, 606: self = .noCommonCodec
        default: self = .trunkFailure
        }
    }

    private static let byQ850: [Int: HangupCause] = [
        1: .notFound, 2: .notFound, 3: .notFound, 17: .busy, 18: .noAnswer, 19: .noAnswer, 20: .unavailable, 21: .declined,
        22: .notFound, 26: .notFound, 27: .unavailable, 28: .invalidNumber, 31: .unavailable, 55: .forbidden,
        57: .forbidden, 87: .forbidden, 65: .noCommonCodec, 70: .noCommonCodec,
    ]

    /// The final status with which a call from the trunk is refused (CAU-4).
    var rejection: (Int, String) {
        switch self {
        case .busy: (486, "Busy Here")
        case .declined: (603, "Decline")
        case .notFound, .invalidNumber: (404, "Not Found")
        case .noCommonCodec, .unusableDescription: (488, "Not Acceptable Here")
        case .forbidden, .credentialsRefused: (403, "Forbidden")
        case .overload, .shutdown: (503, "Service Unavailable")
        case .internalError: (500, "Server Internal Error")
        case .normal, .cancelled, .noAnswer, .unavailable, .trunkTimeout, .trunkFailure, .iceFailure, .dtlsFailure,
            .mediaTimeout, .sessionLost, .durationLimit:
            (480, "Temporarily Unavailable")
        }
    }

    /// The Q.850 cause that goes with an end of ours (CAU-2).
    var q850: Int {
        switch self {
        case .normal, .cancelled, .durationLimit: 16
        case .busy: 17
        case .noAnswer: 19
        case .declined: 21
        case .notFound: 1
        case .invalidNumber: 28
        case .unavailable, .sessionLost: 20
        case .forbidden, .credentialsRefused: 57
        case .noCommonCodec, .unusableDescription: 88
        case .trunkTimeout: 102
        case .trunkFailure, .iceFailure, .dtlsFailure, .mediaTimeout, .overload, .shutdown, .internalError: 41
        }
    }

    /// The value of a Reason header (RFC 3326).
    var q850Reason: String { "Q.850;cause=\(q850);text=\"\(sentence)\"" }
}

extension TrunkArrival {
    init(_ invitation: SIPMessage) {
        let hidden = invitation.wantsPrivacy || invitation.from.user.lowercased() == "anonymous"
        self.init(
            requestUser: invitation.requestURI?.user ?? invitation.to.user, calledUser: invitation.to.user,
            caller: hidden || invitation.from.user.isEmpty ? "anonymous" : invitation.from.user,
            displayName: hidden ? "" : invitation.from.displayName ?? "", offer: invitation.sdp)
    }
}

extension ClientAccount {
    var addressOfRecord: SIPAddress {
        var address = SIPAddress(hostAndPort: domain)
        address.user = user
        if address.port == nil, port != 5060, outboundProxy == nil { address.port = UInt16(clamping: port) }
        return address
    }

    var credentials: SIPCredentials? {
        password.isEmpty ? nil : SIPCredentials(user: authenticationName, password: password)
    }

    var proxyAddress: SIPAddress? {
        guard let outboundProxy else { return nil }
        var address = SIPAddress(hostAndPort: outboundProxy)
        if address.port == nil, port != 5060 { address.port = UInt16(clamping: port) }
        return address
    }
}

extension SIPAddress {
    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`.
    init(hostAndPort text: String) {
        var host = text
        var port: UInt16?
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]"),
            text.hasPrefix("[") || text.firstIndex(of: ":") == colon
        {
            host = String(text[..<colon])
            port = UInt16(text[text.index(after: colon)...])
        } else if text.contains(":"), !text.hasPrefix("[") {
            host = "[\(text)]"
        }
        self.init(user: "", host: host, port: port)
    }

    var withoutUser: SIPAddress { SIPAddress(user: "", host: host, port: port) }
}

/// What a client's invitation parameters may hold.
enum InviteToken {
    private static let reserved: Set<String> = ["lr", "maddr", "transport", "user", "method", "ttl", "comp", "ob", "gr"]

    /// Names of RFC 3261 tokens, shortened to what no proxy could read otherwise.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || isLetter($0) || $0 == 0x2D || $0 == 0x5F }
    }

    /// Parameters that would change where a request goes.
    static func isReservedParameter(_ name: String) -> Bool { reserved.contains(name.lowercased()) }

    static func isParameterValue(_ text: String) -> Bool {
        text.utf8.count <= 256
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || isLetter(byte) || "-_.!~*'()+$/".utf8.contains(byte)
            }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
}
