/// When to play: each bridge has its own phase, taken from its client's arrivals, so that a packet waits for the tick that
/// follows its arrival and not up to a whole packet more. Following the arrivals also absorbs a client clock that is slow or
/// fast: the ticks keep to the client's clock (case H18).
struct PlayoutPhase {
    /// Next tick.
    private(set) var deadline: MediaTime
    /// Whether an arrival has set the phase.
    private(set) var isAligned = false

    /// Time between ticks in nanoseconds.
    var period: Int64

    // Arrival time minus place on the line: the fastest in the present and in the last window, and how much slower most are.
    private var fastest = Int64.max
    private var fastestBefore = Int64.max
    private var seen = 0
    private var slowness: Int64 = 0

    private static let window = 100
    /// A lane looks every 2 ms; less headroom than that would lose a packet to a tick of luck.
    private static let leastMargin: Int64 = 1_500_000
    private static let mostMargin: Int64 = 8_000_000
    /// At most this much a tick, so that the far end hardly sees it.
    private static let slew: Int64 = 250_000

    init(start: MediaTime, period: Int64) {
        deadline = start
        self.period = period
    }

    /// Lets the ticks begin, if they have not.
    mutating func start(at now: MediaTime) {
        if deadline == .distantFuture { deadline = now }
    }

    /// Notes a packet's arrival; `start` is its place on the line.
    mutating func note(start: UInt32, isFirst: Bool, at now: MediaTime) {
        let transit = now.nanoseconds - Int64(start) * LineUnits.nanoseconds
        if isFirst {
            fastest = .max
            fastestBefore = .max
            seen = 0
            slowness = 0
            if !isAligned {
                deadline = now.advanced(nanoseconds: Self.leastMargin)
                isAligned = true
            }
        }
        fastest = min(fastest, transit)
        seen += 1
        slowness += (min(transit - best, 40_000_000) - slowness) / 16
        if seen >= Self.window {
            seen = 0
            fastestBefore = fastest
            fastest = .max
        }
    }

    /// Sets the next tick one period on, drawn towards the arrivals.
    /// - Parameters:
    ///   - pointer: place on the line of what is played next; nil without a stream.
    ///   - frame: line samples of the peer's packets.
    mutating func advance(pointer: UInt32?, frame: Int) {
        deadline = deadline.advanced(nanoseconds: period)
        guard let pointer, fastest != .max || fastestBefore != .max else { return }
        let margin = min(max(Self.leastMargin, Self.leastMargin / 2 + 2 * slowness), Self.mostMargin)
        let wanted = Int64(pointer) * LineUnits.nanoseconds + best + margin
        let turn = max(1, min(period, Int64(frame) * LineUnits.nanoseconds))
        var error = (wanted - deadline.nanoseconds) % turn
        if error > turn / 2 { error -= turn }
        if error < -turn / 2 { error += turn }
        deadline = deadline.advanced(nanoseconds: min(max(error, -Self.slew), Self.slew))
    }

    /// After a long sleep: no ticks are made up for.
    mutating func skip(to now: MediaTime) {
        if now.since(deadline) > 10 * period { deadline = now }
    }

    private var best: Int64 { min(fastest, fastestBefore) }
}
