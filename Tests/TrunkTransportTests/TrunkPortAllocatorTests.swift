import Sockets
import Synchronization
import Testing
import TrunkTransport

@Suite(.serialized) struct TrunkPortAllocatorTests {
    private let loopback = SocketAddress(127, 0, 0, 1, port: 0)

    private final class Clock: Sendable {
        private let time = Mutex(Duration.zero)
        var now: Duration { time.withLock { $0 } }
        func advance(by step: Duration) { time.withLock { $0 += step } }
    }

    @Test func aPairIsEvenAndOdd() throws {
        let allocator = TrunkPortAllocator(address: loopback, range: 46001...46100)
        #expect(allocator.capacity == 49)
        for _ in 0..<20 {
            let pair = try allocator.open()
            #expect(pair.rtp.localAddress.port % 2 == 0)
            #expect(pair.rtcp.localAddress.port == pair.rtp.localAddress.port + 1)
            #expect((46002...46099).contains(pair.localAddress.port))
        }
    }

    @Test(arguments: [5000...5000, 5001...5002, 0...1] as [ClosedRange<UInt16>])
    func aRangeWithoutAWholePairIsExhaustedFromTheStart(range: ClosedRange<UInt16>) {
        let allocator = TrunkPortAllocator(address: loopback, range: range)
        #expect(allocator.capacity == 0)
        #expect(throws: TrunkPortError.exhausted) { try allocator.open() }
    }

    @Test func theTopOfTheRangeDoesNotOverflow() {
        #expect(TrunkPortAllocator(address: loopback, range: 65530...65535).capacity == 3)
    }

    @Test func usedPortsRestAndThenComeBack() throws {
        let clock = Clock()
        let allocator = TrunkPortAllocator(address: loopback, range: 46200...46207, now: { clock.now })
        var pairs = try (0..<4).map { _ in try allocator.open() }
        #expect(Set(pairs.map(\.localAddress.port)) == [46200, 46202, 46204, 46206])
        #expect(throws: TrunkPortError.exhausted) { try allocator.open() }
        let freed = pairs.removeLast().localAddress.port
        clock.advance(by: .seconds(29))
        #expect(throws: TrunkPortError.exhausted) { try allocator.open() }
        clock.advance(by: .seconds(1))
        #expect(try allocator.open().localAddress.port == freed)
    }

    @Test func aThousandCallsLeakNoPort() throws {
        let clock = Clock()
        let allocator = TrunkPortAllocator(address: loopback, range: 46300...46319, now: { clock.now })
        for _ in 0..<1000 {
            _ = try allocator.open()
            clock.advance(by: .seconds(4))
        }
        clock.advance(by: .seconds(30))
        #expect(allocator.available == 10)
    }

    @Test func aPortHeldByOthersIsPassedOver() throws {
        let stranger = try UDPSocket(boundTo: loopback.with(port: 46401))
        let allocator = TrunkPortAllocator(address: loopback, range: 46400...46403, restingTime: .zero)
        for _ in 0..<10 { #expect(try allocator.open().localAddress.port == 46402) }
        let only = try allocator.open()
        #expect(throws: TrunkPortError.exhausted) { try allocator.open() }
        withExtendedLifetime((stranger, only)) {}
    }

    @Test func anAddressThatIsNotOursIsNotRetriedForEver() throws {
        let foreign = SocketAddress(192, 0, 2, 1, port: 0)
        let allocator = TrunkPortAllocator(address: foreign, range: 46500...46599)
        let error = #expect(throws: TrunkPortError.self) { try allocator.open() }
        guard case .socket(let inner)? = error else { return #expect(Bool(false), "not a socket error: \(error as Any)") }
        #expect(inner.operation == .bind)
        #expect(allocator.available == allocator.capacity)
    }

    @Test func portsAreTakenAtRandom() throws {
        let allocator = TrunkPortAllocator(address: loopback, range: 47000...47999)
        let ports = try (0..<20).map { _ in try allocator.open() }.map(\.localAddress.port)
        #expect(ports != ports.sorted())
        #expect(Set(ports).count == 20)
    }
}
