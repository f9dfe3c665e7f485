internal import MediaGraph
internal import Sockets

/// A resident's place on its lane: the seat, the sockets that are read for it, and what other threads ask of it. The lane holds
/// the resident, and so this, until the end.
///
/// - Threads: ``begin(_:then:)``, ``command(_:)`` and ``end(lastWords:completion:)`` from any; the rest on the lane.
/// - Unchecked: all state is touched on the lane only.
final class LaneTenancy: @unchecked Sendable {
    /// Datagrams read from one socket at one tick; the rest waits for the next.
    static let budget = 64

    let lane: Lane
    /// By their tokens; nil where there is none.
    private var sockets: [UDPSocket?]
    private var seat: LaneSeat?
    private var hasEnded = false

    /// - Parameter socketCount: how many tokens there are, from 0.
    init(lane: Lane, socketCount: Int) {
        self.lane = lane
        sockets = Array(repeating: nil, count: socketCount)
    }

    /// The socket of a token, if there is one.
    func socket(_ token: UInt32) -> UDPSocket? { token < UInt32(sockets.count) ? sockets[Int(token)] : nil }

    /// Takes the seat, then runs `body`; neither, if the end was asked for before.
    func begin(_ resident: any LaneResident & Sendable, then body: @escaping @Sendable () -> Void = {}) {
        lane.perform { [self] _ in
            guard !hasEnded else { return }
            seat = lane.add(resident)
            body()
        }
    }

    /// Runs `body` on the lane in the order of the calls, and asks the resident anew for its deadline.
    func command(_ body: @escaping @Sendable (MediaTime) -> Void) {
        lane.perform { [self] now in
            guard !hasEnded else { return }
            body(now)
            if let seat { lane.reschedule(seat) }
        }
    }

    /// Reads a socket under a token from now on, and no more the one before it.
    func watch(_ socket: UDPSocket?, token: UInt32) throws(SocketError) {
        let place = Int(token)
        guard let seat, sockets[place] !== socket else { return }
        letGo(place)
        sockets[place] = socket
        if let socket { try lane.watch(socket, of: seat, token: token) }
    }

    /// Leaves the lane. `lastWords` comes first, while the sockets are still there; `completion` last. Asked for again, it only
    /// runs `completion`.
    func end(
        lastWords: @escaping @Sendable (MediaTime) -> Void, completion: @escaping @Sendable () -> Void
    ) {
        lane.perform { [self] now in
            if !hasEnded {
                hasEnded = true
                lastWords(now)
                for place in sockets.indices { letGo(place) }
                if let seat { lane.remove(seat) }
                seat = nil
            }
            completion()
        }
    }

    private func letGo(_ place: Int) {
        // A socket that cannot be taken out is closed next, which does the same.
        if let socket = sockets[place] { try? lane.unwatch(socket) }
        sockets[place] = nil
    }
}
