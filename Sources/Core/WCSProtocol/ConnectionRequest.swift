/// A SIP account that a client brings along (wcs.md 2.1).
///
/// Its description leaves the password out.
public struct WCSAccount: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The user part of the address of record.
    public var login: String
    /// The digest user name; the login if the client sent none.
    public var authenticationName: String
    /// The digest password.
    public var password: String
    /// The SIP domain, a host name or IP address.
    public var domain: String
    /// Where SIP requests go; the domain if the client sent none.
    public var outboundProxy: String
    /// The port of the outbound proxy; 5060 if the client sent none.
    public var port: UInt16
    /// Whether the account is to be registered; true if the client did not say.
    public var registerRequired: Bool
    /// The display name for the From header; empty if none.
    public var visibleName: String
    /// Parameters for the Contact of the REGISTER; empty if none.
    public var contactParameters: String

    /// An account.
    public init(
        login: String, authenticationName: String? = nil, password: String = "", domain: String,
        outboundProxy: String? = nil, port: UInt16 = 5060, registerRequired: Bool = true, visibleName: String = "",
        contactParameters: String = ""
    ) {
        self.login = login
        self.authenticationName = authenticationName ?? login
        self.password = password
        self.domain = domain
        self.outboundProxy = outboundProxy ?? domain
        self.port = port
        self.registerRequired = registerRequired
        self.visibleName = visibleName
        self.contactParameters = contactParameters
    }

    /// The account's address and proxy, without the password.
    public var description: String {
        "sip:\(login)@\(domain) by \(outboundProxy):\(port)\(registerRequired ? ", registering" : "")"
    }

    /// What debuggers and `dump` show: the description only.
    public var customMirror: Mirror { Mirror(self, children: ["account": description]) }
}

/// A client's first message: who it is (wcs.md 2.1).
public struct ConnectionRequest: Sendable, Equatable {
    /// The application's key; `defaultApp` if the client sent none.
    public var appKey: String
    /// What media the client knows; only `WebRTC` matters.
    public var mediaProviders: [String]
    /// Whether the session outlives its socket.
    public var keepAlive: Bool
    /// The token of an earlier `getUserData`, on reconnection.
    public var authToken: String?
    /// The client's own version, for the log.
    public var clientVersion: String?
    /// The client's system, for the log.
    public var clientOSVersion: String?
    /// The browser's user agent, for the log.
    public var clientBrowserVersion: String?
    /// The SIP account, if the client sent a login or a domain.
    public var account: WCSAccount?
    /// A token for VoIP push, under any of its spellings (wcs.md 2.5).
    public var pushToken: String?
    /// The app's bundle identifier, for push.
    public var pushAppID: String?
    /// The application's own data.
    public var custom: JSONValue
    /// Keys that are not known, sorted, for the log.
    public var unknownKeys: [String]

    /// A request.
    public init(
        appKey: String = "defaultApp", mediaProviders: [String] = ["WebRTC"], keepAlive: Bool = false,
        authToken: String? = nil, account: WCSAccount? = nil, custom: JSONValue = .emptyObject
    ) {
        self.appKey = appKey
        self.mediaProviders = mediaProviders
        self.keepAlive = keepAlive
        self.authToken = authToken
        self.account = account
        self.custom = custom
        unknownKeys = []
    }

    private static let knownKeys: Set<String> = [
        "appKey", "mediaProviders", "keepAlive", "authToken", "clientVersion", "clientOSVersion", "clientBrowserVersion",
        "msePacketizationVersion", "custom", "sipLogin", "sipAuthenticationName", "sipPassword", "sipDomain",
        "sipOutboundProxy", "sipProxy", "sipPort", "sipRegisterRequired", "sipVisibleName", "sipContactParams", "useProxy",
        "useSelfSigned", "useDTLS", "width", "height", "status", "noticationToken", "notificationToken", "appId",
    ]

    init(_ fields: Fields) throws(WCSParseError) {
        appKey = try fields.filledString("appKey") ?? "defaultApp"
        mediaProviders = fields.strings("mediaProviders")
        keepAlive = try fields.bool("keepAlive") ?? false
        authToken = try fields.filledString("authToken")
        clientVersion = try fields.filledString("clientVersion")
        clientOSVersion = try fields.filledString("clientOSVersion")
        clientBrowserVersion = try fields.filledString("clientBrowserVersion")
        pushToken = try fields.filledString("noticationToken", or: "notificationToken")
        pushAppID = try fields.filledString("appId")
        custom = fields.object("custom")
        unknownKeys = fields.members.keys.filter { !Self.knownKeys.contains($0) }.sorted()
        account = try Self.account(fields)
    }

    private static func account(_ fields: Fields) throws(WCSParseError) -> WCSAccount? {
        let login = try fields.filledString("sipLogin")
        let domain = try fields.filledString("sipDomain")
        guard login != nil || domain != nil else { return nil }
        let proxy = try fields.filledString("sipOutboundProxy", or: "sipProxy")
        return WCSAccount(
            login: login ?? "", authenticationName: try fields.filledString("sipAuthenticationName"),
            password: try fields.string("sipPassword") ?? "", domain: domain ?? proxy ?? "", outboundProxy: proxy,
            port: try fields.port("sipPort") ?? 5060, registerRequired: try fields.bool("sipRegisterRequired") ?? true,
            visibleName: try fields.string("sipVisibleName") ?? "",
            contactParameters: try fields.string("sipContactParams") ?? "")
    }

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "appKey": .string(appKey), "mediaProviders": .array(mediaProviders.map { .string($0) }),
            "keepAlive": .bool(keepAlive), "custom": custom,
        ]
        members["authToken"] = .optional(authToken)
        members["clientVersion"] = .optional(clientVersion)
        members["clientOSVersion"] = .optional(clientOSVersion)
        members["clientBrowserVersion"] = .optional(clientBrowserVersion)
        members["notificationToken"] = .optional(pushToken)
        members["appId"] = .optional(pushAppID)
        if let account {
            members["sipLogin"] = .string(account.login)
            members["sipAuthenticationName"] = .string(account.authenticationName)
            members["sipPassword"] = .string(account.password)
            members["sipDomain"] = .string(account.domain)
            members["sipOutboundProxy"] = .string(account.outboundProxy)
            members["sipPort"] = .number(Double(account.port))
            members["sipRegisterRequired"] = .bool(account.registerRequired)
            if !account.visibleName.isEmpty { members["sipVisibleName"] = .string(account.visibleName) }
            if !account.contactParameters.isEmpty { members["sipContactParams"] = .string(account.contactParameters) }
        }
        return .object(members)
    }
}
