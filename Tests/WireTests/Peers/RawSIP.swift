import Foundation
import GLibLoop
import GatewayTesting
import Sockets

/// A SIP peer without a stack: a UDP socket that sends whatever text it is given and keeps every datagram that comes.
@ControlActor final class RawSIP {
    let socket: UDPSocket
    let target: SocketAddress
    private var answers: [String] = []

    init(target port: Int) throws {
        socket = try UDPSocket(boundTo: SocketAddress(127, 0, 0, 1, port: 0))
        target = SocketAddress(127, 0, 0, 1, port: UInt16(clamping: port))
    }

    @discardableResult func send(_ text: String) -> Bool { socket.send(Array(text.utf8).span, to: target) }
    @discardableResult func send(_ bytes: [UInt8]) -> Bool { socket.send(bytes.span, to: target) }

    /// An INVITE to a user of the target's; returns its Call-ID. A large one goes in one datagram all the same.
    func invite(_ user: String, description: String, extra: [String] = []) -> String {
        let callID = UUID().uuidString
        send(request("INVITE", user, callID: callID, extra: extra, body: description))
        return callID
    }

    /// Acknowledges a final refusal, so that it is not sent again.
    func acknowledge(_ user: String, callID: String, response: String) {
        let to = response.split(separator: "\r\n").first { $0.lowercased().hasPrefix("to:") }.map(String.init)
        send(request("ACK", user, callID: callID, to: to))
    }

    func request(
        _ method: String, _ user: String, callID: String, to: String? = nil, extra: [String] = [], body: String = ""
    ) -> String {
        let own = "127.0.0.1:\(socket.localAddress.port)"
        var lines = [
            "\(method) sip:\(user)@\(target) SIP/2.0", "Via: SIP/2.0/UDP \(own);rport;branch=z9hG4bK\(callID)",
            "Max-Forwards: 70", "From: <sip:raw@\(own)>;tag=\(callID)", to ?? "To: <sip:\(user)@\(target)>",
            "Call-ID: \(callID)", "CSeq: 1 \(method)", "Contact: <sip:raw@\(own)>",
        ]
        lines += extra
        if !body.isEmpty { lines.append("Content-Type: application/sdp") }
        lines += ["Content-Length: \(body.utf8.count)", "", body]
        return lines.joined(separator: "\r\n")
    }

    /// Waits for the final response to a call; nil if none comes.
    func finalResponse(to callID: String, within limit: Duration = .seconds(10)) async -> String? {
        var found: String?
        _ = await eventually(timeout: limit) {
            collect()
            found = answers.first { $0.hasPrefix("SIP/2.0 ") && !$0.hasPrefix("SIP/2.0 1") && $0.contains(callID) }
            return found != nil
        }
        return found
    }

    private func collect() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var source = SocketAddress()
        while true {
            var span = buffer.mutableSpan
            guard let count = socket.receive(into: &span, from: &source) else { return }
            answers.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
    }

    /// A trunk's offer of mu-law at a port where nobody listens to it.
    static let offer = description("m=audio 9 RTP/AVP 0\r\n")

    static func description(_ media: String) -> String {
        "v=0\r\no=raw 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n" + media
    }
}
