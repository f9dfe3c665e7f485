public import CallModel
public import GLibLoop
internal import Telemetry

/// Owns the live sessions and calls, finds them, and starts what a face or the trunk asks for.
@ControlActor public final class Switchboard {
    /// Limits and times.
    public struct Settings: Sendable {
        /// How long a call may ring, either way.
        public var answerTimeout: Duration
        /// How long an answered call may last (FRD-6).
        public var longestCall: Duration
        /// Most sessions at once.
        public var sessions: Int
        /// Most calls of one session at once.
        public var callsPerSession: Int
        /// Who gets calls from the trunk that name no session; nil refuses them.
        public var fallbackLogin: String?

        /// Takes all parts.
        public init(
            answerTimeout: Duration = .seconds(60), longestCall: Duration = .seconds(7200), sessions: Int = 10_000,
            callsPerSession: Int = 4, fallbackLogin: String? = nil
        ) {
            self.answerTimeout = answerTimeout
            self.longestCall = longestCall
            self.sessions = sessions
            self.callsPerSession = callsPerSession
            self.fallbackLogin = fallbackLogin
        }
    }

    /// Why a request of a client was not carried out.
    public enum Refusal: Error, Hashable, Sendable {
        /// Too many sessions.
        case full
        /// The identifier is taken by another call.
        case callIDTaken
        /// The call cannot be made, for this cause.
        case call(HangupCause)
    }

    let settings: Settings
    let trunk: any TrunkPort
    let media: any MediaPort

    private var sessions: [SessionID: Session] = [:]
    private var sessionsByContact: [String: Session] = [:]
    private var isStopping = false
    private var random = SystemRandomNumberGenerator()
    private let log = Log("Switchboard")

    /// Joins the ports. The trunk's calls are brought by ``arrived(_:on:)``.
    public init(settings: Settings, trunk: any TrunkPort, media: any MediaPort) {
        self.settings = settings
        self.trunk = trunk
        self.media = media
    }

    /// The number of signed-in clients.
    public var sessionCount: Int { sessions.count }

    /// The number of live calls.
    public var callCount: Int { sessions.values.reduce(0) { $0 + $1.calls.count } }
}

// MARK: - Sessions

extension Switchboard {
    /// Signs a client in. With an account that registers, the port hears how the registration goes.
    public func signIn(account: ClientAccount?, login: String?, port: any ClientPort) throws(Refusal) -> Session {
        guard !isStopping, sessions.count < settings.sessions else { throw .full }
        let id = SessionID(randomBits: randomBits())
        let session = Session(
            id: id, login: account?.user ?? login ?? "guest-\(id.rawValue.prefix(8))", account: account,
            contactUser: contactUser(login: account?.user ?? login, id: id), port: port)
        sessions[id] = session
        sessionsByContact[session.contactUser] = session
        log(.info, "signed in", ["session": id.rawValue, "user": Redacted.party(session.login)])
        return session
    }

    /// Starts the session's registration, if its account asks for one. Apart from signing in, so that a face can greet its
    /// client first.
    public func register(_ session: Session) {
        guard let account = session.account, account.registers, session.trunkRegistration == nil else { return }
        session.registration = .registering
        session.trunkRegistration = trunk.register(account, contactUser: session.contactUser) { [weak session] state in
            guard let session else { return }
            session.registration = state
            session.port?.registrationChanged(to: state)
        }
    }

    /// Signs a client out: its calls end, its registration is given back.
    public func signOut(_ session: Session) {
        guard sessions.removeValue(forKey: session.id) != nil else { return }
        sessionsByContact.removeValue(forKey: session.contactUser)
        session.port = nil
        for call in session.calls.values { call.handle(.clientLost) }
        session.trunkRegistration?.unregister()
        session.trunkRegistration = nil
        log(.info, "signed out", ["session": session.id.rawValue])
    }

    /// A contact that names the account to people and the session to us.
    private func contactUser(login: String?, id: SessionID) -> String {
        let readable = (login ?? "guest").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        // Another part of the identifier than a guest's name shows to everybody it calls.
        return "\(readable.isEmpty ? "guest" : readable)-\(id.rawValue.suffix(12))"
    }

    private func randomBits() -> (UInt64, UInt64) { (random.next(), random.next()) }
}

// MARK: - What clients ask for

extension Switchboard {
    /// Makes a call for a client. Notices for it go to the session's port.
    ///
    /// - Parameters:
    ///   - id: the client's name for the call.
    ///   - dialled: what was dialled, as it came.
    ///   - offer: the client's SDP.
    public func call(
        _ id: CallID, dialled: String, displayName: String?, offer: String,
        parameters: [(name: String, value: String)] = [], descriptionLines: [String] = [], by session: Session
    ) throws(Refusal) {
        guard !isStopping else { throw .call(.shutdown) }
        guard session.calls[id] == nil else { throw .callIDTaken }
        guard session.calls.count < settings.callsPerSession else { throw .call(.overload) }
        guard let target = DialledTarget(dialled) else { throw .call(.invalidNumber) }
        let invitation = TrunkInvitation(
            account: session.account, caller: session.login, target: target,
            displayName: displayName ?? session.account?.displayName, parameters: parameters,
            descriptionLines: descriptionLines)
        log(
            .info, "call out",
            ["call": id.rawValue, "session": session.id.rawValue, "callee": Redacted.party(target.user)])
        start(Call(id: id, session: session, board: self, party: .outgoing(invitation, clientOffer: offer)))
    }

    /// Takes a client's answer. An unknown call is false.
    public func answer(_ id: CallID, description: String, by session: Session) -> Bool {
        guard let call = session.calls[id] else { return false }
        call.clientAnswered(description: description)
        return true
    }

    /// Feeds a client's wish to its call. An unknown call is false.
    public func handle(_ event: CallEvent, for id: CallID, by session: Session) -> Bool {
        guard let call = session.calls[id] else { return false }
        call.handle(event)
        return true
    }

    private func start(_ call: Call) {
        call.session.calls[call.id] = call
        call.begin()
    }

    func forget(_ call: Call) { call.session.calls.removeValue(forKey: call.id) }
}

// MARK: - What the trunk brings

extension Switchboard {
    /// Brings a call from the trunk to its client, or refuses it.
    public func arrived(_ arrival: TrunkArrival, on leg: any TrunkLeg) {
        guard !isStopping else { return leg.reject(.shutdown) }
        guard let session = session(for: arrival) else {
            log(
                .info, "call in refused: nobody by that name is signed in",
                ["callee": Redacted.party(arrival.calledUser), "caller": Redacted.party(arrival.caller)])
            return leg.reject(.notFound)
        }
        guard session.calls.count < settings.callsPerSession else { return leg.reject(.busy) }
        let id = CallID(randomBits: randomBits())
        log(
            .info, "call in",
            ["call": id.rawValue, "session": session.id.rawValue, "caller": Redacted.party(arrival.caller)])
        start(Call(id: id, session: session, board: self, party: .incoming(arrival, leg)))
    }

    /// A contact of ours names its session exactly. Otherwise the called user does, but only sessions without an account of
    /// their own: an account's calls come through its registration, and its name may be somebody else's on another trunk.
    private func session(for arrival: TrunkArrival) -> Session? {
        if let session = sessionsByContact[arrival.requestUser] { return session }
        for user in [arrival.requestUser, arrival.calledUser, settings.fallbackLogin].compactMap({ $0 }) {
            if let session = sessions.values.first(where: { $0.account == nil && $0.login == user }) { return session }
        }
        guard let fallback = settings.fallbackLogin else { return nil }
        return sessions.values.first { $0.login == fallback }
    }
}

// MARK: - Stop

extension Switchboard {
    /// Ends all calls and sessions and refuses new ones.
    public func stop() {
        isStopping = true
        for session in sessions.values {
            for call in session.calls.values { call.handle(.shutdown) }
            session.port?.gatewayStops()
            signOut(session)
        }
    }
}
