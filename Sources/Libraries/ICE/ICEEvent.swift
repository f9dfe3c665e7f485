/// This side's part of an ICE exchange.
public struct ICELocalDescription: Sendable, Equatable {
    /// The user fragment, fresh for each agent.
    public let ufrag: String
    /// The password, fresh for each agent.
    public let password: String
    /// Every candidate this side has.
    public let candidates: [ICECandidate]
}

/// The pair that carries the data.
public struct ICESelectedPair: Sendable, Equatable {
    /// This side's end.
    public let local: ICECandidate
    /// The peer's end.
    public let remote: ICECandidate
    /// The descriptor of the agent's own UDP socket on this pair; nil if the pair is not plain UDP. The agent owns it.
    public let socketDescriptor: Int32?
}

/// libnice's states of a component.
public enum ICEState: UInt32, Sendable {
    case disconnected
    case gathering
    case connecting
    case connected
    case ready
    case failed
}

/// What an agent cannot do. libnice gives no code and no words for these.
public enum ICEError: Error, Equatable, Sendable {
    /// The library made no agent or stream.
    case noAgent
    /// This text is no local address.
    case badLocalAddress(String)
    /// No socket could be bound: the port range is full, or an address is not this machine's.
    case gatheringFailed
    /// The library could not restart the stream.
    case restartFailed
    /// The remote user fragment or password has a length that RFC 8839 forbids.
    case badRemoteCredentials
}

/// What an agent reports, in order, on its loop's thread.
public enum ICEEvent: Sendable {
    /// The candidates are complete; comes again after a restart, with new credentials.
    case gathered(ICELocalDescription)
    /// The component has changed its state. `failed` after `ready` means that consent was lost (RFC 7675).
    case stateChanged(ICEState)
    /// Data now goes over this pair; it may come again with another.
    case selectedPair(ICESelectedPair)
    /// A datagram that is not STUN, from an address that has passed a check.
    case received([UInt8])
    /// The agent cannot go on.
    case failed(ICEError)
}
