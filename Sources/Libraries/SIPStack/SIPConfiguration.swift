/// What a ``UserAgent`` is made of.
public struct SIPConfiguration: Sendable {
    /// The numeric address to listen on.
    public var address: String
    /// The port for all transports; 0 takes a free one (see ``UserAgent/port``).
    public var port: UInt16
    /// The transports to listen on.
    public var transports: Set<SIPTransport>
    /// The text of `User-Agent` and `Server`.
    public var userAgent: String
    /// Transaction timers; short ones make tests fast.
    public var timers: SIPTimers
    /// The session interval to ask for, in seconds (RFC 4028); 0 asks for none and follows the peer's wish.
    public var sessionInterval: UInt32
    /// The least session interval we accept, in seconds.
    public var minimumSessionInterval: UInt32

    /// A configuration with the usual values.
    public init(
        address: String, port: UInt16, transports: Set<SIPTransport> = [.udp, .tcp], userAgent: String = "Trunkline",
        timers: SIPTimers = SIPTimers(), sessionInterval: UInt32 = 0, minimumSessionInterval: UInt32 = 90
    ) {
        self.address = address
        self.port = port
        self.transports = transports
        self.userAgent = userAgent
        self.timers = timers
        self.sessionInterval = sessionInterval
        self.minimumSessionInterval = minimumSessionInterval
    }
}

/// A SIP transport.
public enum SIPTransport: String, Sendable, Hashable {
    case udp, tcp
}

/// The timers of RFC 3261 section 17, in milliseconds.
public struct SIPTimers: Sendable, Hashable {
    /// The first retransmission interval.
    public var t1: UInt32
    /// The longest retransmission interval.
    public var t2: UInt32
    /// How long a message may stay in the network.
    public var t4: UInt32
    /// Timers B, F and H.
    public var t1x64: UInt32

    /// The standard's values.
    public init(t1: UInt32 = 500, t2: UInt32 = 4000, t4: UInt32 = 5000, t1x64: UInt32 = 32000) {
        self.t1 = t1
        self.t2 = t2
        self.t4 = t4
        self.t1x64 = t1x64
    }
}

/// What can go wrong in calling the stack itself; what peers answer arrives as events.
public enum SIPStackError: Error, Sendable, Hashable {
    /// The port cannot be had: the address, the port, the errno value and its words.
    case cannotBind(address: String, port: UInt16, code: Int32, words: String)
    /// The library gave no user agent, root or handle.
    case libraryRefused(String)
    /// The user agent has been shut down.
    case isShutDown
    /// The dialog is not in a state for this request.
    case wrongState
    /// An offer of either side is still open.
    case offerIsOpen
}

/// The name and password for digest challenges (RFC 3261 section 22).
public struct SIPCredentials: Sendable, Hashable {
    /// The digest user name; no colon may be in it.
    public var user: String
    /// The password.
    public var password: String

    /// Credentials for any realm that challenges the request.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
