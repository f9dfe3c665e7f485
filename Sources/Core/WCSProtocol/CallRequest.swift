/// A client wants to call (wcs.md 3.1).
public struct CallRequest: Sendable, Equatable {
    /// The call's identifier, chosen by the client.
    public var callID: String
    /// Whom to call: a user part, a number or a SIP URI; empty if the client left it out.
    public var callee: String
    /// The client's own idea of who calls; empty if unknown.
    public var caller: String
    /// The display name for the From header; empty if none.
    public var visibleName: String
    /// The client's offer (SDP); empty if it left it out.
    public var sdp: String
    /// Whether the client has a microphone track.
    public var hasAudio: Bool
    /// Whether the client has a camera track.
    public var hasVideo: Bool
    /// Whether the client asks for MSRP, which is refused.
    public var isMSRP: Bool
    /// The application's own data.
    public var custom: JSONValue
    /// Extra lines for the SIP side's description.
    public var sipSDP: [String]
    /// Parameters or headers for the INVITE, as the configuration says.
    public var inviteParameters: [String: String]
    /// Extra header lines, `Name: value`.
    public var sipHeaders: [String]

    /// A request.
    public init(callID: String, callee: String, sdp: String, caller: String = "", visibleName: String = "") {
        self.callID = callID
        self.callee = callee
        self.caller = caller
        self.visibleName = visibleName
        self.sdp = sdp
        hasAudio = true
        hasVideo = false
        isMSRP = false
        custom = .emptyObject
        sipSDP = []
        inviteParameters = [:]
        sipHeaders = []
    }

    init(_ fields: Fields) throws(WCSParseError) {
        callID = try fields.callID()
        callee = try fields.string("callee") ?? ""
        caller = try fields.string("caller") ?? ""
        visibleName = try fields.string("visibleName") ?? ""
        sdp = try fields.string("sdp") ?? ""
        hasAudio = try fields.bool("hasAudio") ?? true
        hasVideo = try fields.bool("hasVideo") ?? false
        isMSRP = try fields.bool("isMsrp") ?? false
        custom = fields.object("custom")
        sipSDP = fields.strings("sipSDP")
        inviteParameters = fields.stringMap("inviteParameters")
        sipHeaders = fields.strings("sipHeaders")
    }

    var json: JSONValue {
        .members([
            "callId": .string(callID), "incoming": .bool(false), "hasAudio": .bool(hasAudio), "hasVideo": .bool(hasVideo),
            "status": .string(CallStatus.pending.rawValue), "mediaProvider": .string("WebRTC"), "sdp": .string(sdp),
            "callee": .string(callee), "caller": caller.isEmpty ? nil : .string(caller),
            "visibleName": visibleName.isEmpty ? nil : .string(visibleName),
            "custom": custom == .emptyObject ? nil : custom,
            "sipSDP": sipSDP.isEmpty ? nil : .array(sipSDP.map { .string($0) }),
            "inviteParameters": inviteParameters.isEmpty ? nil : .stringMap(inviteParameters),
            "sipHeaders": sipHeaders.isEmpty ? nil : .array(sipHeaders.map { .string($0) }),
            "isMsrp": isMSRP ? .bool(true) : nil,
        ])
    }
}

/// A client takes an incoming call (wcs.md 4.2). That the Web SDK always says `hasVideo` is ignored.
public struct AnswerRequest: Sendable, Equatable {
    /// The call's identifier.
    public var callID: String
    /// The client's answer (SDP); empty if it left it out.
    public var sdp: String
    /// The application's own data.
    public var custom: JSONValue
    /// Extra lines for the SIP side's description.
    public var sipSDP: [String]

    /// A request.
    public init(callID: String, sdp: String) {
        self.callID = callID
        self.sdp = sdp
        custom = .emptyObject
        sipSDP = []
    }

    init(_ fields: Fields) throws(WCSParseError) {
        callID = try fields.callID()
        sdp = try fields.string("sdp") ?? ""
        custom = fields.object("custom")
        sipSDP = fields.strings("sipSDP")
    }

    var json: JSONValue {
        .members([
            "callId": .string(callID), "incoming": .bool(true), "hasAudio": .bool(true), "hasVideo": .bool(false),
            "status": .string(CallStatus.pending.rawValue), "mediaProvider": .string("WebRTC"), "sdp": .string(sdp),
            "custom": custom == .emptyObject ? nil : custom,
            "sipSDP": sipSDP.isEmpty ? nil : .array(sipSDP.map { .string($0) }),
        ])
    }
}

/// How a key is to be sent to the SIP side (wcs.md 5.1).
public enum DTMFMethod: String, Sendable, CaseIterable {
    /// A telephone event in RTP (RFC 4733).
    case rfc2833 = "RFC2833"
    /// SIP INFO with `application/dtmf`.
    case info = "INFO"
    /// SIP INFO with `application/dtmf-relay`.
    case infoRelay = "INFO_RELAY"
}

/// A client sends keys (wcs.md 5.1).
public struct DTMFRequest: Sendable, Equatable {
    /// The call's identifier.
    public var callID: String
    /// How; a method that is not known counts as ``DTMFMethod/rfc2833``.
    public var method: DTMFMethod
    /// The keys, one after another: `0-9*#A-D`. Blanks and separators of written numbers are taken out.
    public var digits: String

    /// A request.
    public init(callID: String, method: DTMFMethod = .rfc2833, digits: String) {
        self.callID = callID
        self.method = method
        self.digits = digits
    }

    init(_ fields: Fields) throws(WCSParseError) {
        callID = try fields.callID()
        method = DTMFMethod(rawValue: try fields.string("type")?.uppercased() ?? "") ?? .rfc2833
        let written = try fields.required("dtmf").uppercased()
        digits = written.filter { !" -.()".contains($0) }
        guard !digits.isEmpty, digits.utf8.count <= 128, digits.allSatisfy({ "0123456789*#ABCD".contains($0) }) else {
            throw fields.bad("dtmf")
        }
    }

    var json: JSONValue {
        .object(["callId": .string(callID), "type": .string(method.rawValue), "dtmf": .string(digits)])
    }
}

/// A request about a media stream, which is not supported and always refused (wcs.md 6.1).
public struct StreamRequest: Sendable, Equatable {
    /// The stream's identifier.
    public var mediaSessionID: String
    /// The stream's name.
    public var name: String

    /// A request.
    public init(mediaSessionID: String, name: String) {
        self.mediaSessionID = mediaSessionID
        self.name = name
    }

    init(_ fields: Fields) throws(WCSParseError) {
        mediaSessionID = try fields.string("mediaSessionId") ?? ""
        name = try fields.string("name") ?? ""
    }

    var json: JSONValue { .object(["mediaSessionId": .string(mediaSessionID), "name": .string(name)]) }
}
