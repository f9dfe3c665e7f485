internal import GLibLoop
internal import Synchronization

/// Loops for ICE agents, made as they are needed.
///
/// GLib polls every socket of a loop at each wake-up, so hundreds of agents on one loop slow each other; some fifty a loop do not.
///
/// - Threads: any.
public final class ICELoopPool: Sendable {
    private struct Entry {
        let loop: GLibLoop
        var agents = 0
    }

    /// How many agents a loop takes before another loop is made.
    public let agentsPerLoop: Int
    /// How many loops (threads) there may be; beyond, the loops fill evenly.
    public let maximumLoops: Int
    private let entries = Mutex<[Entry]>([])

    /// A pool without loops yet.
    public init(agentsPerLoop: Int = 50, maximumLoops: Int = 16) {
        self.agentsPerLoop = max(1, agentsPerLoop)
        self.maximumLoops = max(1, maximumLoops)
    }

    /// How many agents live on each loop.
    public var load: [Int] { entries.withLock { $0.map(\.agents) } }

    /// A place on the emptiest loop, given back when the lease is released.
    func lease() -> ICELoopLease {
        entries.withLock { entries in
            var index = entries.indices.min { entries[$0].agents < entries[$1].agents }
            if index.map({ entries[$0].agents >= agentsPerLoop }) ?? true, entries.count < maximumLoops {
                entries.append(Entry(loop: GLibLoop(name: "ice.\(entries.count)")))
                index = entries.count - 1
            }
            let chosen = index ?? 0
            entries[chosen].agents += 1
            return ICELoopLease(pool: self, index: chosen, loop: entries[chosen].loop)
        }
    }

    fileprivate func giveBack(_ index: Int) { entries.withLock { $0[index].agents -= 1 } }
}

/// One agent's place on a loop.
final class ICELoopLease: Sendable {
    let loop: GLibLoop
    private let pool: ICELoopPool
    private let index: Int

    fileprivate init(pool: ICELoopPool, index: Int, loop: GLibLoop) {
        self.pool = pool
        self.index = index
        self.loop = loop
    }

    deinit { pool.giveBack(index) }
}
