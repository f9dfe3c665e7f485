import Sockets
import Testing

@Suite struct SocketAddressTests {
    @Test(arguments: ["192.0.2.7", "127.0.0.1", "0.0.0.0", "::1", "2001:db8::42", "::"])
    func anAddressComesBackAsItWasWritten(text: String) throws {
        let address = try #require(SocketAddress(text, port: 5004))
        #expect(address.host == text)
        #expect(address.port == 5004)
        #expect(SocketAddress(address.description) == address)
    }

    @Test(arguments: ["", "localhost", "1.2.3", "1.2.3.4.5", "256.0.0.1", "fe80::1%eth0", "1.2.3.4\0", "x.local"])
    func whatIsNoNumericAddressIsRefused(text: String) {
        #expect(SocketAddress(text, port: 1) == nil)
    }

    @Test(arguments: ["1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "::1:5004", "[::1]", ":5004", "[::1:5004"])
    func whatIsNoAddressWithPortIsRefused(text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test func equalityCoversFamilyHostAndPort() throws {
        let four = SocketAddress(127, 0, 0, 1, port: 9)
        #expect(four == SocketAddress("127.0.0.1", port: 9))
        #expect(four != SocketAddress("127.0.0.1", port: 10))
        #expect(four != SocketAddress("127.0.0.2", port: 9))
        #expect(SocketAddress("::", port: 9) != SocketAddress("0.0.0.0", port: 9))
        #expect(four.with(port: 10).port == 10)
        #expect(Set([four, SocketAddress(127, 0, 0, 1, port: 9)]).count == 1)
    }

    @Test func specialAddressesAreKnown() throws {
        #expect(SocketAddress(127, 9, 9, 9, port: 0).isLoopback)
        #expect(SocketAddress("::1", port: 0)?.isLoopback == true)
        #expect(!SocketAddress(128, 0, 0, 1, port: 0).isLoopback)
        #expect(SocketAddress("::2", port: 0)?.isLoopback == false)
        #expect(SocketAddress().isUnspecified)
    }

    @Test func theValueIsSmallAndPlain() {
        #expect(MemoryLayout<SocketAddress>.size <= 24)
        #expect(_isPOD(SocketAddress.self))
    }
}
