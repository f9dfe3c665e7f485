/// The server's answer to `connection`, in `getUserData`: the request echoed without its password (wcs.md 2.2).
public struct ConnectionInfo: Sendable, Equatable {
    /// The application's key.
    public var appKey: String
    /// The token by which the client may come back; unguessable.
    public var authToken: String
    /// `ESTABLISHED`, which some clients show.
    public var status: String
    /// The effective SIP login. The Web SDK takes the caller of its calls from here.
    public var sipLogin: String
    /// The digest user name; empty if there is no account.
    public var sipAuthenticationName: String
    /// The SIP domain; empty if there is no account.
    public var sipDomain: String
    /// The outbound proxy; empty if there is no account.
    public var sipOutboundProxy: String
    /// The outbound proxy's port.
    public var sipPort: UInt16
    /// Whether `registered` will follow.
    public var sipRegisterRequired: Bool
    /// What media the client knows.
    public var mediaProviders: [String]
    /// Whether the session outlives its socket.
    public var keepAlive: Bool
    /// The application's own data.
    public var custom: JSONValue

    /// Echoes `request`.
    ///
    /// - Parameter login: the effective SIP login, if the request has no account.
    public init(echoing request: ConnectionRequest, authToken: String, login: String = "") {
        appKey = request.appKey
        self.authToken = authToken
        status = "ESTABLISHED"
        let account = request.account
        sipLogin = account?.login ?? login
        sipAuthenticationName = account?.authenticationName ?? ""
        sipDomain = account?.domain ?? ""
        sipOutboundProxy = account?.outboundProxy ?? ""
        sipPort = account?.port ?? 5060
        sipRegisterRequired = account?.registerRequired ?? false
        mediaProviders = request.mediaProviders
        keepAlive = request.keepAlive
        custom = request.custom
    }

    init(_ fields: Fields) throws(WCSParseError) {
        appKey = try fields.string("appKey") ?? ""
        authToken = try fields.string("authToken") ?? ""
        status = try fields.string("status") ?? ""
        sipLogin = try fields.string("sipLogin") ?? ""
        sipAuthenticationName = try fields.string("sipAuthenticationName") ?? ""
        sipDomain = try fields.string("sipDomain") ?? ""
        sipOutboundProxy = try fields.string("sipOutboundProxy") ?? ""
        sipPort = try fields.port("sipPort") ?? 5060
        sipRegisterRequired = try fields.bool("sipRegisterRequired") ?? false
        mediaProviders = fields.strings("mediaProviders")
        keepAlive = try fields.bool("keepAlive") ?? false
        custom = fields.object("custom")
    }

    var json: JSONValue {
        .object([
            "appKey": .string(appKey), "authToken": .string(authToken), "status": .string(status),
            "sipLogin": .string(sipLogin), "sipAuthenticationName": .string(sipAuthenticationName),
            "sipDomain": .string(sipDomain), "sipOutboundProxy": .string(sipOutboundProxy),
            "sipPort": .number(Double(sipPort)), "sipRegisterRequired": .bool(sipRegisterRequired),
            "mediaProviders": .array(mediaProviders.map { .string($0) }), "keepAlive": .bool(keepAlive),
            "custom": custom.withoutNulls,
        ])
    }
}
