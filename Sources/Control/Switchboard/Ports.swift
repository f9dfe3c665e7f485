public import CallModel
public import GLibLoop

/// A SIP account: who a session is towards the trunk.
public struct ClientAccount: Hashable, Sendable {
    /// The user part of the address of record.
    public var user: String
    /// The digest user name.
    public var authenticationName: String
    /// The digest password. Never logged, never echoed.
    public var password: String
    /// The SIP domain: host of the address of record.
    public var domain: String
    /// Where requests are sent, `host` or `host:port`; nil sends them to the domain.
    public var outboundProxy: String?
    /// The SIP port of the domain, when no proxy is named.
    public var port: Int
    /// The display name of the From header.
    public var displayName: String?
    /// Whether to register before the session counts as registered.
    public var registers: Bool
    /// Parameters for the Contact of the registration.
    public var contactParameters: String?

    /// Takes all parts.
    public init(
        user: String, authenticationName: String? = nil, password: String = "", domain: String,
        outboundProxy: String? = nil,
        port: Int = 5060, displayName: String? = nil, registers: Bool, contactParameters: String? = nil
    ) {
        self.user = user
        self.authenticationName = authenticationName ?? user
        self.password = password
        self.domain = domain
        self.outboundProxy = outboundProxy
        self.port = port
        self.displayName = displayName
        self.registers = registers
        self.contactParameters = contactParameters
    }
}

/// How a registration stands.
public enum RegistrationState: Hashable, Sendable {
    /// None was asked for, or it has been given back.
    case unregistered
    /// Asked for, no answer yet.
    case registering
    /// The registrar keeps our contact.
    case registered
    /// The registrar refused it or does not answer: SIP status and reason phrase.
    case failed(status: Int, reason: String)
}

/// What the switchboard knows of a call, as a face may show it.
public struct CallSnapshot: Hashable, Sendable {
    /// The call's name.
    public var id: CallID
    /// Which side began.
    public var direction: CallDirection
    /// Where it stands.
    public var state: CallState
    /// The calling party: number or user.
    public var caller: String
    /// The called party: number or user.
    public var callee: String
    /// The display name of the calling party.
    public var visibleName: String
    /// The last SIP status of the trunk; 0 before any.
    public var sipStatus: Int

    /// Takes all parts.
    public init(
        id: CallID, direction: CallDirection, state: CallState, caller: String, callee: String, visibleName: String,
        sipStatus: Int
    ) {
        self.id = id
        self.direction = direction
        self.state = state
        self.caller = caller
        self.callee = callee
        self.visibleName = visibleName
        self.sipStatus = sipStatus
    }
}

/// A face's end of one signed-in client.
@ControlActor public protocol ClientPort: AnyObject {
    /// Tells the client about a call. `description` is SDP and comes with the notices `description` and `incoming`.
    func tell(_ notice: ClientNotice, of call: CallSnapshot, description: String?)
    /// Tells the client how its registration stands.
    func registrationChanged(to state: RegistrationState)
    /// The gateway stops: say goodbye.
    func gatewayStops()
}

/// A registration that is kept up.
@ControlActor public protocol TrunkRegistration: AnyObject {
    /// Gives the binding back and stops. No report follows.
    func unregister()
}

/// What a trunk leg reports.
public enum TrunkEvent: Sendable {
    /// A provisional answer, with SDP if it announces early media.
    case provisional(status: Int, description: String?)
    /// The answer to our offer, or, for a call without an offer, the SDP of the ACK.
    case answered(status: Int, description: String?)
    /// Refused or unreachable before any answer.
    case failed(status: Int, cause: HangupCause)
    /// The dialog was ended by the trunk, or a CANCEL of its call came.
    case ended(status: Int, cause: HangupCause)
    /// The trunk re-offers; nil asks us for an offer. Answer with ``TrunkLeg/answerReoffer(description:)`` or refuse.
    case reoffer(description: String?)
    /// The trunk answered our re-offer.
    case reofferAnswered(description: String?)
    /// The trunk refused our re-offer.
    case reofferRefused(status: Int)
    /// The trunk sent keys by SIP INFO.
    case keys(String)
}

/// One dialog with the trunk, ended at most once; after its end every call on it does nothing.
@ControlActor public protocol TrunkLeg: AnyObject {
    /// Hears what the trunk does. Set it before returning to the loop; released at the end of the dialog.
    var report: (@ControlActor (TrunkEvent) -> Void)? { get set }
    /// Tells a calling trunk that the client rings (180).
    func ring()
    /// Answers a calling trunk (200).
    func answer(description: String)
    /// Refuses a calling trunk.
    func reject(_ cause: HangupCause)
    /// Gives up our own call (CANCEL).
    func cancel(_ cause: HangupCause)
    /// Ends an answered dialog (BYE).
    func hangUp(_ cause: HangupCause)
    /// Offers anew within the dialog (re-INVITE).
    func reoffer(description: String)
    /// Answers the trunk's re-offer.
    func answerReoffer(description: String)
    /// Refuses the trunk's re-offer (488); the session goes on as it was.
    func refuseReoffer()
    /// Sends one key by SIP INFO.
    func sendInfo(key: Character, method: KeyMethod)
}

/// A call that the client makes, as the trunk shall see it.
public struct TrunkInvitation: Sendable {
    /// Who calls; nil calls over the gateway's own trunk.
    public var account: ClientAccount?
    /// The calling user, when there is no account.
    public var caller: String
    /// What was dialled.
    public var target: DialledTarget
    /// The display name for From.
    public var displayName: String?
    /// Parameters of the invitation, from the client.
    public var parameters: [(name: String, value: String)]
    /// Lines to add to the session description.
    public var descriptionLines: [String]

    /// Takes all parts.
    public init(
        account: ClientAccount?, caller: String, target: DialledTarget, displayName: String?,
        parameters: [(name: String, value: String)] = [], descriptionLines: [String] = []
    ) {
        self.account = account
        self.caller = caller
        self.target = target
        self.displayName = displayName
        self.parameters = parameters
        self.descriptionLines = descriptionLines
    }
}

/// A call from the trunk, before anybody has decided about it.
public struct TrunkArrival: Sendable {
    /// The user part of the Request-URI: a contact of ours, or a number.
    public var requestUser: String
    /// The user part of To: the called party.
    public var calledUser: String
    /// The calling number or user.
    public var caller: String
    /// The calling party's display name; empty if there is none.
    public var displayName: String
    /// The offer; nil asks us for one.
    public var offer: String?

    /// Takes all parts.
    public init(requestUser: String, calledUser: String, caller: String, displayName: String, offer: String?) {
        self.requestUser = requestUser
        self.calledUser = calledUser
        self.caller = caller
        self.displayName = displayName
        self.offer = offer
    }
}

/// The SIP side, as the switchboard needs it.
@ControlActor public protocol TrunkPort: AnyObject {
    /// Registers an account and keeps it up; `contactUser` leads calls back to the session.
    func register(
        _ account: ClientAccount, contactUser: String, report: @escaping @ControlActor (RegistrationState) -> Void
    ) -> any TrunkRegistration
    /// Calls the trunk with an offer.
    func invite(_ invitation: TrunkInvitation, offer: String, contactUser: String) throws(HangupCause) -> any TrunkLeg
}

/// What a call's media reports.
public enum MediaEvent: Sendable {
    /// The client leg's description and the trunk leg's ports are ready.
    case ready
    /// The client's path and keys stand; audio can pass.
    case clientConnected
    /// The media broke.
    case failed(HangupCause)
}

/// Both legs' media of one call. `close` ends it; after it nothing is reported.
@ControlActor public protocol CallMedia: AnyObject {
    /// Our SDP for the client: the answer to its offer, or the offer of an incoming call. Valid from `ready` on.
    var clientDescription: String { get }
    /// Takes the client's answer to our offer.
    func applyClientAnswer(_ description: String) throws(HangupCause)
    /// Our offer for the trunk. Valid from `ready` on.
    func trunkOffer() -> String
    /// Takes the trunk's answer: early, final or to a re-offer.
    func applyTrunkAnswer(_ description: String) throws(HangupCause)
    /// Takes the trunk's offer and gives our answer, and whether the trunk holds us now.
    func answerTrunkOffer(_ description: String) throws(HangupCause) -> (description: String, holds: Bool)
    /// Our re-offer that holds or resumes.
    func trunkReoffer(hold: Bool) -> String
    /// The trunk refused our last re-offer: what was agreed before it holds.
    func trunkRefusedReoffer()
    /// Opens and closes the directions of audio.
    func setAudio(_ gate: AudioGate)
    /// Sends keys as telephone-events; false if the trunk did not agree to any.
    func sendKeys(_ keys: String) -> Bool
    /// Frees everything.
    func close()
}

/// What media a call needs.
public struct MediaRequest: Sendable {
    /// The call's name, for log lines.
    public var call: CallID
    /// The client's offer; nil makes an offer to the client.
    public var clientOffer: String?
    /// The trunk's offer, if it made one.
    public var trunkOffer: String?
    /// Lines to add to our session description for the trunk.
    public var descriptionLines: [String]

    /// Takes all parts.
    public init(call: CallID, clientOffer: String?, trunkOffer: String?, descriptionLines: [String] = []) {
        self.call = call
        self.clientOffer = clientOffer
        self.trunkOffer = trunkOffer
        self.descriptionLines = descriptionLines
    }
}

/// The media plane, as the switchboard needs it.
@ControlActor public protocol MediaPort: AnyObject {
    /// Opens both legs; `report` hears the rest.
    func open(_ request: MediaRequest, report: @escaping @ControlActor (MediaEvent) -> Void) throws(HangupCause)
        -> any CallMedia
}
