public import CallModel
public import GLibLoop

/// One signed-in client: who it is, how to reach it, which calls it has.
@ControlActor public final class Session {
    /// The session's name.
    public let id: SessionID
    /// The name under which others reach it: the account's user, or a guest name.
    public let login: String
    /// The client's own SIP account, if it brought one.
    public let account: ClientAccount?
    /// The user part of our Contact, unguessable, so that the trunk's calls find this session and no other.
    public let contactUser: String
    /// How its registration stands.
    public internal(set) var registration: RegistrationState = .unregistered

    var port: (any ClientPort)?
    var trunkRegistration: (any TrunkRegistration)?
    var calls: [CallID: Call] = [:]

    init(id: SessionID, login: String, account: ClientAccount?, contactUser: String, port: any ClientPort) {
        self.id = id
        self.login = login
        self.account = account
        self.contactUser = contactUser
        self.port = port
    }

    /// Snapshots of the session's live calls.
    public var liveCalls: [CallSnapshot] { calls.values.map(\.snapshot) }
}
