public import MediaGraph
public import RTP
public import SRTP
public import Sockets

/// Something a hosted bridge has to tell.
public enum BridgeHostEvent: Sendable, Hashable {
    /// News of the bridge.
    case bridge(BridgeEvent)
    /// Keys could not be played: a sign that is no key, or too many at once. The call goes on.
    case keysRefused(String)
    /// A command could not be carried out: SRTP keys that a library refused, a socket that the kernel refused. In their words.
    case failed(String)
}

/// Lives on a lane with a bridge and its sockets: reads datagrams, hands them in, sends what comes out.
///
/// - Threads: every method may be called from any thread; commands are carried out on the lane in the order given. `events` is
///   called on the lane: hop off at once.
/// - Unchecked: all state is touched on the lane only; ``statistics`` reads a board.
public final class BridgeHost: LaneResident, @unchecked Sendable {
    /// The lane it lives on.
    public var lane: Lane { tenancy.lane }

    /// The SSRC and canonical name of our stream to the client, for the SDP. Both never change.
    public let clientStream: (ssrc: SSRC, canonicalName: CanonicalName)

    private let bridge: Bridge
    private let board: SnapshotBoard<BridgeStatistics>
    private let events: @Sendable (BridgeHostEvent) -> Void
    private let tenancy: LaneTenancy

    private enum Token {
        static let client: UInt32 = 0
        static let trunk: UInt32 = 1
        static let trunkReports: UInt32 = 2
    }

    /// Makes the bridge and takes a seat. Allocates: call it off the lane.
    public init(
        lane: Lane, configuration: BridgeConfiguration, events: @escaping @Sendable (BridgeHostEvent) -> Void
    ) throws(MediaGraphError) {
        tenancy = LaneTenancy(lane: lane, socketCount: 3)
        self.events = events
        bridge = try Bridge(configuration: configuration)
        clientStream = (bridge.clientSSRC, bridge.clientCanonicalName)
        board = bridge.statistics
        tenancy.begin(self)
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
            host.watch(socket, token: Token.client)
        }
    }

    /// Follows the client to another selected address, and to another socket if one is given.
    public func setClientPath(remote: SocketAddress, socket: UDPSocket? = nil) {
        command { host, _ in
            host.bridge.setClientRemote(remote)
            if let socket { host.watch(socket, token: Token.client) }
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
            host.watch(rtp, token: Token.trunk)
            host.watch(rtcp, token: Token.trunkReports)
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

    /// Plays keys to the trunk as telephone events. A string that cannot be played is told as ``BridgeHostEvent/keysRefused(_:)``.
    public func sendKeys(_ keys: String, milliseconds: Int = 100) {
        command { host, _ in
            do { try host.bridge.sendKeys(keys, milliseconds: milliseconds) } catch {
                host.events(.keysRefused("\(error)"))
            }
        }
    }

    /// Ends the bridge: goodbyes go out, sockets are let go. `completion` runs on the lane; afterwards nothing of the bridge is
    /// used, and no event comes. Stopping again only runs `completion`.
    public func stop(completion: @escaping @Sendable () -> Void = {}) {
        tenancy.end(
            lastWords: { [self] now in
                bridge.close(at: now)
                flush()
            }, completion: completion)
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
        guard let socket = tenancy.socket(socketToken) else { return }
        let isClient = socketToken == Token.client
        var source = SocketAddress()
        for _ in 0..<LaneTenancy.budget {
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
        tenancy.command { [self] now in
            body(self, now)
            flush()
        }
    }

    private func watch(_ socket: UDPSocket?, token: UInt32) {
        do { try tenancy.watch(socket, token: token) } catch { events(.failed("\(error)")) }
    }

    /// Sends what waits in the outbox and tells the news.
    private func flush() {
        bridge.outbox.drain { kind, bytes in
            switch kind {
            case .client: send(bytes, token: Token.client, to: bridge.clientRemote)
            case .trunkRTP: send(bytes, token: Token.trunk, to: bridge.trunkRemote)
            case .trunkRTCP:
                let hasOwnSocket = tenancy.socket(Token.trunkReports) != nil
                send(bytes, token: hasOwnSocket ? Token.trunkReports : Token.trunk, to: bridge.trunkReportRemote)
            }
        }
        while let event = bridge.takeEvent() { events(.bridge(event)) }
    }

    private func send(_ bytes: Span<UInt8>, token: UInt32, to remote: SocketAddress?) {
        if let remote { _ = tenancy.socket(token)?.send(bytes, to: remote) }
    }
}
