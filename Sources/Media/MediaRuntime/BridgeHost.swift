public import MediaGraph
public import RTP
public import SRTP
public import Sockets

/// Something a hosted bridge has to tell.
public enum BridgeHostEvent: Sendable, Hashable {
    /// News of the bridge.
    case bridge(BridgeEvent)
    /// A command could not be carried out: keys that a library refused, a socket that the kernel refused. In their words.
    case failed(String)
}

/// Lives on a lane with a bridge and its sockets: reads datagrams, hands them in, sends what comes out.
///
/// - Threads: every method may be called from any thread; commands are carried out on the lane in the order given. `events` is
///   called on the lane: hop off at once.
/// - Unchecked: all state is touched on the lane only; ``statistics`` reads a board.
public final class BridgeHost: LaneResident, @unchecked Sendable {
    /// The lane it lives on.
    public let lane: Lane

    /// The SSRC and canonical name of our stream to the client, for the SDP. Both never change.
    public let clientStream: (ssrc: SSRC, canonicalName: CanonicalName)

    private let bridge: Bridge
    private let board: SnapshotBoard<BridgeStatistics>
    private let events: @Sendable (BridgeHostEvent) -> Void
    private var seat: LaneSeat?
    private var hasStopped = false
    private var clientSocket: UDPSocket?
    private var trunkSocket: UDPSocket?
    private var trunkReportSocket: UDPSocket?

    private enum Token {
        static let client: UInt32 = 0
        static let trunk: UInt32 = 1
        static let trunkReports: UInt32 = 2
    }

    /// Datagrams read from one socket at one tick; the rest waits for the next.
    static let budget = 64

    /// Makes the bridge and takes a seat. Allocates: call it off the lane.
    public init(
        lane: Lane, configuration: BridgeConfiguration, events: @escaping @Sendable (BridgeHostEvent) -> Void
    ) throws(MediaGraphError) {
        self.lane = lane
        self.events = events
        bridge = try Bridge(configuration: configuration)
        clientStream = (bridge.clientSSRC, bridge.clientCanonicalName)
        board = bridge.statistics
        lane.perform { [self] _ in
            if !hasStopped { seat = lane.add(self) }
        }
    }

    /// What is known of the bridge; at most 100 ms old. Does not disturb the lane.
    public var statistics: BridgeStatistics { board.read() }

    // MARK: Commands

    /// Joins the client by its socket (shared with nobody on the lane), selected address and keys.
    public func openClient(_ format: LegFormat, keys: SRTPKeys?, socket: UDPSocket, remote: SocketAddress) {
        command { host, now in
            do { try host.bridge.openClient(format, keys: keys, remote: remote, at: now) } catch {
                return host.events(.failed("\(error)"))
            }
            host.replace(\.clientSocket, with: socket, token: Token.client)
        }
    }

    /// Takes up what the client renegotiated.
    public func setClientFormat(_ format: LegFormat) { command { host, _ in host.bridge.setClientFormat(format) } }

    /// Follows the client to another selected address, and to another socket if one is given.
    public func setClientPath(remote: SocketAddress, socket: UDPSocket? = nil) {
        command { host, _ in
            host.bridge.setClientRemote(remote)
            if let socket { host.replace(\.clientSocket, with: socket, token: Token.client) }
        }
    }

    /// Takes a client's datagram that came another way than by the client's socket, from a source that has been checked. For the
    /// few: it is copied to the lane.
    public func receiveFromClient(_ datagram: [UInt8]) {
        command { host, now in
            guard let source = host.bridge.clientRemote else { return }
            var buffer = datagram
            var span = buffer.mutableSpan
            host.bridge.receiveFromClient(&span, length: datagram.count, from: source, at: now)
        }
    }

    /// Gives the trunk leg its sockets. RTCP may be nil where it is multiplexed.
    public func setTrunkSockets(rtp: UDPSocket, rtcp: UDPSocket?) {
        command { host, _ in
            host.replace(\.trunkSocket, with: rtp, token: Token.trunk)
            host.replace(\.trunkReportSocket, with: rtcp, token: Token.trunkReports)
        }
    }

    /// Joins the trunk, or takes up what it renegotiated: see ``Bridge/setTrunk(_:remote:reportRemote:isReportMultiplexed:at:)``.
    public func setTrunk(
        _ format: LegFormat, remote: SocketAddress?, reportRemote: SocketAddress? = nil, isReportMultiplexed: Bool = false
    ) {
        command { host, now in
            host.bridge.setTrunk(
                format, remote: remote, reportRemote: reportRemote, isReportMultiplexed: isReportMultiplexed, at: now)
        }
    }

    /// Says what each leg is given to hear: hold, mute, one-way early media.
    public func setFlow(toTrunk: MediaFlow, toClient: MediaFlow) {
        command { host, _ in host.bridge.setFlow(toTrunk: toTrunk, toClient: toClient) }
    }

    /// Plays keys to the trunk as telephone events. A string that cannot be played is told as ``BridgeHostEvent/failed(_:)``.
    public func sendKeys(_ keys: String, milliseconds: Int = 100) {
        command { host, _ in
            do { try host.bridge.sendKeys(keys, milliseconds: milliseconds) } catch { host.events(.failed("\(error)")) }
        }
    }

    /// Ends the bridge: goodbyes go out, sockets are let go. `completion` runs on the lane; afterwards nothing of the bridge is
    /// used, and no event comes. Stopping again only runs `completion`.
    public func stop(completion: @escaping @Sendable () -> Void = {}) {
        lane.perform { [self] now in
            finish(at: now)
            completion()
        }
    }

    /// The same, awaited.
    public func stop() async {
        await withCheckedContinuation { continuation in stop { continuation.resume() } }
    }

    // MARK: On the lane

    /// When the bridge wants a tick.
    public var nextDeadline: MediaTime { bridge.nextDeadline }

    /// Lets the bridge do what is due.
    public func tick(on lane: Lane, at now: MediaTime) {
        bridge.tick(at: now)
        flush()
    }

    /// Reads a socket.
    public func drain(socketToken: UInt32, on lane: Lane, at now: MediaTime) {
        let isClient = socketToken == Token.client
        let chosen = isClient ? clientSocket : socketToken == Token.trunk ? trunkSocket : trunkReportSocket
        guard let socket = chosen else { return }
        var source = SocketAddress()
        for _ in 0..<Self.budget {
            guard let length = socket.receive(into: lane.scratch, from: &source) else { break }
            let bytes = lane.scratch.bindMemory(to: UInt8.self)
            if isClient {
                var buffer = bytes.mutableSpan
                bridge.receiveFromClient(&buffer, length: length, from: source, at: now)
            } else {
                bridge.receiveFromTrunk(bytes.span.extracting(0..<length), from: source, at: now)
            }
            flush()
        }
    }

    private func command(_ body: @escaping @Sendable (BridgeHost, MediaTime) -> Void) {
        lane.perform { [self] now in
            guard !hasStopped else { return }
            body(self, now)
            flush()
            if let seat { lane.reschedule(seat) }
        }
    }

    /// Sends what waits in the outbox and tells the news.
    private func flush() {
        bridge.outbox.drain { kind, bytes in
            switch kind {
            case .client: if let remote = bridge.clientRemote { _ = clientSocket?.send(bytes, to: remote) }
            case .trunkRTP: if let remote = bridge.trunkRemote { _ = trunkSocket?.send(bytes, to: remote) }
            case .trunkRTCP:
                let socket = trunkReportSocket ?? trunkSocket
                if let remote = bridge.trunkReportRemote { _ = socket?.send(bytes, to: remote) }
            }
        }
        while let event = bridge.takeEvent() { events(.bridge(event)) }
    }

    private func replace(_ place: ReferenceWritableKeyPath<BridgeHost, UDPSocket?>, with socket: UDPSocket?, token: UInt32)
    {
        guard self[keyPath: place] !== socket, let seat else { return }
        if let old = self[keyPath: place] { forget(old) }
        self[keyPath: place] = socket
        guard let socket else { return }
        do { try lane.watch(socket, of: seat, token: token) } catch { events(.failed("\(error)")) }
    }

    private func forget(_ socket: UDPSocket) {
        // A socket that cannot be taken out is closed next, which does the same.
        do { try lane.unwatch(socket) } catch {}
    }

    private func finish(at now: MediaTime) {
        guard !hasStopped else { return }
        hasStopped = true
        bridge.close(at: now)
        flush()
        for socket in [clientSocket, trunkSocket, trunkReportSocket] { if let socket { forget(socket) } }
        clientSocket = nil
        trunkSocket = nil
        trunkReportSocket = nil
        if let seat { lane.remove(seat) }
        seat = nil
    }
}
