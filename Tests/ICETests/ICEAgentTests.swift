import Foundation
import GLibLoop
import ICE
import Testing

@Suite struct ICEAgentTests {
    static let loop = GLibLoop(name: "ice")

    @Test(arguments: ["127.0.0.1", "::1"], [true, false])
    func anAgentWithoutRemoteCandidatesIsFoundByThePeersChecks(host: String, waitingSideControls: Bool) async throws {
        let waiting = ICESide(loop: Self.loop, controlling: waitingSideControls, addresses: [host])
        let calling = ICESide(loop: GLibLoop(name: "peer"), controlling: !waitingSideControls, addresses: [host])
        let (ours, theirs) = try await (waiting.gathered(), calling.gathered())
        #expect(ours.ufrag.utf8.count >= 4)
        #expect(ours.password.utf8.count >= 22)
        #expect(ours.candidates.map(\.host) == [host])
        theirs.give(to: waiting, candidates: [])
        ours.give(to: calling)
        #expect(await waiting.isReady())
        #expect(await calling.isReady())
        let pair = try await waiting.selectedPair()
        #expect(pair.local == ours.candidates[0])
        #expect(pair.remote.kind == .peerReflexive)
        #expect(pair.remote.port == theirs.candidates[0].port)
        #expect(pair.socketDescriptor != nil)
        waiting.agent.send([[22, 1, 2, 3]])
        calling.agent.send([[22, 4, 5]])
        #expect(await calling.received() == [22, 1, 2, 3])
        #expect(await waiting.received() == [22, 4, 5])
    }

    @Test func bothSidesWithCandidatesConnect() async throws {
        let one = ICESide(loop: Self.loop, controlling: true)
        let two = ICESide(loop: Self.loop, controlling: false)
        let (ours, theirs) = try await (one.gathered(), two.gathered())
        theirs.give(to: one)
        ours.give(to: two)
        #expect(await one.isReady())
        #expect(await two.isReady())
    }

    @Test func twoControllersSettleTheirRoles() async throws {
        let one = ICESide(loop: Self.loop, controlling: true)
        let two = ICESide(loop: Self.loop, controlling: true)
        let (ours, theirs) = try await (one.gathered(), two.gathered())
        theirs.give(to: one)
        ours.give(to: two)
        #expect(await one.isReady())
        #expect(await two.isReady())
    }

    @Test("H41 H43 candidates that cannot be used are skipped and the agent waits past every check time-out")
    func patience() async throws {
        let waiting = ICESide(loop: Self.loop, controlling: false)
        let calling = ICESide(loop: GLibLoop(name: "late"), controlling: true)
        let (ours, theirs) = try await (waiting.gathered(), calling.gathered())
        let odd = [
            "candidate:1 1 udp 2113937151 0b5b1d3e-4c1f-4f2c-9d3a-0123456789ab.local 50000 typ host",
            "candidate:2 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active",
            "candidate:3 1 udp 2113937151 fe80::1%eth0 50000 typ host",
            "candidate:4 1 udp 2113937151 127.0.0.1 0 typ host",
            "candidate:5 2 udp 2113937151 127.0.0.1 50001 typ host generation 0 x-new thing",
        ].compactMap { ICECandidate(sdp: $0) }
        #expect(odd.count == 5)
        theirs.give(to: waiting, candidates: odd)
        // libnice's own state machine would have given up after 5 s of nothing to check.
        try await Task.sleep(for: .milliseconds(6500))
        ours.give(to: calling)
        #expect(await waiting.isReady())
        #expect(await calling.isReady())
    }

    @Test func portsComeFromTheRangeAndAFullRangeIsReported() async throws {
        let range: ClosedRange<UInt16> = 48100...48101
        var sides = (0..<2).map { _ in ICESide(loop: Self.loop, controlling: false, portRange: range) }
        var ports: Set<UInt16> = []
        for side in sides { ports.formUnion(try await side.gathered().candidates.map(\.port)) }
        #expect(ports == [48100, 48101])
        let third = ICESide(loop: Self.loop, controlling: false, portRange: range)
        let failure = await third.first { if case .failed(let error) = $0 { error } else { nil } }
        #expect(failure == .gatheringFailed)
        sides.removeAll()
        await Self.loop.run {}
        let fourth = ICESide(loop: Self.loop, controlling: false, portRange: range)
        #expect(try await ports.contains(#require(fourth.gathered().candidates.first).port))
    }

    @Test func wrongAddressesAndCredentialsAreReported() async throws {
        let named = ICESide(loop: Self.loop, controlling: true, addresses: ["localhost.invalid"])
        let failure = await named.first { if case .failed(let error) = $0 { error } else { nil } }
        #expect(failure == .badLocalAddress("localhost.invalid"))
        let side = ICESide(loop: Self.loop, controlling: true)
        _ = try await side.gathered()
        side.agent.setRemote(ufrag: "abc", password: String(repeating: "p", count: 22), candidates: [])
        let refused = await side.first { if case .failed(let error) = $0 { error } else { nil } }
        #expect(refused == .badRemoteCredentials)
    }

    @Test func nothingIsReportedAfterClose() async throws {
        let side = ICESide(loop: Self.loop, controlling: true)
        _ = try await side.gathered()
        side.agent.close()
        side.agent.close()
        side.agent.send([[22]])
        side.agent.setRemote(ufrag: "abcd", password: String(repeating: "p", count: 22), candidates: [])
        await Self.loop.run {}
        let count = side.events.count
        await Self.loop.run {}
        #expect(side.events.count == count)
    }
}

@Suite(.serialized) struct ICETeardownTests {
    /// UDP ports of this range that are bound in this process or another, as the kernel lists them.
    static func boundPorts(in range: ClosedRange<UInt16>) throws -> Set<UInt16> {
        let table = try String(contentsOfFile: "/proc/net/udp", encoding: .utf8)
        let ports = table.split(separator: "\n").dropFirst().compactMap { line -> UInt16? in
            let words = line.split(separator: " ")
            return words.count > 1 ? UInt16(words[1].suffix(4), radix: 16) : nil
        }
        return Set(ports.filter(range.contains))
    }

    @Test func aHundredAgentsComeAndGoUnderLoadAndLeaveNoSocket() async throws {
        let loop = GLibLoop(name: "teardown")
        let range: ClosedRange<UInt16> = 48200...48500
        for _ in 0..<5 {
            // Torn down in every stage: before gathering is done, connecting, and connected with data under way.
            let sides = (0..<20).map { ICESide(loop: loop, controlling: $0 % 2 == 0, portRange: range) }
            for index in stride(from: 0, to: 10, by: 2) {
                let (one, two) = (sides[index], sides[index + 1])
                let (ours, theirs) = try await (one.gathered(), two.gathered())
                theirs.give(to: one)
                ours.give(to: two)
                if index < 4 {
                    #expect(await one.isReady())
                    for _ in 0..<100 { one.agent.send([[22, 0, 0]]) }
                }
            }
            for side in sides where Bool.random() { side.agent.close() }
        }
        let end = ContinuousClock.now + .seconds(5)
        while try !Self.boundPorts(in: range).isEmpty, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try Self.boundPorts(in: range) == [])
    }
}
