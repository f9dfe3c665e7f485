internal import Foundation

/// Loopback ports that the kernel says are free.
///
/// Another process may take a port between the asking and the binding; bind to port 0 where the product can.
public enum FreePort {
    /// A kind of port.
    public enum Kind: Sendable {
        /// Datagrams.
        case udp
        /// Streams.
        case tcp
    }

    /// A free port on 127.0.0.1, or nil if the kernel gave none.
    public static func next(_ kind: Kind) -> UInt16? {
        guard let held = hold(kind, port: 0) else { return nil }
        close(held.descriptor)
        return held.port
    }

    /// Different free ports, all held until the last was found.
    public static func next(_ kind: Kind, count: Int) -> [UInt16] {
        let held = (0..<count).compactMap { _ in hold(kind, port: 0) }
        for socket in held { close(socket.descriptor) }
        return held.map(\.port)
    }

    /// An even UDP port whose odd neighbour is free as well: RTP and RTCP.
    public static func nextPair() -> UInt16? {
        for _ in 0..<100 {
            guard let first = hold(.udp, port: 0) else { return nil }
            defer { close(first.descriptor) }
            guard first.port % 2 == 0, first.port < .max, let second = hold(.udp, port: first.port + 1) else { continue }
            close(second.descriptor)
            return first.port
        }
        return nil
    }

    private static func hold(_ kind: Kind, port: UInt16) -> (descriptor: Int32, port: UInt16)? {
        #if canImport(Glibc)
            let type = Int32((kind == .udp ? SOCK_DGRAM : SOCK_STREAM).rawValue)
        #else
            let type = kind == .udp ? SOCK_DGRAM : SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return nil
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }
}
