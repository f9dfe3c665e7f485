public import DTLS
public import GLibLoop
internal import ICE

/// Brings one client to its lane: ICE finds the path, DTLS proves the peer and makes the keys, and a second socket on the same
/// port takes the media past the ICE agent.
///
///     client ── UDP ──┬─ first byte < 64: STUN, DTLS ─► ICE agent (its loop) ─► handshake queue ─► keys
///                     └─ first byte ≥ 64: RTP, RTCP ─► lane's socket ◄───────── ClientMediaPath
///
/// The offerer is the controlling side and lets the answer decide who begins the handshake; the answerer follows the offer.
///
/// - Threads: any; calls are carried out in order on the ICE loop and events come there too. Events stop after ``close()``,
///   which releasing the transport also does.
public final class ClientTransport: Sendable {
    private let loop: GLibLoop
    private let lease: ICELoopLease?
    private let core: ClientTransportCore

    /// Begins to gather candidates; ``ClientTransportEvent/gathered(_:)`` or a failure follows.
    ///
    /// - Parameters:
    ///   - iceLoop: where the ICE agent lives. Some fifty agents a loop are a good measure.
    ///   - certificate: this side's; may be shared by all transports.
    ///   - isControlling: whether this side made the offer.
    ///   - localAddresses: numeric addresses to take candidates from.
    ///   - portRange: UDP ports to use; nil leaves the choice to the kernel.
    public convenience init(
        iceLoop: GLibLoop, certificate: DTLSCertificate, isControlling: Bool, localAddresses: [String],
        portRange: ClosedRange<UInt16>? = nil, deadlines: ClientTransportDeadlines = ClientTransportDeadlines(),
        events: @escaping @Sendable (ClientTransportEvent) -> Void
    ) {
        self.init(
            loop: iceLoop, lease: nil, certificate: certificate, isControlling: isControlling,
            localAddresses: localAddresses,
            portRange: portRange, deadlines: deadlines, events: events)
    }

    /// The same on the emptiest loop of a pool.
    public convenience init(
        iceLoops: ICELoopPool, certificate: DTLSCertificate, isControlling: Bool, localAddresses: [String],
        portRange: ClosedRange<UInt16>? = nil, deadlines: ClientTransportDeadlines = ClientTransportDeadlines(),
        events: @escaping @Sendable (ClientTransportEvent) -> Void
    ) {
        let lease = iceLoops.lease()
        self.init(
            loop: lease.loop, lease: lease, certificate: certificate, isControlling: isControlling,
            localAddresses: localAddresses, portRange: portRange, deadlines: deadlines, events: events)
    }

    private init(
        loop: GLibLoop, lease: ICELoopLease?, certificate: DTLSCertificate, isControlling: Bool, localAddresses: [String],
        portRange: ClosedRange<UInt16>?, deadlines: ClientTransportDeadlines,
        events: @escaping @Sendable (ClientTransportEvent) -> Void
    ) {
        self.loop = loop
        self.lease = lease
        let configuration = ICEAgent.Configuration(
            isControlling: isControlling, localAddresses: localAddresses, portRange: portRange)
        let core = ClientTransportCore(
            loop: loop, certificate: certificate, isOfferer: isControlling, deadlines: deadlines, events: events)
        self.core = core
        let agent = ICEAgent(loop: loop, configuration: configuration) { [weak core] event in core?.take(event) }
        loop.perform { core.begin(agent: agent) }
    }

    deinit { close() }

    /// Tells the remote side's description.
    ///
    /// A later description with another user fragment and password restarts ICE (H42): this side's new credentials come as
    /// ``ClientTransportEvent/gathered(_:)``, media goes on over the old path until ``ClientTransportEvent/pathChanged(_:)``, and
    /// DTLS and SRTP stay as they are. With the same credentials only its candidates are added. The handshake's role is decided by
    /// the first description alone, and its fingerprints are the only ones that count: a peer with another certificate needs
    /// another transport (RFC 8842).
    public func setRemote(_ description: RemoteTransportDescription) {
        loop.perform { [core] in core.setRemote(description) }
    }

    /// Restarts ICE from this side: new credentials come as ``ClientTransportEvent/gathered(_:)``, for an offer; then `setRemote`
    /// with the answer.
    public func restartICE() {
        loop.perform { [core] in core.restartICE() }
    }

    /// Adds remote candidates that came later (RFC 8838).
    public func addRemote(candidateLines: [String]) {
        loop.perform { [core] in core.addRemote(candidates: candidateLines.compactMap { ICECandidate(sdp: $0) }) }
    }

    /// Says close_notify if connected, and frees the sockets. The lane's socket closes when the lane lets it go.
    public func close() {
        loop.perform { [core] in core.close() }
    }
}
