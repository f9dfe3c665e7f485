import GLibLoop
import Synchronization
import Testing

@Suite struct GLibLoopTests {
    @Test func actorCodeRunsOnTheLoopsThread() async {
        let onLoop = await Task { @ControlActor in GLibLoop.control.isCurrent }.value
        #expect(onLoop)
        #expect(!GLibLoop.control.isCurrent)
    }

    @Test func workRunsInTheOrderOfTheCalls() async {
        let loop = GLibLoop(name: "order")
        let seen = Mutex<[Int]>([])
        for number in 0..<100 { loop.perform { seen.withLock { $0.append(number) } } }
        await loop.run {}
        #expect(seen.withLock { $0 } == Array(0..<100))
    }

    @Test func waitingFromTheLoopItselfDoesNotStop() async {
        let loop = GLibLoop(name: "nested")
        let answer = loop.performAndWait { loop.performAndWait { 7 } }
        #expect(answer == 7)
    }

    @Test func callbacksMayEnterTheActorFromTheLoop() async {
        let entered = await GLibLoop.control.run { ControlActor.assumeIsolated { true } }
        #expect(entered)
    }

    @Test func aTimerFiresOnItsLoopAndACancelledOneDoesNot() async {
        let loop = GLibLoop(name: "timers")
        let cancelledFired = Mutex(false)
        let cancelled = GLibTimer(on: loop, after: .milliseconds(5)) { cancelledFired.withLock { $0 = true } }
        cancelled.cancel()
        let onLoop = await withCheckedContinuation { continuation in
            let keeper = Mutex<GLibTimer?>(nil)
            let timer = GLibTimer(on: loop, after: .milliseconds(20)) {
                keeper.withLock { $0 = nil }
                continuation.resume(returning: loop.isCurrent)
            }
            keeper.withLock { $0 = timer }
        }
        #expect(onLoop)
        #expect(!cancelledFired.withLock { $0 })
    }

    @Test func aRepeatingTimerGoesOnUntilReleased() async {
        let loop = GLibLoop(name: "ticks")
        let count = Mutex(0)
        let (ticks, continuation) = AsyncStream.makeStream(of: Int.self)
        var timer: GLibTimer? = GLibTimer(on: loop, after: .milliseconds(2), repeats: true) {
            continuation.yield(
                count.withLock {
                    $0 += 1; return $0
                })
        }
        for await tick in ticks where tick >= 5 { break }
        timer?.cancel()
        timer = nil
        await loop.run {}
        let after = count.withLock { $0 }
        try? await Task.sleep(for: .milliseconds(20))
        #expect(count.withLock { $0 } == after)
    }
}
