public import Sockets
internal import Synchronization

/// Hands out pairs of trunk sockets: RTP on an even port, RTCP on the odd one above (RFC 3550 section 11).
///
/// Ports are taken at random, so that a stranger cannot guess the next one, and rest after use, so that late packets of an
/// old call do not reach a new one.
///
/// - Threads: any. A pair gives its ports back by itself when its last reference goes.
public final class TrunkPortAllocator: Sendable {
    private struct Resting {
        let port: UInt16
        let until: Duration
    }

    private struct Ports {
        var free: [UInt16]
        /// Ordered by `until`, for every port rests as long as the others.
        var resting: [Resting] = []
        var firstResting = 0

        mutating func wake(at now: Duration) {
            while firstResting < resting.count, resting[firstResting].until <= now {
                free.append(resting[firstResting].port)
                firstResting += 1
            }
            if firstResting > 64, firstResting * 2 > resting.count {
                resting.removeFirst(firstResting)
                firstResting = 0
            }
        }

        mutating func takeRandom() -> UInt16? {
            guard let index = free.indices.randomElement() else { return nil }
            free.swapAt(index, free.count - 1)
            return free.removeLast()
        }
    }

    /// Where the sockets are bound (its port does not matter).
    public let address: SocketAddress
    /// How many pairs the range holds.
    public let capacity: Int
    private let restingTime: Duration
    private let now: @Sendable () -> Duration
    private let ports: Mutex<Ports>

    /// - Parameters:
    ///   - address: the local address to bind to.
    ///   - range: the ports that may be used; a pair must lie inside it whole.
    ///   - restingTime: how long a port is left alone after use.
    ///   - now: a clock that never goes back, since any fixed start.
    public init(
        address: SocketAddress, range: ClosedRange<UInt16>, restingTime: Duration = .seconds(30),
        now: @escaping @Sendable () -> Duration = TrunkPortAllocator.steadyTime
    ) {
        self.address = address
        self.restingTime = restingTime
        self.now = now
        let first = max(Int(range.lowerBound) + Int(range.lowerBound & 1), 2)
        let pairs = stride(from: first, to: Int(range.upperBound), by: 2).map { UInt16($0) }
        capacity = pairs.count
        ports = Mutex(Ports(free: pairs))
    }

    /// The process's steady clock.
    public static let steadyTime: @Sendable () -> Duration = {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }()

    /// Opens a pair. A port that another program holds is passed over.
    ///
    /// - Throws: ``TrunkPortError/exhausted`` when every pair is in use, resting or held by others;
    ///   ``TrunkPortError/socket(_:)`` for anything that trying another port cannot cure.
    public func open() throws(TrunkPortError) -> TrunkSockets {
        var passedOver: [UInt16] = []
        defer {
            if !passedOver.isEmpty { ports.withLock { $0.free.append(contentsOf: passedOver) } }
        }
        while let port = ports.withLock({ ports in
            ports.wake(at: now()); return ports.takeRandom()
        }) {
            do throws(SocketError) {
                let rtp = try UDPSocket(boundTo: address.with(port: port))
                let rtcp = try UDPSocket(boundTo: address.with(port: port + 1))
                return TrunkSockets(rtp: rtp, rtcp: rtcp, allocator: self)
            } catch {
                passedOver.append(port)
                guard error.isAddressInUse else { throw .socket(error) }
            }
        }
        throw .exhausted
    }

    /// How many pairs could be handed out now.
    public var available: Int {
        ports.withLock { ports in
            ports.wake(at: now())
            return ports.free.count
        }
    }

    fileprivate func release(_ port: UInt16) {
        ports.withLock { $0.resting.append(Resting(port: port, until: now() + restingTime)) }
    }
}

/// Why there is no pair of trunk sockets.
public enum TrunkPortError: Error, Equatable, Sendable {
    /// Every pair of the range is in use, resting or held by another program.
    case exhausted
    /// The kernel refused for another reason, such as too many open files.
    case socket(SocketError)
}

/// One call's sockets towards the trunk. The ports go back to rest when the last reference goes.
public final class TrunkSockets: Sendable {
    /// The even port: RTP both ways (symmetric, RFC 4961).
    public let rtp: UDPSocket
    /// The odd port above: RTCP both ways.
    public let rtcp: UDPSocket
    private let allocator: TrunkPortAllocator

    fileprivate init(rtp: UDPSocket, rtcp: UDPSocket, allocator: TrunkPortAllocator) {
        self.rtp = rtp
        self.rtcp = rtcp
        self.allocator = allocator
    }

    deinit { allocator.release(rtp.localAddress.port) }

    /// The address and port for the SDP's `c=` and `m=` lines.
    public var localAddress: SocketAddress { rtp.localAddress }
}
