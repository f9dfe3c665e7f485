import Foundation
import GLibLoop
import Glibc

/// A peer on a UDP socket that answers by script: it sees each message as text and says what to send back.
///
/// The socket is read on a thread of its own; `received` is kept on the control loop.
@ControlActor final class ScriptedPeer {
    let port: UInt16
    let received = Events<SIPText>()
    private let socket: Int32

    /// - Parameter script: called on the peer's thread, in the order of arrival.
    init(script: @escaping @Sendable (SIPText) -> [String]) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        self.socket = socket
        var address = Self.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                _ = bind(socket, plain, size)
                _ = getsockname(socket, plain, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        let received = received
        let thread = Thread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                var source = sockaddr_in()
                var size = socklen_t(MemoryLayout<sockaddr_in>.size)
                let count = withUnsafeMutablePointer(to: &source) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                        recvfrom(socket, &buffer, buffer.count, 0, plain, &size)
                    }
                }
                guard count > 0 else { break }
                // A single byte ends the thread; see `close`.
                if count == 1, buffer[0] == 0xFF { break }
                let message = SIPText(String(decoding: buffer[..<count], as: UTF8.self))
                GLibLoop.control.perform { ControlActor.assumeIsolated { received.append(message) } }
                for answer in script(message) { Self.send(answer, on: socket, to: source) }
            }
            _ = Glibc.close(socket)
        }
        thread.start()
    }

    func send(_ text: String, to port: UInt16) { Self.send(text, on: socket, to: Self.loopback(port: port)) }

    func close() {
        var address = Self.loopback(port: port)
        var byte: UInt8 = 0xFF
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                _ = sendto(socket, &byte, 1, 0, plain, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private nonisolated static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private nonisolated static func send(_ text: String, on socket: Int32, to address: sockaddr_in) {
        var address = address
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                _ = sendto(socket, bytes, bytes.count, 0, plain, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// A SIP message as text, with what a script needs of it.
struct SIPText: Sendable {
    let text: String
    let lines: [String]

    init(_ text: String) {
        self.text = text
        lines = text.components(separatedBy: "\r\n")
    }

    /// The method, or the status code.
    var start: String {
        let words = lines.first?.split(separator: " ") ?? []
        guard let first = words.first else { return "" }
        return first == "SIP/2.0" ? String(words.count > 1 ? words[1] : "") : String(first)
    }

    /// The To tag.
    var toTag: String? { header("To")?.components(separatedBy: "tag=").dropFirst().first }

    var requestURI: String { lines.first?.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

    func header(_ name: String) -> String? {
        let prefix = name.lowercased() + ":"
        return lines.first { $0.lowercased().hasPrefix(prefix) }
            .map { String($0.dropFirst(prefix.count)).trimmingCharacters(in: .whitespaces) }
    }

    /// A response to this request.
    func response(_ status: String, tag: String? = nil, _ more: [String] = [], body: String = "") -> String {
        let copied = lines.filter { line in
            ["via:", "from:", "call-id:", "cseq:", "record-route:"].contains { line.lowercased().hasPrefix($0) }
        }
        var to = header("To") ?? ""
        if let tag, !to.contains(";tag=") { to += ";tag=\(tag)" }
        return ScriptText.message(["SIP/2.0 \(status)"] + copied + ["To: \(to)"] + more, body: body)
    }
}

/// Requests that a scripted peer starts with.
enum ScriptText {
    static func message(_ lines: [String], body: String = "") -> String {
        let type = body.isEmpty || lines.contains { $0.hasPrefix("Content-Type") } ? [] : ["Content-Type: application/sdp"]
        return (lines + type + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n")
    }

    static func request(
        _ method: String, to port: UInt16, from peer: UInt16, call: String = "c1", sequence: Int = 1, toTag: String? = nil,
        branch: String? = nil, _ more: [String] = [], body: String = ""
    ) -> String {
        let branch = branch ?? "z9hG4bK\(method)\(sequence)\(call)"
        return message(
            [
                "\(method) sip:100@127.0.0.1:\(port) SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:\(peer);branch=\(branch);rport",
                "Max-Forwards: 70", "From: <sip:peer@127.0.0.1:\(peer)>;tag=peer\(call)",
                "To: <sip:100@127.0.0.1:\(port)>" + (toTag.map { ";tag=\($0)" } ?? ""), "Call-ID: \(call)@peer",
                "CSeq: \(sequence) \(method)", "Contact: <sip:peer@127.0.0.1:\(peer)>",
            ] + more, body: body)
    }
}

/// A plain TCP client for what a SIP peer would not send.
enum TCPProbe {
    /// Connects, writes the pieces one by one, and reads until so many responses have come or 10 s have passed.
    static func exchange(port: UInt16, pieces: [[UInt8]], responses: Int) async -> String {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: run(port: port, pieces: pieces, responses: responses)) }
            thread.start()
        }
    }

    private static func run(port: UInt16, pieces: [[UInt8]], responses: Int) -> String {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { _ = Glibc.close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                connect(socket, plain, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return "" }
        var on: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        for piece in pieces { _ = Glibc.send(socket, piece, piece.count, Int32(MSG_NOSIGNAL)) }
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 65536)
        while text.components(separatedBy: "SIP/2.0 ").count <= responses {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text
    }
}
