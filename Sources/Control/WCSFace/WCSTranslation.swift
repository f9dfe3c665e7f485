internal import CallModel
internal import Switchboard
internal import WCSProtocol

/// What a client attached to its call and gets back with every event.
struct CallExtras {
    var custom: JSONValue
    var inviteParameters: [String: String]

    init(_ request: CallRequest) {
        custom = request.custom
        inviteParameters = request.inviteParameters
    }
}

extension CallObject {
    /// The complete object that goes with an event: clients replace theirs by it.
    init(_ call: CallSnapshot, _ extras: CallExtras?, _ notice: ClientNotice) {
        var status = call.sipStatus
        var info = ""
        switch notice {
        case .trying: status = 100
        case .ringing, .incoming: status = 180
        case .earlyMedia: status = 183
        case .talking, .held: status = 200
        case .description: break
        case .finished(let cause):
            info = cause.wcsInfo
            if status < 300 { status = cause.wcsStatusCode }
        }
        self.init(
            callID: call.id.rawValue, status: .new, incoming: call.direction == .incoming, caller: call.caller,
            callee: call.callee, visibleName: call.visibleName, sipStatus: status, info: info,
            custom: extras?.custom ?? .emptyObject, inviteParameters: extras?.inviteParameters ?? [:])
    }
}

extension HangupCause {
    /// The final status of a call in the client's words: finished, busy or failed (section 3.3).
    func wcsPhase(_ direction: CallDirection) -> CallPhase {
        switch self {
        case .normal, .cancelled, .durationLimit: .ended
        case .busy: direction == .outgoing ? .endedBusy : .ended
        // Our client's own "no", and a caller that nobody answered, are no failures.
        case .declined, .noAnswer: direction == .incoming ? .ended : .endedFailed
        case .notFound, .unavailable, .forbidden, .credentialsRefused, .invalidNumber, .trunkTimeout, .trunkFailure,
            .noCommonCodec, .unusableDescription, .iceFailure, .dtlsFailure, .mediaTimeout, .overload, .sessionLost,
            .shutdown, .internalError:
            .endedFailed
        }
    }

    /// The reason in the words that the SDKs compare with, where there are such words (section 3.3).
    var wcsInfo: String {
        switch self {
        case .normal: CallInfo.normalClearing
        case .trunkTimeout: CallInfo.requestTimeout
        case .noCommonCodec: CallInfo.noCommonCodecs
        case .iceFailure: CallInfo.iceError
        case .dtlsFailure: CallInfo.dtlsError
        case .mediaTimeout: CallInfo.rtpActivity
        case .internalError: CallInfo.error
        default: sentence
        }
    }

    /// The SIP status that a client is shown where the trunk gave none.
    var wcsStatusCode: Int {
        switch self {
        case .normal, .durationLimit: 200
        case .cancelled: 487
        case .busy: 486
        case .declined: 603
        case .noAnswer, .trunkTimeout, .mediaTimeout, .iceFailure, .dtlsFailure: 408
        case .notFound: 404
        case .unavailable: 480
        case .forbidden, .credentialsRefused: 403
        case .invalidNumber: 484
        case .noCommonCodec, .unusableDescription: 488
        case .trunkFailure, .internalError: 500
        case .overload, .shutdown, .sessionLost: 503
        }
    }
}

extension KeyMethod {
    init(_ method: DTMFMethod) {
        switch method {
        case .rfc2833: self = .telephoneEvent
        case .info: self = .info
        case .infoRelay: self = .infoRelay
        }
    }
}

extension ClientAccount {
    /// A client's account, if its parts can stand in SIP addresses; nil if one could add to a request.
    init?(_ account: WCSAccount) {
        guard let address = DialledTarget("\(account.login)@\(account.domain)"), let domain = address.host else {
            return nil
        }
        guard let proxy = DialledTarget("x@\(account.outboundProxy)")?.host else { return nil }
        let printable = { (text: String) in text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        guard printable(account.visibleName), printable(account.contactParameters), printable(account.authenticationName)
        else { return nil }
        // The digest joins name, realm and password by colons (RFC 7616 section 3.4.2).
        guard !account.authenticationName.contains(":") else { return nil }
        self.init(
            user: address.user, authenticationName: account.authenticationName, password: account.password, domain: domain,
            outboundProxy: proxy == domain ? nil : proxy, port: Int(account.port),
            displayName: account.visibleName.isEmpty ? nil : account.visibleName, registers: account.registerRequired,
            contactParameters: account.contactParameters.isEmpty ? nil : account.contactParameters)
    }
}

/// The reason code of a refused registration, as the SDKs know it (section 2.3).
func registrationFailureInfo(status: Int) -> String {
    switch status {
    case 401, 403, 407: FailureReason.authenticationFailed
    case 404, 480: FailureReason.userNotAvailable
    case 0, 408, 504: FailureReason.registerExpired
    case 503: FailureReason.wrongProvider
    default: FailureReason.internalSIPError
    }
}
