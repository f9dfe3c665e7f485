public import CallModel
public import GLibLoop
public import SIPStack
public import Switchboard
internal import Telemetry

/// Speaks SIP for the switchboard: registers accounts, calls the trunk, brings the trunk's calls.
@ControlActor public final class TrunkFace {
    /// The gateway's own trunk, for sessions without an account.
    public struct OwnTrunk: Sendable {
        /// The domain or address of the Request-URI.
        public var host: String
        /// Its port; nil leaves the default.
        public var port: UInt16?
        /// Where requests are sent instead.
        public var outboundProxy: String?
        /// The account's user; nil calls as the client's name.
        public var user: String?
        /// The digest credentials; nil leaves challenges unanswered.
        public var credentials: SIPCredentials?

        /// Takes all parts.
        public init(
            host: String, port: UInt16? = nil, outboundProxy: String? = nil, user: String? = nil,
            credentials: SIPCredentials? = nil
        ) {
            self.host = host
            self.port = port
            self.outboundProxy = outboundProxy
            self.user = user
            self.credentials = credentials
        }

        /// Takes the host with an optional port behind it.
        public init(hostAndPort: String, outboundProxy: String?, user: String?, credentials: SIPCredentials?) {
            let address = SIPAddress(hostAndPort: hostAndPort)
            self.init(
                host: address.host, port: address.port, outboundProxy: outboundProxy, user: user, credentials: credentials)
        }
    }

    /// What may be chosen about the trunk's side.
    public struct Settings: Sendable {
        /// How a client's invitation parameters travel.
        public enum InviteParameters: Sendable {
            case uriParameters
            case headers
        }

        /// The trunk of sessions without an account; nil refuses their calls.
        public var ownTrunk: OwnTrunk?
        /// How invitation parameters travel.
        public var inviteParameters: InviteParameters
        /// The status with which a client's "no" reaches the caller.
        public var rejectStatus: Int
        /// How long an INVITE may ring at the trunk.
        public var ringLimit: Duration

        /// Takes all parts.
        public init(
            ownTrunk: OwnTrunk?, inviteParameters: InviteParameters = .uriParameters, rejectStatus: Int = 486,
            ringLimit: Duration = .seconds(180)
        ) {
            self.ownTrunk = ownTrunk
            self.inviteParameters = inviteParameters
            self.rejectStatus = rejectStatus
            self.ringLimit = ringLimit
        }
    }

    let settings: Settings
    private let agent: UserAgent
    private let localHost: String
    private let log = Log("TrunkFace")

    /// A face before a user agent; calls from the trunk go nowhere until ``bringCalls(to:)``.
    public init(agent: UserAgent, settings: Settings) {
        self.agent = agent
        self.settings = settings
        let address = agent.configuration.address
        localHost = address.contains(":") ? "[\(address)]" : address
    }

    /// Hands the trunk's calls to the switchboard from now on. The user agent holds the switchboard until it is shut down.
    public func bringCalls(to board: Switchboard) {
        let rejectStatus = settings.rejectStatus
        agent.onIncomingCall = { dialog in
            guard let invitation = dialog.invitation else { return dialog.reject(400, "Bad Request") }
            board.arrived(TrunkArrival(invitation), on: TrunkDialog(dialog, rejectStatus: rejectStatus))
        }
    }

    /// Keeps the gateway's own registration, whose calls arrive for `contactUser`.
    public func registerOwnTrunk(
        contactUser: String, report: @escaping @ControlActor (RegistrationState) -> Void
    ) -> (any TrunkRegistration)? {
        guard let trunk = settings.ownTrunk, let user = trunk.user else { return nil }
        let account = SIPAccount(
            addressOfRecord: SIPAddress(user: user, host: trunk.host, port: trunk.port), credentials: trunk.credentials,
            proxy: trunk.outboundProxy.map { SIPAddress(hostAndPort: $0) }, contactUser: contactUser)
        return RegistrationKeeper(account: account, agent: agent, report: report)
    }
}

extension TrunkFace: TrunkPort {
    /// Registers a client's account and keeps it up.
    public func register(
        _ account: ClientAccount, contactUser: String,
        report: @escaping @ControlActor (RegistrationState) -> Void
    ) -> any TrunkRegistration {
        let registered = SIPAccount(
            addressOfRecord: account.addressOfRecord, credentials: account.credentials, proxy: account.proxyAddress,
            contactUser: contactUser, contactParameters: account.contactParameters)
        return RegistrationKeeper(account: registered, agent: agent, report: report)
    }

    /// Sends an INVITE for a client.
    public func invite(
        _ invitation: TrunkInvitation, offer: String, contactUser: String
    ) throws(HangupCause) -> any TrunkLeg {
        var call: OutgoingCall
        if let account = invitation.account {
            call = accountCall(invitation, account, offer)
        } else {
            call = try ownTrunkCall(invitation, offer)
        }
        call.contactUser = contactUser
        call.ringLimit = UInt32(clamping: settings.ringLimit.components.seconds)
        add(invitation.parameters, to: &call)
        do {
            return TrunkDialog(try agent.invite(call), rejectStatus: settings.rejectStatus)
        } catch {
            log(.warning, "INVITE not sent", ["why": "\(error)"])
            throw .trunkFailure
        }
    }

    private func accountCall(
        _ invitation: TrunkInvitation, _ account: ClientAccount, _ offer: String
    ) -> OutgoingCall {
        var target = SIPAddress(hostAndPort: invitation.target.host ?? account.domain)
        target.user = invitation.target.user
        if invitation.target.host == nil, account.proxyAddress == nil, account.port != 5060 {
            target.port = target.port ?? UInt16(clamping: account.port)
        }
        var from = account.addressOfRecord
        from.displayName = invitation.displayName
        // A dialled address of another domain goes by way of the account's own server, never straight to that host.
        let foreign = invitation.target.host != nil && account.proxyAddress == nil
        return OutgoingCall(
            target: target, from: from, proxy: foreign ? account.addressOfRecord.withoutUser : account.proxyAddress,
            credentials: account.credentials, sdp: offer)
    }

    private func ownTrunkCall(_ invitation: TrunkInvitation, _ offer: String) throws(HangupCause) -> OutgoingCall {
        guard let trunk = settings.ownTrunk else {
            log(.warning, "no trunk is configured for clients without an account")
            throw .unavailable
        }
        let target = SIPAddress(user: invitation.target.user, host: trunk.host, port: trunk.port)
        let fromHost = trunk.user == nil ? localHost : trunk.host
        let from = SIPAddress(
            displayName: invitation.displayName, user: trunk.user ?? invitation.caller, host: fromHost)
        return OutgoingCall(
            target: target, from: from, proxy: trunk.outboundProxy.map { SIPAddress(hostAndPort: $0) },
            credentials: trunk.credentials, sdp: offer)
    }

    /// Invitation parameters never name a routing or identity header: only `X-` headers pass.
    private func add(_ parameters: [(name: String, value: String)], to call: inout OutgoingCall) {
        for (name, value) in parameters {
            guard InviteToken.isName(name) else { continue }
            switch settings.inviteParameters {
            case .uriParameters:
                guard InviteToken.isParameterValue(value), !InviteToken.isReservedParameter(name) else { continue }
                let parameter = value.isEmpty ? name : "\(name)=\(value)"
                call.target.parameters += call.target.parameters.isEmpty ? parameter : ";\(parameter)"
            case .headers:
                guard name.lowercased().hasPrefix("x-"), value.utf8.count <= 512 else { continue }
                call.headers.append(SIPHeader(name, value))
            }
        }
    }
}
