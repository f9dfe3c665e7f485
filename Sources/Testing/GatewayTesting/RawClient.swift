internal import Glibc

/// A plain blocking TCP client on 127.0.0.1, for peers that do not behave. Each call waits ten seconds at most.
public final class RawClient: @unchecked Sendable {  // used by one test at a time; the descriptor never changes
    private let descriptor: Int32

    /// Connects; nil if nobody listens.
    public init?(port: UInt16, receiveBuffer: Int32? = nil) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let failed = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) != 0
            }
        }
        if failed { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether all bytes were taken.
    @discardableResult public func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// The same with text.
    @discardableResult public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Reads until the peer closes, or until `isEnough` says so.
    public func read(until isEnough: (String) -> Bool = { _ in false }) -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { break }
            all += buffer[..<count]
            if isEnough(String(decoding: all, as: UTF8.self)) { break }
        }
        return String(decoding: all, as: UTF8.self)
    }

    /// One request on a connection of its own; answers with the whole response.
    public static func request(port: UInt16, _ head: String, body: [UInt8] = []) -> String {
        guard let client = RawClient(port: port) else { return "" }
        client.send(head)
        if !body.isEmpty { client.send(body) }
        return client.read()
    }

    /// Opens a WebSocket by hand.
    @discardableResult public func upgrade(path: String = "/") -> String {
        send(
            """
            GET \(path) HTTP/1.1\r
            Host: localhost\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r
            \r\n
            """)
        return read { $0.contains("\r\n\r\n") }
    }

    /// A masked frame (RFC 6455, 5.2) with an all-zero mask.
    public static func frame(opcode: UInt8, isFinal: Bool = true, payload: [UInt8], claimedLength: UInt64? = nil) -> [UInt8]
    {
        let length = claimedLength ?? UInt64(payload.count)
        var bytes = [(isFinal ? 0x80 : 0) | opcode]
        switch length {
        case 0..<126: bytes.append(0x80 | UInt8(length))
        case 126..<65536: bytes += [0x80 | 126, UInt8(length >> 8), UInt8(length & 0xFF)]
        default:
            bytes.append(0x80 | 127)
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(shift)))
            }
        }
        return bytes + [0, 0, 0, 0] + payload
    }
}
