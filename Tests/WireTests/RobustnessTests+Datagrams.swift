import ClientTransport
import DTLS
import Foundation
import GLibLoop
import GatewayTesting
import RTP
import SRTP
import Sockets
import Testing
import WCSProtocol

extension Wire.RobustnessTests {
    @Test("Garbage, truncated and forged packets on every UDP port are dropped while a call goes on")
    func datagrams() async throws {
        let gateway = try await GatewayProcess.start()
        let caller = try await ScriptedClient.signIn(gateway)
        let call = try await answeredCall(of: caller)
        let ports = Array(Set(gateway.resources.udpPorts)).map { UInt16(clamping: $0) }
        #expect(ports.count >= 7, "SIP, client media, two trunk and two demo ports, demo SIP: \(ports)")
        let path = try #require(call.path)
        for _ in 0..<3 {
            await throwGarbage(at: ports)
            await forgeFromTheClient(path.socket, to: path.remote)
        }
        #expect(gateway.resources.isAlive)
        try await judge(call)
        // Strangers must not be able to fill the log either.
        let lines = gateway.process.output.count
        #expect(lines < 60, "\(gateway.process.output.suffix(20))")
        caller.leave()
        #expect(await gateway.stop() == .status(0))
    }

    /// One stranger for each port; runs off the control loop, for it takes a while.
    nonisolated private func throwGarbage(at ports: [UInt16]) async {
        var random = SeededRandom(printedFor: "garbage on every UDP port")
        let hellos = Self.clientHellos()
        for port in ports {
            let target = SocketAddress(127, 0, 0, 1, port: port)
            guard let stranger = try? UDPSocket(boundTo: SocketAddress(127, 0, 0, 1, port: 0)) else { continue }
            for first: UInt8 in [0, 1, 19, 20, 22, 63, 64, 79, 128, 144, 191, 192, 200, 255] {
                for _ in 0..<8 { stranger.send(([first] + random.bytes(upTo: 1400)).span, to: target) }
            }
            for whole in [Self.bindingRequest, Self.rtp(sequence: 7), Self.report] + hellos.prefix(1) {
                for length in 0..<min(whole.count, 80) { stranger.send(Array(whole[..<length]).span, to: target) }
                for _ in 0..<50 { stranger.send(random.damaged(whole).span, to: target) }
            }
            for hello in hellos { stranger.send(hello.span, to: target) }
            for sequence in 0..<300 { stranger.send(Self.rtp(sequence: UInt16(sequence)).span, to: target) }
            stranger.send([UInt8](repeating: 0x80, count: 65_000).span, to: target)
        }
    }

    /// From the client's very address, so that only the seal tells them from the client's own.
    nonisolated private func forgeFromTheClient(_ socket: UDPSocket, to gateway: SocketAddress) async {
        var random = SeededRandom(printedFor: "forged SRTP")
        for sequence in 0..<300 {
            socket.send(Self.rtp(sequence: UInt16(sequence)).span, to: gateway)
            socket.send((Self.report + random.bytes(upTo: 60)).span, to: gateway)
            socket.send(([0x80 | 0x3F, 111] + random.bytes(upTo: 1400)).span, to: gateway)
        }
    }

    /// 200 first flights of strangers that will never answer.
    nonisolated private static func clientHellos() -> [[UInt8]] {
        guard let certificate = try? DTLSCertificate() else { return [] }
        return (0..<200).flatMap { _ -> [[UInt8]] in
            let connection = try? DTLSConnection(certificate: certificate, role: .active, fingerprints: [])
            return connection?.start().datagrams ?? []
        }
    }

    /// 20 ms of a loud tone of 3 kHz in mu-law: would be heard if it were taken.
    nonisolated private static func rtp(sequence: UInt16) -> [UInt8] {
        let stamp = UInt32(sequence) * 160
        var packet: [UInt8] = [0x80, 0, UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
        packet += (0..<4).map { UInt8(truncatingIfNeeded: stamp >> (24 - 8 * UInt32($0))) }
        return packet + [0xDE, 0xAD, 0xBE, 0xEF]
            + (0..<160).map { [0x80, 0x90, 0xFF, 0x10, 0x00, 0x10, 0x7F, 0x90][$0 % 8] }
    }

    nonisolated private static let report: [UInt8] =
        [0x81, 201, 0, 7, 0xDE, 0xAD, 0xBE, 0xEF] + [UInt8](repeating: 0xFF, count: 24) + [
            0x81, 203, 0, 1, 0xDE, 0xAD, 0xBE, 0xEF,
        ]

    /// A STUN Binding request with a username and an integrity that fit nobody (RFC 8489).
    nonisolated private static let bindingRequest: [UInt8] =
        [0, 1, 0, 36, 0x21, 0x12, 0xA4, 0x42] + (1...12).map { UInt8($0) } + [0, 6, 0, 8] + Array("abcd:xyz".utf8)
        + [0, 8, 0, 20] + [UInt8](repeating: 0xAA, count: 20)

    @Test("A client that replays its own packets twenty times is heard once, and nobody else hears of it")
    func replays() async throws {
        let gateway = try await GatewayProcess.start()
        let caller = try await ScriptedClient.signIn(gateway)
        let call = try await answeredCall(of: caller)
        let rude = try await ScriptedClient.signIn(gateway)
        let second = rude.call("100", sound: .none)
        try await second.becomes(.established)
        #expect(await eventually { second.path != nil })
        let path = try #require(second.path)
        let packets = try sealedPackets(path.keys.send)
        for packet in packets { for _ in 0..<20 { path.socket.send(packet.span, to: path.remote) } }
        for packet in packets.reversed() { path.socket.send(packet.span, to: path.remote) }
        try await judge(call)
        #expect(second.status == .established)
        second.hangUp()
        try await second.becomes(.finish)
        #expect(await gateway.stop() == .status(0))
    }

    private func sealedPackets(_ keys: SRTPKeyMaterial) throws -> [[UInt8]] {
        var sender = try SRTPSender(keys)
        return try (0..<100).map { number in
            let stamp = (0..<4).map { UInt8(truncatingIfNeeded: number * 960 >> (24 - 8 * $0)) }
            let header: [UInt8] = [0x80, 111, 0, UInt8(number)] + stamp
            // An Opus packet of silence: one frame of 20 ms.
            let packet = header + [0, 0, 0, 1, 0xF8, 0xFF, 0xFE]
            var buffer = packet + [UInt8](repeating: 0, count: 32)
            var span = buffer.mutableSpan
            let length = try sender.protectRTP(&span, length: packet.count)
            return Array(buffer[..<length])
        }
    }

    @Test("SIP that no one should send, over UDP and TCP, is answered or dropped while a call goes on")
    func brokenSIP() async throws {
        let gateway = try await GatewayProcess.start()
        let caller = try await ScriptedClient.signIn(gateway)
        let call = try await answeredCall(of: caller)
        let before = gateway.resources.residentKilobytes
        for port in [gateway.ports.sip, gateway.ports.demo] {
            let peer = try RawSIP(target: port)
            var random = SeededRandom(printedFor: "broken SIP")
            for text in Self.brokenMessages(port: port) { peer.send(text) }
            let whole = Array(peer.request("INVITE", "100", callID: "damaged", body: RawSIP.offer).utf8)
            for _ in 0..<300 { peer.send(random.damaged(whole)) }
            #expect(await Self.answers(port), "SIP port \(port) is deaf")
            await Self.torturesStream(UInt16(clamping: port))
            #expect(await Self.answers(port), "SIP port \(port) is deaf")
        }
        let after = gateway.resources.residentKilobytes
        print("broken SIP: \(before) kB resident before, \(after) kB after")
        #expect(after < before + 60_000)
        try await judge(call)
        caller.leave()
        #expect(await gateway.stop() == .status(0))
    }

    nonisolated private static func answers(_ port: Int) async -> Bool {
        await eventually(timeout: .seconds(10)) { Loopback.answersOptions(port) }
    }

    /// Over TCP: one byte at a time, headers without end, a body that never comes, and bytes of nothing.
    nonisolated private static func torturesStream(_ port: UInt16) async {
        let via = "Via: SIP/2.0/TCP 127.0.0.1:5;branch=z9hG4bKdrop"
        let options = """
            OPTIONS sip:x@127.0.0.1 SIP/2.0\r\n\(via)\r\nMax-Forwards: 5\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:x@c>\r
            Call-ID: drops-\(port)\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n
            """
        let slow = RawClient(port: port)
        for byte in options.utf8 { slow?.send([byte]) }
        #expect(slow?.read { $0.contains("\r\n\r\n") }.hasPrefix("SIP/2.0 ") == true, "one byte at a time")

        let endless = RawClient(port: port)
        endless?.send("INVITE sip:x@127.0.0.1 SIP/2.0\r\n\(via)\r\n")
        let line = Array("X-Endless: \(String(repeating: "e", count: 8000))\r\n".utf8)
        for _ in 0..<4000 where endless?.send(line) != true { break }

        let promising = RawClient(port: port)
        promising?.send(options.replacing("Content-Length: 0", with: "Content-Length: 2000000000"))
        let negative = RawClient(port: port)
        negative?.send(options.replacing("Content-Length: 0", with: "Content-Length: -5"))
        let noise = RawClient(port: port)
        noise?.send((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7919) })
        let idle = (0..<50).compactMap { _ in RawClient(port: port) }
        #expect(idle.count == 50)
    }

    /// In the manner of RFC 4475: each breaks one rule.
    nonisolated private static func brokenMessages(port: Int) -> [String] {
        let via = "Via: SIP/2.0/UDP 127.0.0.1:9;rport;branch=z9hG4bK"
        func message(_ first: String, _ lines: [String], body: String = "") -> String {
            ([first] + lines + ["", body]).joined(separator: "\r\n")
        }
        let ends = ["From: <sip:a@b>;tag=1", "To: <sip:100@c>", "Max-Forwards: 5"]
        let long = String(repeating: "a", count: 30_000)
        return [
            "", "\r\n\r\n", "SIP/2.0\r\n\r\n", "INVITE\r\n\r\n", "INVITE sip:100@127.0.0.1 SIP/7.0\r\n\r\n",
            message("INVITE sip:100@127.0.0.1 SIP/2.0", []),
            message("INVITE sip:100@127.0.0.1 SIP/2.0", [via + "1", "CSeq: 1 INVITE", "Call-ID: t1"]),
            message("INVITE sip:100@127.0.0.1 SIP/2.0", [via + "2", "CSeq: 1 BYE", "Call-ID: t2"] + ends),
            message("INVITE sip:100@127.0.0.1 SIP/2.0", [via + "3", "CSeq: 99999999999 INVITE", "Call-ID: t3"] + ends),
            message("INVITE sip:100@127.0.0.1 SIP/2.0", [via + "4", "CSeq: 1 INVITE", "Call-ID: \(long)"] + ends),
            message("INVITE \(long) SIP/2.0", [via + "5", "CSeq: 1 INVITE", "Call-ID: t5"] + ends),
            message("BYE sip:nobody@127.0.0.1 SIP/2.0", [via + "6", "CSeq: 1 BYE", "Call-ID: t6"] + ends),
            message("CANCEL sip:nobody@127.0.0.1 SIP/2.0", [via + "7", "CSeq: 1 CANCEL", "Call-ID: t7"] + ends),
            message("ACK sip:nobody@127.0.0.1 SIP/2.0", [via + "8", "CSeq: 1 ACK", "Call-ID: t8"] + ends),
            message("WHATEVER sip:100@127.0.0.1 SIP/2.0", [via + "9", "CSeq: 1 WHATEVER", "Call-ID: t9"] + ends),
            message("SIP/2.0 200 OK", [via + "10", "CSeq: 1 INVITE", "Call-ID: t10"] + ends),
            message("SIP/2.0 99999 Big", [via + "11", "CSeq: 1 INVITE", "Call-ID: t11"] + ends),
            message(
                "INVITE sip:100@127.0.0.1 SIP/2.0",
                [via + "12", "CSeq: 1 INVITE", "Call-ID: t12", "Content-Length: 9999", "Contact: *"] + ends, body: "v=0"),
            message(
                "INVITE sip:100@127.0.0.1 SIP/2.0",
                [via + "13", "CSeq: 1 INVITE", "Call-ID: t13", "Content-Length: -1", "Contact: <sip:%%%@>"] + ends),
            message(
                "INVITE sip:100@127.0.0.1;maddr=127.0.0.1;ttl=999 SIP/2.0",
                [via + "14", "CSeq: 1 INVITE", "Call-ID: t14", "Require: nothing-you-know", "Contact: <sip:a@b>"] + ends),
            message(
                "REGISTER sip:127.0.0.1 SIP/2.0",
                [via + "15", "CSeq: 1 REGISTER", "Call-ID: t15", "Contact: *", "Expires: -9999999999"] + ends),
            message("OPTIONS sip:127.0.0.1:\(port) SIP/2.0", (0..<500).map { "\(via)\($0)" } + ["CSeq: 1 OPTIONS"] + ends),
        ]
    }
}
