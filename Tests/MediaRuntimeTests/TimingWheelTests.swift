@testable import MediaRuntime
import Testing

@Suite struct TimingWheelTests {
    @Test func seatsComeUpAtTheirTimeAndOnce() {
        var wheel = TimingWheel(grain: 2, now: 0)
        wheel.grow(to: 4)
        wheel.set(0, deadline: 10)
        wheel.set(1, deadline: 11)
        wheel.set(2, deadline: 10)
        wheel.set(3, deadline: 5000)
        wheel.set(2, deadline: 20)
        #expect(wheel.takeDue(now: 8) == nil)
        #expect(wheel.takeDue(now: 10) == 0)
        #expect(wheel.takeDue(now: 10) == nil)
        #expect(wheel.takeDue(now: 12) == 1)
        wheel.remove(2)
        #expect(wheel.takeDue(now: 40) == nil)
        // Beyond the horizon a seat is looked at again at the horizon.
        var now: Int64 = 40
        var turns = 0
        while now < 6000, turns < 100 {
            now += 2
            guard wheel.takeDue(now: now) == 3 else { continue }
            turns += 1
            if now >= 5000 { break }
            wheel.set(3, deadline: 5000)
        }
        #expect(now == 5000)
    }

    @Test func aLongSleepSeesEverybody() {
        var wheel = TimingWheel(grain: 2, now: 0)
        wheel.grow(to: 300)
        for seat in 0..<300 { wheel.set(seat, deadline: Int64(seat) * 3) }
        var seen = Set<Int>()
        while let seat = wheel.takeDue(now: 1_000_000) { seen.insert(seat) }
        #expect(seen.count == 300)
    }
}
