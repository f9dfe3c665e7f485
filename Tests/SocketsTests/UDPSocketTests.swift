import Foundation
import Sockets
import Testing

@Suite struct UDPSocketTests {
    static let loopbacks = ["127.0.0.1", "::1"]

    static func bound(_ host: String, port: UInt16 = 0, reusePort: Bool = false) throws -> UDPSocket {
        try UDPSocket(boundTo: try #require(SocketAddress(host, port: port)), reusePort: reusePort)
    }

    /// Waits for a datagram and gives it with its source.
    static func next(_ socket: UDPSocket) throws -> (bytes: [UInt8], source: SocketAddress)? {
        let set = try ReadinessSet()
        try set.add(socket, token: 1)
        var tokens: [UInt64] = [0]
        var span = tokens.mutableSpan
        guard set.poll(into: &span, timeoutMilliseconds: 2000) == 1 else { return nil }
        return take(socket)
    }

    static func take(_ socket: UDPSocket) -> (bytes: [UInt8], source: SocketAddress)? {
        var buffer = [UInt8](repeating: 0, count: 2048)
        var source = SocketAddress()
        var span = buffer.mutableSpan
        guard let count = socket.receive(into: &span, from: &source) else { return nil }
        return (Array(buffer[..<count]), source)
    }

    @Test(arguments: loopbacks) func aDatagramArrivesWithItsSource(host: String) throws {
        let one = try Self.bound(host)
        let other = try Self.bound(host)
        let payload: [UInt8] = [0x80, 1, 2, 3]
        #expect(one.localAddress.port != 0)
        let sent = one.send(payload.span, to: other.localAddress)
        #expect(sent)
        let got = try #require(try Self.next(other))
        #expect(got.bytes == payload)
        #expect(got.source == one.localAddress)
        #expect(Self.take(other) == nil)
    }

    @Test func anEmptyDatagramIsNotNoDatagram() throws {
        let socket = try Self.bound("127.0.0.1")
        socket.send([UInt8]().span, to: socket.localAddress)
        #expect(try #require(try Self.next(socket)).bytes.isEmpty)
    }

    @Test func aTakenPortIsToldApart() throws {
        let first = try Self.bound("127.0.0.1")
        let error = #expect(throws: SocketError.self) { try Self.bound("127.0.0.1", port: first.localAddress.port) }
        #expect(error?.isAddressInUse == true)
        #expect(error?.description.hasPrefix("bind: ") == true)
    }

    @Test func refusedSendsAreCounted() throws {
        let socket = try Self.bound("127.0.0.1")
        let tooLong = [UInt8](repeating: 0, count: 70_000)
        let sent = socket.send(tooLong.span, to: socket.localAddress)
        #expect(!sent)
        #expect(socket.sendFailures == 1)
        #expect(socket.lastSendError == EMSGSIZE)
    }

    @Test func aClosedSocketGivesItsPortBack() throws {
        var socket: UDPSocket? = try Self.bound("127.0.0.1")
        let port = try #require(socket?.localAddress.port)
        socket = nil
        #expect(throws: Never.self) { try Self.bound("127.0.0.1", port: port) }
    }

    @Test func theReceiveBufferGrowsAndOverflowIsCounted() throws {
        let socket = try Self.bound("127.0.0.1")
        #expect(try socket.enlargeReceiveBuffer(to: 100_000) >= 100_000)
        let payload = [UInt8](repeating: 0x80, count: 1000)
        for _ in 0..<2000 { socket.send(payload.span, to: socket.localAddress) }
        var read = 0
        while Self.take(socket) != nil { read += 1 }
        #expect(socket.kernelDrops == 2000 - read)
    }

    @Test(arguments: loopbacks) func voiceMayBeMarked(host: String) throws {
        #expect(throws: Never.self) { try Self.bound(host).setDSCP(46) }
    }

    @Test(arguments: loopbacks) func theKernelSortsASharedPortByFirstByte(host: String) throws {
        // The first socket stands for libnice's: it learns to share only after it was bound.
        let first = try Self.bound(host)
        try UDPSocket.allowReusePort(fileDescriptor: first.fileDescriptor)
        #expect(try UDPSocket.localAddress(ofFileDescriptor: first.fileDescriptor) == first.localAddress)
        let second = try Self.bound(host, port: first.localAddress.port, reusePort: true)
        try second.attachReusePortFilter(minimumFirstByte: 64)
        let sender = try Self.bound(host)
        for byte in UInt8.min...UInt8.max { sender.send([byte, 0].span, to: first.localAddress) }
        sender.send([UInt8]().span, to: first.localAddress)
        var toFirst: [UInt8?] = []
        var toSecond: [UInt8?] = []
        while let got = Self.take(first) { toFirst.append(got.bytes.first) }
        while let got = Self.take(second) { toSecond.append(got.bytes.first) }
        #expect(toFirst == (0..<64).map { UInt8($0) } + [nil])
        #expect(toSecond == (64...255).map { UInt8($0) })
    }
}
