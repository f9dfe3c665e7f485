/// The call object that every event of a call carries, always complete and without nulls (wcs.md 3.5).
public struct CallObject: Sendable, Equatable {
    /// The call's identifier; of our own calls an RFC 4122 UUID in text, because the iOS SDK parses it.
    public var callID: String
    /// The status that clients act on.
    public var status: CallStatus
    /// Whether the call comes from the SIP side.
    public var incoming: Bool
    /// Who calls: of an incoming call the remote party.
    public var caller: String
    /// Who is called: of an incoming call the client's own login.
    public var callee: String
    /// The caller's display name.
    public var visibleName: String
    /// Whether the call has audio.
    public var hasAudio: Bool
    /// Whether the call has video; never, here.
    public var hasVideo: Bool
    /// `WebRTC`.
    public var mediaProvider: String
    /// The last SIP status code; 0 if there was none.
    public var sipStatus: Int
    /// The reason of a final event; empty if none.
    public var info: String
    /// The call that this one replaces after a transfer.
    public var parentCallID: String?
    /// The application's own data of the call.
    public var custom: JSONValue
    /// Parameters of the INVITE, as the client gave them.
    public var inviteParameters: [String: String]

    /// A call object.
    public init(
        callID: String, status: CallStatus, incoming: Bool, caller: String, callee: String, visibleName: String? = nil,
        sipStatus: Int = 0, info: String = "", custom: JSONValue = .emptyObject, inviteParameters: [String: String] = [:]
    ) {
        self.callID = callID
        self.status = status
        self.incoming = incoming
        self.caller = caller
        self.callee = callee
        self.visibleName = visibleName ?? caller
        hasAudio = true
        hasVideo = false
        mediaProvider = "WebRTC"
        self.sipStatus = sipStatus
        self.info = info
        self.custom = custom
        self.inviteParameters = inviteParameters
    }

    init(_ fields: Fields) throws(WCSParseError) {
        callID = try fields.callID()
        guard let status = CallStatus(rawValue: try fields.required("status")) else { throw fields.bad("status") }
        self.status = status
        incoming = try fields.bool("incoming") ?? false
        caller = try fields.string("caller") ?? ""
        callee = try fields.string("callee") ?? ""
        visibleName = try fields.string("visibleName") ?? ""
        hasAudio = try fields.bool("hasAudio") ?? false
        hasVideo = try fields.bool("hasVideo") ?? false
        mediaProvider = try fields.string("mediaProvider") ?? ""
        sipStatus = try fields.integer("sipStatus") ?? 0
        info = try fields.string("info") ?? ""
        parentCallID = try fields.filledString("parentCallId")
        custom = fields.object("custom")
        inviteParameters = fields.stringMap("inviteParameters")
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "callId": .string(callID), "status": .string(status.rawValue), "incoming": .bool(incoming),
            "caller": .string(caller), "callee": .string(callee), "visibleName": .string(visibleName),
            "hasAudio": .bool(hasAudio), "hasVideo": .bool(hasVideo), "mediaProvider": .string(mediaProvider),
            "sipStatus": .number(Double(sipStatus)), "isMsrp": .bool(false), "custom": custom.withoutNulls,
            "inviteParameters": .stringMap(inviteParameters),
        ]
        if !info.isEmpty { members["info"] = .string(info) }
        members["parentCallId"] = .optional(parentCallID)
        return .object(members)
    }
}
