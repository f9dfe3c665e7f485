public import GLibLoop

/// One full ICE agent with one UDP component, for RTP and RTCP on one port.
///
/// The remote side may name no candidates at all: the agent then waits for the remote's checks and answers them, and how long
/// is the owner's to decide.
///
/// - Threads: any. Everything is carried out on the given loop, in the order of the calls; events come on the loop's thread.
///   After ``close()``, or when the agent is released, at most the events already under way still come.
public final class ICEAgent: Sendable {
    /// What an agent is made of.
    public struct Configuration: Sendable {
        /// Whether this side nominates: the offerer does (RFC 8445 section 6.1.1).
        public var isControlling: Bool
        /// Numeric local addresses to take candidates from; loopback ones too. Empty: all interfaces but loopback.
        public var localAddresses: [String]
        /// UDP ports to take; nil leaves the choice to the kernel.
        public var portRange: ClosedRange<UInt16>?

        /// A configuration by its parts.
        public init(isControlling: Bool, localAddresses: [String], portRange: ClosedRange<UInt16>? = nil) {
            self.isControlling = isControlling
            self.localAddresses = localAddresses
            self.portRange = portRange
        }
    }

    /// The loop it lives on.
    public let loop: GLibLoop
    private let core: ICEAgentCore

    /// Makes an agent; it begins with ``gather()``.
    public init(loop: GLibLoop, configuration: Configuration, onEvent: @escaping @Sendable (ICEEvent) -> Void) {
        self.loop = loop
        core = ICEAgentCore(loop: loop, configuration: configuration, onEvent: onEvent)
    }

    deinit { close() }

    /// Binds the sockets and reports ``ICEEvent/gathered(_:)`` or ``ICEEvent/failed(_:)``.
    public func gather() { loop.perform { [core] in core.gather() } }

    /// Tells the remote's credentials and the candidates known so far. Candidates that cannot be used are skipped singly.
    public func setRemote(ufrag: String, password: String, candidates: [ICECandidate]) {
        loop.perform { [core] in core.setRemote(ufrag: ufrag, password: password, candidates: candidates) }
    }

    /// Adds candidates that came later (RFC 8838).
    public func addRemote(candidates: [ICECandidate]) {
        loop.perform { [core] in core.addRemote(candidates: candidates) }
    }

    /// Begins anew with fresh credentials (RFC 8445 section 9), reported by ``ICEEvent/gathered(_:)``; then give the remote's
    /// new ones. Data goes over the old pair until a new one is selected.
    public func restart() { loop.perform { [core] in core.restart() } }

    /// Sends datagrams over the selected pair. Before there is one they are lost, as any datagram may be.
    public func send(_ datagrams: [[UInt8]]) {
        guard !datagrams.isEmpty else { return }
        loop.perform { [core] in core.send(datagrams) }
    }

    /// Frees the sockets. Calling it again does nothing.
    public func close() { loop.perform { [core] in core.close() } }
}
