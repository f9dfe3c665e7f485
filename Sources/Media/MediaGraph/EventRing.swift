/// A few events that wait for their owner, in storage of fixed size. When it is full the newest is lost and counted.
struct EventRing<Event> {
    private var events: [Event?]
    private var first = 0
    private var count = 0
    private(set) var lost = 0

    init(capacity: Int) { events = Array(repeating: nil, count: capacity) }

    mutating func append(_ event: Event) {
        guard count < events.count else {
            lost += 1
            return
        }
        events[(first + count) % events.count] = event
        count += 1
    }

    mutating func takeFirst() -> Event? {
        guard count > 0 else { return nil }
        defer {
            first = (first + 1) % events.count
            count -= 1
        }
        return events[first]
    }
}
