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
    private let core: ClientTransportCore

    /// Begins to gather candidates; ``ClientTransportEvent/gathered(_:)`` or a failure follows.
    ///
    /// - Parameters:
    ///   - iceLoop: where the ICE agent lives. Some fifty agents a loop are a good measure.
    ///   - certificate: this side's; may be shared by all transports.
    ///   - isControlling: whether this side made the offer.
    ///   - localAddresses: numeric addresses to take candidates from.
    ///   - portRange: UDP ports to use; nil leaves the choice to the kernel.
    public init(
        iceLoop: GLibLoop, certificate: DTLSCertificate, isControlling: Bool, localAddresses: [String],
        portRange: ClosedRange<UInt16>? = nil, deadlines: ClientTransportDeadlines = ClientTransportDeadlines(),
        events: @escaping @Sendable (ClientTransportEvent) -> Void
    ) {
        loop = iceLoop
        let configuration = ICEAgent.Configuration(
            isControlling: isControlling, localAddresses: localAddresses, portRange: portRange)
        let core = ClientTransportCore(
            loop: iceLoop, certificate: certificate, isOfferer: isControlling, deadlines: deadlines, events: events)
        self.core = core
        let agent = ICEAgent(loop: iceLoop, configuration: configuration) { [weak core] event in core?.take(event) }
        iceLoop.perform { core.begin(agent: agent) }
    }

    deinit { close() }

    /// Tells the remote side's description, once; later calls change nothing.
    public func setRemote(_ description: RemoteTransportDescription) {
        loop.perform { [core] in core.setRemote(description) }
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
