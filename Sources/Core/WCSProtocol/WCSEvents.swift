/// Which of our events a `fail` is about (wcs.md 2.3).
public enum FailedMethod: String, Sendable, CaseIterable {
    /// The session was refused.
    case connection = "ConnectionStatusEvent"
    /// The SIP registration failed or was lost.
    case registration = "RegistrationStatusEvent"
    /// Something about a call went wrong; does not end the call.
    case call = "CallStatusEvent"
    /// Something about a stream.
    case stream = "StreamStatusEvent"
    /// A SIP message was not sent.
    case message = "MessageStatusEvent"
    /// Anything else.
    case error = "ErrorStatusEvent"
}

/// Reason codes that clients compare (wcs.md 2.3); any other text may be sent as well.
public enum FailureReason {
    /// The SIP server refused the credentials.
    public static let authenticationFailed = "AUTHENTICATION_FAIL"
    /// The user is unknown or not there.
    public static let userNotAvailable = "USER_NOT_AVAILABLE"
    /// No answer to REGISTER.
    public static let registerExpired = "REGISTER_EXPIRE"
    /// Too many attempts to register.
    public static let tooManyAttempts = "TOO_MANY_REGISTER_ATTEMPTS"
    /// The SIP server's address is wrong.
    public static let wrongProvider = "WRONG_SIPPROVIDER_ADDRESS"
    /// Any other failure of SIP.
    public static let internalSIPError = "INTERNAL_SIP_ERROR"
    /// Any other failure of the connection.
    public static let connectionError = "CONNECTION_ERROR"
    /// No media port is free.
    public static let mediaPortsBusy = "MEDIA_PORTS_BUSY"
    /// A call without callee.
    public static let calleeMissing = "CALLEE_NAME_IS_NULL"
    /// The back end, or the configuration, refuses the client.
    public static let authorizationFailed = "REST_AUTHORIZATION_FAIL"
}

/// What a `fail` says.
public struct FailureEvent: Sendable, Equatable {
    /// What failed.
    public var method: FailedMethod
    /// The call or stream it is about, if any.
    public var id: String?
    /// A reason code or words.
    public var info: String

    /// An event.
    public init(method: FailedMethod, id: String? = nil, info: String) {
        self.method = method
        self.id = id
        self.info = info
    }

    init(_ fields: Fields) throws(WCSParseError) {
        method = FailedMethod(rawValue: try fields.string("apiMethod") ?? "") ?? .error
        id = try fields.filledString("id")
        info = try fields.string("info") ?? ""
    }

    var json: JSONValue {
        .members([
            "apiMethod": .string(method.rawValue), "id": .optional(id), "status": .string("FAILED"), "info": .string(info),
        ])
    }
}

/// The result of `sendData` (wcs.md 6.1). The SDK throws on any other status than these two.
public struct DataStatusEvent: Sendable, Equatable {
    /// Which `sendData`.
    public var operationID: String
    /// `ACCEPTED` or `FAILED`.
    public var isAccepted: Bool
    /// The reason of a failure; empty if none.
    public var info: String

    /// An event.
    public init(operationID: String, isAccepted: Bool, info: String = "") {
        self.operationID = operationID
        self.isAccepted = isAccepted
        self.info = info
    }

    init(_ fields: Fields) throws(WCSParseError) {
        operationID = try fields.required("operationId")
        isAccepted = try fields.string("status")?.uppercased() == "ACCEPTED"
        info = try fields.string("info") ?? ""
    }

    var json: JSONValue {
        .members([
            "operationId": .string(operationID), "status": .string(isAccepted ? "ACCEPTED" : "FAILED"),
            "info": info.isEmpty ? nil : .string(info),
        ])
    }
}

/// How far a transfer is (wcs.md 5.2).
public enum TransferStatus: String, Sendable, CaseIterable {
    /// The request has been sent.
    case pending = "PENDING"
    /// The far side tries the new party.
    case trying = "TRYING"
    /// Done.
    case completed = "COMPLETED"
    /// Refused or failed.
    case failed = "FAILED"
}

/// Progress of a transfer; only for a call that the client still has.
public struct TransferEvent: Sendable, Equatable {
    /// The call that is transferred.
    public var callID: String
    /// How far it is.
    public var status: TransferStatus
    /// Whether the SIP side asked for it.
    public var incoming: Bool
    /// The new party.
    public var target: String

    /// An event.
    public init(callID: String, status: TransferStatus, target: String, incoming: Bool = false) {
        self.callID = callID
        self.status = status
        self.incoming = incoming
        self.target = target
    }

    init(_ fields: Fields) throws(WCSParseError) {
        callID = try fields.callID()
        guard let status = TransferStatus(rawValue: try fields.required("status")) else { throw fields.bad("status") }
        self.status = status
        incoming = try fields.bool("incoming") ?? false
        target = try fields.string("target") ?? ""
    }

    var json: JSONValue {
        .object([
            "callId": .string(callID), "status": .string(status.rawValue), "incoming": .bool(incoming),
            "target": .string(target),
        ])
    }
}
