/// Which resident is due when: one list per 2 ms of the next second, so that a tick touches those that are due and no others.
/// Storage grows when a resident takes a seat, never at a tick.
struct TimingWheel {
    private static let buckets = 512
    private static let none = -1

    private let grain: Int64
    private var heads = [Int](repeating: none, count: buckets)
    private var next: [Int] = []
    private var previous: [Int] = []
    private var bucketOf: [Int] = []
    /// The last step that was gone through.
    private var step: Int64

    init(grain: Int64, now: Int64) {
        self.grain = grain
        step = now / grain
    }

    /// Makes room for seat numbers below `count`.
    mutating func grow(to count: Int) {
        while next.count < count {
            next.append(Self.none)
            previous.append(Self.none)
            bucketOf.append(Self.none)
        }
    }

    /// Sets, or moves, the deadline of a seat. What lies beyond the wheel's horizon is looked at again at the horizon.
    mutating func set(_ seat: Int, deadline: Int64) {
        // Not before the coming step, not beyond the horizon.
        let wanted = min(max(deadline / grain + (deadline % grain == 0 ? 0 : 1), step + 1), step + Int64(Self.buckets) - 1)
        let bucket = Int(wanted % Int64(Self.buckets))
        guard bucketOf[seat] != bucket else { return }
        remove(seat)
        let head = heads[bucket]
        next[seat] = head
        previous[seat] = Self.none
        if head != Self.none { previous[head] = seat }
        heads[bucket] = seat
        bucketOf[seat] = bucket
    }

    /// Takes a seat off the wheel.
    mutating func remove(_ seat: Int) {
        let bucket = bucketOf[seat]
        guard bucket != Self.none else { return }
        let after = next[seat]
        let before = previous[seat]
        if before == Self.none { heads[bucket] = after } else { next[before] = after }
        if after != Self.none { previous[after] = before }
        bucketOf[seat] = Self.none
    }

    /// Takes off the next seat whose bucket `now` has reached; nil when all are done.
    mutating func takeDue(now: Int64) -> Int? {
        let target = now / grain
        // After a long sleep one turn of the wheel sees everybody.
        if target - step > Int64(Self.buckets) { step = target - Int64(Self.buckets) }
        while step <= target {
            let seat = heads[Int(step % Int64(Self.buckets))]
            if seat != Self.none {
                remove(seat)
                return seat
            }
            if step == target { return nil }
            step += 1
        }
        return nil
    }
}
