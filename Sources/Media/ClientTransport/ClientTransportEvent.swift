public import DTLS
public import ICE
public import SRTP
public import Sockets

/// What a transport reports, in order, on its ICE loop.
public enum ClientTransportEvent: Sendable {
    /// The lines for the SDP are complete; comes again after an ICE restart, with new credentials.
    case gathered(LocalTransportDescription)
    /// Media may flow: the path is checked, the peer is who its SDP says, and here are socket and keys.
    case connected(ClientMediaPath)
    /// Media now goes over another path; the keys are the same. The socket is the same object unless the local end changed.
    case pathChanged(ClientMediaPath)
    /// Media that did not come to the lane's socket: a peer may send over any pair that has passed its checks (RFC 8445 section
    /// 12.2), so also to another of our addresses than the one that is selected. Still protected; from a checked source.
    case media([UInt8])
    /// It will never connect. Nothing comes after this; call `close()`.
    case failed(ClientTransportFailure)
    /// The peer has ended the connection (close_notify). Sending must stop.
    case closedByPeer
    /// The peer no longer consents to traffic (RFC 7675): sending must stop at once.
    case consentLost
}

/// Why a transport failed.
public enum ClientTransportFailure: Error, Sendable, Equatable {
    /// The ICE agent could not begin or go on.
    case ice(ICEError)
    /// No pair was checked in time.
    case iceTimeout
    /// The handshake was not done in time.
    case handshakeTimeout
    /// The handshake failed.
    case dtls(DTLSError)
    /// The remote description has no fingerprint that this side can check.
    case noUsableFingerprint
    /// The path is not plain UDP.
    case unsupportedPath
    /// The lane's socket could not join the port.
    case laneSocket(SocketError)
    /// The handshake chose a profile, by its registry number, that there is no SRTP for.
    case unknownProfile(UInt16)
    /// libsrtp refused the keys.
    case srtp(SRTPError)
}

/// Everything a lane needs to talk with a client.
public struct ClientMediaPath: Sendable {
    /// The lane's own socket. It shares the port with the ICE agent's; the kernel gives it what begins with a byte of 64 or
    /// more: RTP and RTCP.
    public let socket: UDPSocket
    /// Where media goes. It mostly comes from there too; what comes from elsewhere has to prove itself by SRTP.
    public let remote: SocketAddress
    /// Both directions' keys.
    public let keys: SRTPKeys
    /// Which part this side played in the handshake: the `a=setup` of any later answer of ours, for the role never changes.
    public let setup: TransportSetup
}

/// How long a transport waits.
public struct ClientTransportDeadlines: Sendable {
    /// From `setRemote` to the first checked pair.
    public var ice: Duration
    /// From the first checked pair to the keys (DTL-6).
    public var handshake: Duration
    /// From the peer's last answer to the loss of consent (RFC 7675); not less than libnice's own 10 s.
    public var consent: Duration

    /// Deadlines by their lengths.
    public init(
        ice: Duration = .seconds(15), handshake: Duration = .seconds(15), consent: Duration = .seconds(30)
    ) {
        self.consent = consent
        self.ice = ice
        self.handshake = handshake
    }
}
