internal import Dispatch
public import MediaGraph
public import Sockets
internal import Synchronization

/// Who lives on a lane: all its calls come from the lane's queue, one at a time.
public protocol LaneResident: AnyObject {
    /// A socket of its own is readable: read until it is empty, or a fixed budget is used up.
    func drain(socketToken: UInt32, on lane: Lane, at now: MediaTime)
    /// Its deadline has come.
    func tick(on lane: Lane, at now: MediaTime)
    /// When it wants its next tick. Asked after each drain and tick, and after ``Lane/reschedule(_:)``.
    var nextDeadline: MediaTime { get }
}

/// How punctual a lane's ticks were. A tick is late by the time from when it was due to when it began.
public struct TickStatistics: Sendable, Hashable, BitwiseCopyable {
    /// Ticks so far.
    public var ticks = 0
    /// Ticks more than 2 ms late, and more than 10 ms late.
    public var late = 0
    /// Ticks more than 10 ms late: media was held up.
    public var veryLate = 0
    /// The latest tick, in nanoseconds.
    public var worstNanoseconds: Int64 = 0
    /// Time spent in ticks, in nanoseconds: the lane's load.
    public var busyNanoseconds: Int64 = 0

    /// A lane that has not ticked.
    public init() {}
}

/// A resident's place on a lane.
public struct LaneSeat: Sendable, Hashable {
    let index: Int
}

/// One serial queue with a strict 2 ms timer that owns a share of the media. At each tick it reads the clock once, drains the
/// sockets that have something, and calls the residents whose own deadline has come. Without residents it sleeps.
///
/// Unchecked: all state but the atomics is touched on the queue only.
public final class Lane: @unchecked Sendable {
    /// What to call it in a log.
    public let name: String

    private let queue: DispatchQueue
    private let timer: any DispatchSourceTimer
    private let grain: Int64
    private let readiness: ReadinessSet
    private let seated = Atomic<Int>(0)
    private let punctuality = SnapshotBoard(TickStatistics())
    private var figures = TickStatistics()
    private var residents: [(any LaneResident)?] = []
    private var freeSeats: [Int] = []
    private var wheel: TimingWheel
    private var isRunning = false
    private var lastTick = MediaTime(nanoseconds: 0)
    private let tokens: UnsafeMutableBufferPointer<UInt64>
    /// One datagram, for residents to receive into during `drain`; aligned for SRTP. Longer ones are no media.
    let scratch: UnsafeMutableRawBufferPointer

    /// - Parameter tickMilliseconds: how often it looks; 2 was measured to cost some 1 % of a core when idle.
    public init(name: String, tickMilliseconds: Int = 2) throws(SocketError) {
        self.name = name
        readiness = try ReadinessSet()
        queue = DispatchQueue(label: name, qos: .userInteractive)
        grain = Int64(max(1, tickMilliseconds)) * 1_000_000
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        wheel = TimingWheel(grain: grain, now: LaneClock.now.nanoseconds)
        tokens = .allocate(capacity: ReadinessSet.maximumBatch)
        tokens.initialize(repeating: 0)
        scratch = .allocate(byteCount: 2048, alignment: 16)
        timer.setEventHandler { [weak self] in self?.tick() }
    }

    deinit {
        // A source must not be released while it is suspended.
        if !isRunning { timer.resume() }
        timer.cancel()
        tokens.deallocate()
        scratch.deallocate()
    }

    // MARK: From any thread

    /// Runs `body` on the lane, after what was handed in before.
    public func perform(_ body: @escaping @Sendable (MediaTime) -> Void) {
        queue.async { body(LaneClock.now) }
    }

    /// Residents on the lane.
    public var residentCount: Int { seated.load(ordering: .relaxed) }

    /// How punctual the ticks are. Renewed at every tenth tick.
    public var tickStatistics: TickStatistics { punctuality.read() }

    // MARK: On the lane only

    /// Traps, in debug builds, if the caller is not on the lane.
    public func assertIsCurrent() {
        #if DEBUG
            dispatchPrecondition(condition: .onQueue(queue))
        #endif
    }

    /// Gives a resident a seat, and ticks from now on.
    public func add(_ resident: any LaneResident) -> LaneSeat {
        assertIsCurrent()
        let index = freeSeats.popLast() ?? residents.count
        if index == residents.count { residents.append(nil) }
        residents[index] = resident
        wheel.grow(to: residents.count)
        seated.add(1, ordering: .relaxed)
        wheel.set(index, deadline: resident.nextDeadline.nanoseconds)
        startIfNeeded()
        return LaneSeat(index: index)
    }

    /// Takes a resident off the lane: no call comes to it any more.
    public func remove(_ seat: LaneSeat) {
        assertIsCurrent()
        guard residents.indices.contains(seat.index), residents[seat.index] != nil else { return }
        wheel.remove(seat.index)
        residents[seat.index] = nil
        freeSeats.append(seat.index)
        if seated.subtract(1, ordering: .relaxed).newValue == 0 {
            isRunning = false
            timer.suspend()
        }
    }

    /// Has a resident's socket drained at the tick when it is readable.
    public func watch(_ socket: UDPSocket, of seat: LaneSeat, token: UInt32) throws(SocketError) {
        try readiness.add(socket, token: UInt64(seat.index) << 32 | UInt64(token))
    }

    /// Ends ``watch(_:of:token:)``.
    public func unwatch(_ socket: UDPSocket) throws(SocketError) { try readiness.remove(socket) }

    /// Asks a resident anew for its deadline, after a command.
    public func reschedule(_ seat: LaneSeat) {
        guard residents.indices.contains(seat.index), let resident = residents[seat.index] else { return }
        wheel.set(seat.index, deadline: resident.nextDeadline.nanoseconds)
    }

    // MARK: The tick

    private func startIfNeeded() {
        guard !isRunning else { return }
        isRunning = true
        lastTick = MediaTime(nanoseconds: 0)
        timer.schedule(deadline: .now(), repeating: .nanoseconds(Int(grain)), leeway: .nanoseconds(0))
        timer.resume()
    }

    private func tick() {
        let now = LaneClock.now
        drainReadable(at: now)
        while let seat = wheel.takeDue(now: now.nanoseconds) {
            guard let resident = residents[seat] else { continue }
            if resident.nextDeadline <= now { resident.tick(on: self, at: now) }
            // It may have left during its tick.
            if residents[seat] != nil { wheel.set(seat, deadline: resident.nextDeadline.nanoseconds) }
        }
        keepTime(now)
    }

    private func drainReadable(at now: MediaTime) {
        let count = readiness.poll(into: tokens)
        for position in 0..<count {
            let seat = Int(tokens[position] >> 32)
            guard residents.indices.contains(seat), let resident = residents[seat] else { continue }
            resident.drain(socketToken: UInt32(truncatingIfNeeded: tokens[position]), on: self, at: now)
            if residents[seat] != nil { wheel.set(seat, deadline: resident.nextDeadline.nanoseconds) }
        }
    }

    private func keepTime(_ now: MediaTime) {
        if lastTick.nanoseconds != 0 {
            let lateness = now.since(lastTick) - grain
            if lateness > 2_000_000 { figures.late += 1 }
            if lateness > 10_000_000 { figures.veryLate += 1 }
            figures.worstNanoseconds = max(figures.worstNanoseconds, lateness)
        }
        lastTick = now
        figures.ticks += 1
        figures.busyNanoseconds += LaneClock.now.since(now)
        if figures.ticks % 10 == 0 { punctuality.publish(figures) }
    }
}
