internal import CLinux

/// An IPv4 or IPv6 address and a UDP port.
///
/// A plain value of fixed size: comparing, hashing and copying one touches no heap, so a lane may compare the source of
/// every packet with it.
public struct SocketAddress: Hashable, Sendable {
    /// The address bytes in network order; an IPv4 address fills the upper half's first four.
    private let high: UInt64
    private let low: UInt64
    private let scope: UInt32
    /// The UDP port in host order.
    public var port: UInt16
    /// Whether this is an IPv6 address.
    public let isIPv6: Bool

    /// The IPv4 wildcard address with port 0: a value to receive into.
    public init() {
        high = 0
        low = 0
        scope = 0
        port = 0
        isIPv6 = false
    }

    /// An IPv4 address by its four bytes.
    public init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, port: UInt16) {
        self.init(flat: Self.flat(bytes: (a, b, c, d), port: port))
    }

    /// Parses a numeric address: "192.0.2.1", "::1" or "[::1]". Names are not looked up.
    ///
    /// - Returns: nil for anything that is not a numeric address; a zone ("fe80::1%eth0") is not taken.
    public init?(_ host: some StringProtocol, port: UInt16) {
        var text = Substring(host)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        guard !text.utf8.contains(0) else { return nil }
        var flat = shim_address()
        guard String(text).withCString({ shim_parse_address($0, &flat) }) == 1 else { return nil }
        flat.port = port
        self.init(flat: flat)
    }

    /// Parses "192.0.2.1:5004" or "[2001:db8::1]:5004".
    public init?(_ hostAndPort: some StringProtocol) {
        guard let colon = hostAndPort.lastIndex(of: ":"),
            let port = UInt16(hostAndPort[hostAndPort.index(after: colon)...])
        else { return nil }
        let host = hostAndPort[..<colon]
        guard !host.contains(":") || (host.hasPrefix("[") && host.hasSuffix("]")) else { return nil }
        self.init(host, port: port)
    }

    /// The address without the port, as SDP writes it: "192.0.2.1" or "2001:db8::1".
    public var host: String {
        var flat = flat
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 46) { text in
            guard let base = text.baseAddress else { return "" }
            shim_print_address(&flat, base)
            return String(cString: base)
        }
    }

    /// Whether this is 127.0.0.0/8 or ::1.
    public var isLoopback: Bool {
        isIPv6 ? high == 0 && UInt64(bigEndian: low) == 1 : UInt64(bigEndian: high) >> 56 == 127
    }

    /// Whether this is 0.0.0.0 or ::.
    public var isUnspecified: Bool { high == 0 && low == 0 }

    /// The same host with another port.
    public func with(port: UInt16) -> SocketAddress {
        var copy = self
        copy.port = port
        return copy
    }

    /// The flat form that the system door speaks.
    var flat: shim_address {
        var flat = shim_address()
        withUnsafeMutableBytes(of: &flat.bytes) { bytes in
            bytes.storeBytes(of: high, as: UInt64.self)
            bytes.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
        }
        flat.scope = scope
        flat.port = port
        flat.is_v6 = isIPv6 ? 1 : 0
        return flat
    }

    init(flat: shim_address) {
        var bytes = flat.bytes
        (high, low) = withUnsafeBytes(of: &bytes) { bytes in
            (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        scope = flat.scope
        port = flat.port
        isIPv6 = flat.is_v6 != 0
    }

    private static func flat(bytes: (UInt8, UInt8, UInt8, UInt8), port: UInt16) -> shim_address {
        var flat = shim_address()
        flat.bytes.0 = bytes.0
        flat.bytes.1 = bytes.1
        flat.bytes.2 = bytes.2
        flat.bytes.3 = bytes.3
        flat.port = port
        return flat
    }
}

extension SocketAddress: CustomStringConvertible {
    /// "192.0.2.1:5004" or "[2001:db8::1]:5004", which the initializer reads back.
    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
