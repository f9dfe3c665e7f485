internal import CSofiaSIP
public import GLibLoop

/// What to register, and where.
public struct SIPAccount: Sendable, Hashable {
    /// The user that calls shall reach, at the registrar's domain.
    public var addressOfRecord: SIPAddress
    /// For digest challenges; without them a challenge is a failure.
    public var credentials: SIPCredentials?
    /// Where requests go instead of the domain.
    public var proxy: SIPAddress?
    /// The lifetime to ask for, in seconds.
    public var expires: Int
    /// The user part of our Contact: calls for this registration arrive with it in their Request-URI.
    public var contactUser: String?
    /// Contact parameters, for example `+sip.instance="..."`.
    public var contactParameters: String?

    /// An account with the usual lifetime.
    public init(
        addressOfRecord: SIPAddress, credentials: SIPCredentials? = nil, proxy: SIPAddress? = nil, expires: Int = 3600,
        contactUser: String? = nil, contactParameters: String? = nil
    ) {
        self.addressOfRecord = addressOfRecord
        self.credentials = credentials
        self.proxy = proxy
        self.expires = expires
        self.contactUser = contactUser
        self.contactParameters = contactParameters
    }
}

/// What becomes of a registration.
public enum RegistrationEvent: Sendable, Hashable {
    /// It holds for so many seconds, and is refreshed in time; comes again with each refresh.
    case registered(seconds: Int)
    /// It is over; a new one has to be made. 401 and 407 mean that the credentials were refused.
    case failed(SIPStatus, retryAfter: Int?)
    /// It has been taken back by ``Registration/unregister()``.
    case unregistered
}

/// One binding at a registrar (RFC 3261 section 10), refreshed until it is taken back.
@ControlActor public final class Registration: HandleOwner {
    /// What was asked for.
    public let account: SIPAccount
    /// Takes the events, on the control loop.
    public var onEvent: (@ControlActor (RegistrationEvent) -> Void)?
    /// Whether the last REGISTER was accepted.
    public private(set) var isRegistered = false

    private let agent: UserAgent
    private let number: UInt
    private var handle: OpaquePointer?
    private var digest: DigestAnswerer
    private var isLeaving = false

    init(account: SIPAccount, agent: UserAgent, number: UInt, handle: OpaquePointer) {
        self.account = account
        self.agent = agent
        self.number = number
        self.handle = handle
        digest = DigestAnswerer(credentials: account.credentials)
    }

    func start() {
        guard let handle else { return }
        var registrar = account.addressOfRecord
        registrar.displayName = nil
        registrar.user = ""
        tl_nua_register(
            handle, registrar.uri, account.proxy?.routeValue, "\(account.expires)", account.contactUser,
            account.contactParameters)
    }

    /// Takes the binding back (REG-4); ``RegistrationEvent/unregistered`` follows, also when nobody answers.
    public func unregister() {
        guard let handle, !isLeaving else { return }
        isLeaving = true
        tl_nua_unregister(handle)
    }

    func receive(_ event: StackEvent) {
        if event.kind == nua_r_authenticate, event.status.code >= 300 {
            // Our answer fitted no challenge.
            return end(isLeaving ? .unregistered : .failed(SIPStatus(code: 401, phrase: "Unauthorized"), retryAfter: nil))
        }
        guard event.kind == nua_r_register || event.kind == nua_r_unregister, event.status.code >= 200 else { return }
        if event.status.code == 401 || event.status.code == 407, let handle {
            let answers = digest.answers(to: event.challenges)
            for answer in answers { tl_nua_authenticate(handle, answer) }
            if !answers.isEmpty { return }
        }
        if event.kind == nua_r_unregister {
            end(.unregistered)
        } else if event.status.code < 300 {
            digest.wasAccepted()
            isRegistered = true
            if !isLeaving { onEvent?(.registered(seconds: granted(event.message))) }
        } else if !isLeaving {
            end(.failed(event.status, retryAfter: event.message?.retryAfter))
        }
    }

    /// Our own Contact's expiry comes first, then the header's (REG-2, case H40).
    private func granted(_ message: SIPMessage?) -> Int {
        guard let message else { return account.expires }
        let own = message.bindings.first { binding in
            binding.contact.port == agent.port
                && (account.contactUser == nil || binding.contact.user == account.contactUser)
        }
        return own?.expires ?? message.expires ?? account.expires
    }

    private func end(_ event: RegistrationEvent) {
        isRegistered = false
        letGo()
        onEvent?(event)
        onEvent = nil
    }

    func letGo() {
        guard let handle else { return }
        self.handle = nil
        nua_handle_destroy(handle)
        agent.forget(number)
    }
}
