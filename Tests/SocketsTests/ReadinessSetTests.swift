import Sockets
import Testing

@Suite struct ReadinessSetTests {
    private func poll(_ set: ReadinessSet, capacity: Int = 8) -> [UInt64] {
        var tokens = [UInt64](repeating: 0, count: capacity)
        var span = tokens.mutableSpan
        let count = set.poll(into: &span)
        return Array(tokens[..<count]).sorted()
    }

    @Test func aSocketIsNamedUntilItIsReadEmpty() throws {
        let set = try ReadinessSet()
        let one = try UDPSocketTests.bound("127.0.0.1")
        let two = try UDPSocketTests.bound("127.0.0.1")
        try set.add(one, token: 1)
        try set.add(two, token: .max)
        #expect(poll(set) == [])
        one.send([1].span, to: two.localAddress)
        #expect(poll(set) == [.max])
        #expect(poll(set) == [.max])
        two.send([1].span, to: one.localAddress)
        #expect(poll(set) == [1, .max])
        #expect(poll(set, capacity: 1).count == 1)
        _ = UDPSocketTests.take(one)
        _ = UDPSocketTests.take(two)
        #expect(poll(set) == [])
    }

    @Test func aRemovedOrClosedSocketIsNotNamed() throws {
        let set = try ReadinessSet()
        let one = try UDPSocketTests.bound("127.0.0.1")
        var two: UDPSocket? = try UDPSocketTests.bound("127.0.0.1")
        let twoAddress = try #require(two?.localAddress)
        try set.add(one, token: 1)
        try set.add(#require(two), token: 2)
        one.send([1].span, to: one.localAddress)
        one.send([1].span, to: twoAddress)
        try set.remove(one)
        #expect(poll(set) == [2])
        two = nil
        #expect(poll(set) == [])
        #expect(throws: SocketError.self) { try set.remove(one) }
    }

    @Test func aSocketMayBeAddedOnce() throws {
        let set = try ReadinessSet()
        let socket = try UDPSocketTests.bound("127.0.0.1")
        try set.add(socket, token: 1)
        #expect(throws: SocketError.self) { try set.add(socket, token: 2) }
    }
}
