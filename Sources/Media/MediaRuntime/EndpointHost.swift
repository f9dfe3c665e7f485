public import MediaGraph
public import Sockets

/// Something a hosted endpoint has to tell.
public enum EndpointHostEvent: Sendable, Hashable {
    /// News of the endpoint.
    case endpoint(EndpointEvent)
    /// A command could not be carried out, in the words of who refused it.
    case failed(String)
}

/// Lives on a lane with one endpoint and its sockets: a telephone of the demo trunk, or a headless client.
///
/// - Threads: as ``BridgeHost``.
/// - Unchecked: all state is touched on the lane only; ``statistics`` reads a board.
public final class EndpointHost: LaneResident, @unchecked Sendable {
    /// The lane it lives on.
    public var lane: Lane { tenancy.lane }

    private let endpoint: AudioEndpoint
    private let board: SnapshotBoard<EndpointStatistics>
    private let events: @Sendable (EndpointHostEvent) -> Void
    private let tenancy: LaneTenancy

    private enum Token {
        static let media: UInt32 = 0
        static let reports: UInt32 = 1
    }

    /// Makes the endpoint, which begins at once to play `source` to `remote`.
    ///
    /// - Parameters:
    ///   - socket: for RTP, and RTCP where it is multiplexed (always with keys).
    ///   - reportSocket: for RTCP on a port of its own.
    public init(
        lane: Lane, configuration: EndpointConfiguration, source: AudioSource, socket: UDPSocket,
        reportSocket: UDPSocket? = nil, remote: SocketAddress?, events: @escaping @Sendable (EndpointHostEvent) -> Void
    ) throws(MediaGraphError) {
        tenancy = LaneTenancy(lane: lane, socketCount: 2)
        self.events = events
        endpoint = try AudioEndpoint(configuration: configuration, source: source, remote: remote, at: LaneClock.now)
        board = endpoint.statistics
        tenancy.begin(self) { [tenancy] in
            do {
                try tenancy.watch(socket, token: Token.media)
                try tenancy.watch(reportSocket, token: Token.reports)
            } catch { events(.failed("\(error)")) }
        }
    }

    /// What is known; at most 100 ms old. Does not disturb the lane.
    public var statistics: EndpointStatistics { board.read() }

    // MARK: Commands

    /// Plays another source from its start.
    public func play(_ source: AudioSource) { command { host, _ in host.endpoint.play(source) } }

    /// Plays keys to the peer. A string that cannot be played is told as ``EndpointHostEvent/failed(_:)``.
    public func sendKeys(_ keys: String, milliseconds: Int = 100) {
        command { host, _ in
            do { try host.endpoint.sendKeys(keys, milliseconds: milliseconds) } catch { host.events(.failed("\(error)")) }
        }
    }

    /// Whether packets go out: false while held `inactive`.
    public func setSending(_ isSending: Bool) { command { host, _ in host.endpoint.isSending = isSending } }

    /// Takes up another address of the peer's.
    public func setRemote(_ remote: SocketAddress?) { command { host, _ in host.endpoint.setRemote(remote) } }

    /// Takes up what was renegotiated.
    public func setFormat(_ format: LegFormat) { command { host, _ in host.endpoint.setFormat(format) } }

    /// Takes what was recorded so far; the recording begins anew.
    public func takeRecording() async -> [Int16] {
        await withCheckedContinuation { continuation in
            lane.perform { [self] _ in continuation.resume(returning: endpoint.takeRecording()) }
        }
    }

    /// Ends the endpoint: a goodbye goes out, sockets are let go. `completion` runs on the lane.
    public func stop(completion: @escaping @Sendable () -> Void = {}) {
        tenancy.end(
            lastWords: { [self] now in
                endpoint.close(at: now)
                flush()
            }, completion: completion)
    }

    /// The same, awaited.
    public func stop() async {
        await withCheckedContinuation { continuation in stop { continuation.resume() } }
    }

    // MARK: On the lane

    /// When the endpoint wants a tick.
    public var nextDeadline: MediaTime { endpoint.nextDeadline }

    /// Lets the endpoint do what is due.
    public func tick(on lane: Lane, at now: MediaTime) {
        endpoint.tick(at: now)
        flush()
    }

    /// Reads a socket.
    public func drain(socketToken: UInt32, on lane: Lane, at now: MediaTime) {
        guard let socket = tenancy.socket(socketToken) else { return }
        var source = SocketAddress()
        for _ in 0..<LaneTenancy.budget {
            guard let length = socket.receive(into: lane.scratch, from: &source) else { break }
            var buffer = lane.scratch.bindMemory(to: UInt8.self).mutableSpan
            endpoint.receive(&buffer, length: length, from: source, at: now)
            flush()
        }
    }

    private func command(_ body: @escaping @Sendable (EndpointHost, MediaTime) -> Void) {
        tenancy.command { [self] now in
            body(self, now)
            flush()
        }
    }

    private func flush() {
        endpoint.outbox.drain { kind, bytes in
            guard let destination = kind == .trunkRTCP ? endpoint.reportRemote : endpoint.remote else { return }
            let own = kind == .trunkRTCP ? tenancy.socket(Token.reports) : nil
            _ = (own ?? tenancy.socket(Token.media))?.send(bytes, to: destination)
        }
        while let event = endpoint.takeEvent() { events(.endpoint(event)) }
    }
}
