import GLibLoop
import GatewayTesting
import Synchronization
import Testing

@testable import WebServer

/// A server on a free port that echoes each WebSocket message; `stop` it at the end.
@ControlActor private final class EchoServer {
    let server = WebServer()
    let port: UInt16
    var closures: [WebSocketClosure] = []
    var sockets: [WebSocketConnection] = []
    private var closeWaiter: CheckedContinuation<WebSocketClosure, Never>?

    init() throws {
        server.serve(
            "/", contentType: "text/html; charset=utf-8", body: Array("<!doctype html>hello".utf8),
            headers: [("Content-Security-Policy", "default-src 'self'"), ("Cache-Control", "no-cache")])
        server.handle("GET", "/echo") { request in
            .text("\(request.query["word"] ?? "-")|\(request.headers["x-tag"] ?? "-")")
        }
        server.handle("POST", "/echo") { request in HTTPResponse(contentType: "text/plain", body: request.body) }
        server.handle("GET", "/tree/*") { request in .text(request.path) }
        port = try server.listen(host: "127.0.0.1", port: 0)
        server.acceptWebSockets { [weak self] socket in
            self?.sockets.append(socket)
            socket.onText = { [weak socket] text in socket?.send("echo \(text)") }
            socket.onClosed = { [weak self] closure in self?.note(closure) }
        }
    }

    func nextClosure() async -> WebSocketClosure {
        if let last = closures.popLast() { return last }
        return await withCheckedContinuation { closeWaiter = $0 }
    }

    private func note(_ closure: WebSocketClosure) {
        if let waiter = closeWaiter {
            closeWaiter = nil
            waiter.resume(returning: closure)
        } else {
            closures.append(closure)
        }
    }
}

/// Waits for the next message of a socket.
@ControlActor private func nextText(_ socket: WebSocketConnection) async -> String {
    await withCheckedContinuation { continuation in
        socket.onText = { [weak socket] text in
            socket?.onText = nil
            continuation.resume(returning: text)
        }
    }
}

@ControlActor private func closure(of socket: WebSocketConnection) async -> WebSocketClosure {
    await withCheckedContinuation { continuation in socket.onClosed = { continuation.resume(returning: $0) } }
}

/// Runs blocking work off the loop.
private func off<Answer: Sendable>(_ work: @escaping @Sendable () -> Answer) async -> Answer {
    await Task.detached { work() }.value
}

@Suite(.serialized) @ControlActor struct WebServerTests {
    /// 200 clients that come back at once, while the loop is busy elsewhere: all wait their turn, and none is turned away to try
    /// again a second later.
    @Test func aCrowdThatComesAtOnceWaitsAtTheDoor() async throws {
        let echo = try EchoServer()
        let begun = ContinuousClock.now
        // This holds the loop, so nothing is accepted meanwhile.
        let crowd = (0..<200).compactMap { _ in RawClient(port: echo.port) }
        #expect(crowd.count == 200)
        #expect(ContinuousClock.now - begun < .seconds(1))
        for client in crowd { client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
        let served = await off { crowd.count { $0.read().hasPrefix("HTTP/1.1 200") } }
        #expect(served == 200)
        await echo.server.stop()
    }

    @Test func aPageIsServedWithItsHeaders() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let answer = await off { RawClient.request(port: port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.contains("Content-Type: text/html; charset=utf-8\r\n"))
        #expect(answer.contains("Content-Security-Policy: default-src 'self'\r\n"))
        #expect(answer.contains("Content-Length: 20\r\n"))
        #expect(answer.hasSuffix("<!doctype html>hello"))
        let head = await off { RawClient.request(port: port, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
        #expect(head.hasPrefix("HTTP/1.1 200"))
        #expect(!head.contains("<!doctype"))
        await echo.server.stop()
    }

    @Test func handlersSeeQueryHeadersAndBody() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let get = await off {
            RawClient.request(
                port: port, "GET /echo?word=a%20b HTTP/1.1\r\nHost: a\r\nX-Tag: t\r\nConnection: close\r\n\r\n")
        }
        #expect(get.hasSuffix("a b|t"))
        let post = await off {
            RawClient.request(
                port: port, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\n",
                body: [65, 0, 66])
        }
        #expect(post.hasSuffix("A\0B"))
        let tree = await off {
            RawClient.request(port: port, "GET /tree/a/b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        }
        #expect(tree.hasSuffix("/tree/a/b"))
        await echo.server.stop()
    }

    @Test func unknownPathsAndMethodsAreRefused() async throws {
        let echo = try EchoServer()
        let port = echo.port
        for (request, status) in [
            ("GET /nowhere", "404"), ("DELETE /echo", "405"), ("GET /../../etc/passwd", "4"), ("GET /%00", "4"),
        ] {
            let answer = await off {
                RawClient.request(port: port, "\(request) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            }
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(request)")
        }
        await echo.server.stop()
    }

    @Test func largeAndUndeclaredBodiesAreRefusedUnread() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let large = await off {
            RawClient.request(
                port: port, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n",
                body: [UInt8](repeating: 65, count: 1_048_577))
        }
        #expect(large.hasPrefix("HTTP/1.1 413"))
        let chunked = await off {
            RawClient.request(
                port: port, "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                body: Array("3\r\nabc\r\n0\r\n\r\n".utf8))
        }
        #expect(chunked.hasPrefix("HTTP/1.1 411"))
        await echo.server.stop()
    }

    @Test func aTakenPortIsATypedErrorWithCodeAndWords() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let failure = #expect(throws: WebServerError.self) { try WebServer().listen(host: "127.0.0.1", port: port) }
        guard case .cannotListen("127.0.0.1", port, let code, let words) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(code != 0)
        #expect(words.contains("in use"))
        #expect(throws: WebServerError.notAnAddress(host: "no address")) {
            try WebServer().listen(host: "no address", port: 0)
        }
        await echo.server.stop()
    }

    @Test(arguments: ["/", "/websocket", "/any/path?with=query"])
    func aSocketOpensOnAnyPath(path: String) async throws {
        let echo = try EchoServer()
        let socket = try await WebSocketClient.connect("ws://127.0.0.1:\(echo.port)\(path)", origin: "http://page.example")
        socket.send("grüße \u{1F4DE}")
        #expect(await nextText(socket) == "echo grüße \u{1F4DE}")
        let accepted = echo.sockets[0]
        #expect(accepted.origin == "http://page.example")
        #expect(accepted.remoteAddress == "127.0.0.1")
        #expect(accepted.path == path.prefix { $0 != "?" })
        socket.close()
        #expect(await closure(of: socket).code == 1000)
        await echo.server.stop()
    }

    @Test func noSubprotocolAndNoExtensionIsReturned() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let answer = await off { RawClient(port: port)?.upgrade() ?? "" }
        #expect(answer.hasPrefix("HTTP/1.1 101"))
        #expect(!answer.lowercased().contains("sec-websocket-protocol"))
        #expect(!answer.lowercased().contains("sec-websocket-extensions"))
        await echo.server.stop()
    }

    @Test func aCloseWithoutCodeAndABrokenConnectionAreToldApart() async throws {
        let echo = try EchoServer()
        let port = echo.port
        await off {
            let client = RawClient(port: port)
            _ = client?.upgrade()
            client?.send(RawClient.frame(opcode: 8, payload: []))
            _ = client?.read()
        }
        #expect(await echo.nextClosure().code == 1005)
        await off {
            let client = RawClient(port: port)
            _ = client?.upgrade()
        }
        #expect(await echo.nextClosure().code == 1006)
        await echo.server.stop()
    }

    @Test func aMessageOverTheLimitClosesThatSocketOnly() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let good = try await WebSocketClient.connect("ws://127.0.0.1:\(port)/")
        let largest = String(repeating: "x", count: WebSocketConnection.maximumMessageBytes - 5)
        good.send(largest)
        #expect(await nextText(good).utf8.count == WebSocketConnection.maximumMessageBytes)
        await off {
            let client = RawClient(port: port)
            _ = client?.upgrade()
            client?.send(RawClient.frame(opcode: 1, payload: [65, 66], claimedLength: 1 << 40))
            _ = client?.read()
        }
        #expect(await echo.nextClosure().code == 1009)
        good.send("still here")
        #expect(await nextText(good) == "echo still here")
        await echo.server.stop()
    }

    @Test func aMessageOfEndlessFragmentsIsCutOff() async throws {
        let echo = try EchoServer()
        let port = echo.port
        await off {
            let client = RawClient(port: port)
            _ = client?.upgrade()
            client?.send(RawClient.frame(opcode: 1, isFinal: false, payload: [65]))
            let fragment = RawClient.frame(opcode: 0, isFinal: false, payload: [UInt8](repeating: 65, count: 60_000))
            for _ in 0..<200 where client?.send(fragment) == false { break }
            _ = client?.read()
        }
        #expect(await echo.nextClosure() == WebSocketClosure(code: 1009, reason: "the message is too large"))
        await echo.server.stop()
    }

    @Test func aPeerThatPoursMessagesLeavesTheLoopToOthers() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let done = Mutex(false)
        let flood = Task.detached {
            let client = RawClient(port: port)
            _ = client?.upgrade()
            // A binary message is ignored, so nothing comes back and the client never has to read.
            let message = RawClient.frame(opcode: 2, payload: [UInt8](repeating: 1, count: 60_000))
            while !done.withLock({ $0 }), client?.send(message) == true {}
        }
        let good = try await WebSocketClient.connect("ws://127.0.0.1:\(port)/")
        for turn in 0..<20 {
            good.send("\(turn)")
            #expect(await nextText(good) == "echo \(turn)")
        }
        done.withLock { $0 = true }
        await flood.value
        await echo.server.stop()
    }

    @Test func wrongFramesCloseThatSocketOnly() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let good = try await WebSocketClient.connect("ws://127.0.0.1:\(port)/")
        let wrong: [[UInt8]] = [
            [0x81, 0x01, 65],  // not masked
            RawClient.frame(opcode: 3, payload: [1]),  // reserved opcode
            RawClient.frame(opcode: 0, payload: [65]),  // continuation of nothing
            RawClient.frame(opcode: 1, payload: [0xC0, 0xAF]),  // not UTF-8
            [0xF1, 0x81, 0, 0, 0, 0, 65],  // reserved bits
        ]
        for bytes in wrong {
            await off {
                let client = RawClient(port: port)
                _ = client?.upgrade()
                client?.send(bytes)
                _ = client?.read()
            }
            let code = await echo.nextClosure().code
            #expect([1002, 1006, 1007].contains(code), "\(bytes)")
        }
        good.send("still here")
        #expect(await nextText(good) == "echo still here")
        await echo.server.stop()
    }

    @Test func binaryMessagesAreIgnored() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let seen = await off { () -> String in
            let client = RawClient(port: port)
            _ = client?.upgrade()
            client?.send(RawClient.frame(opcode: 2, payload: [1, 2, 3]))
            client?.send(RawClient.frame(opcode: 1, payload: [65]))
            return client?.read { $0.contains("echo") } ?? ""
        }
        #expect(seen.hasSuffix("echo A"))
        await echo.server.stop()
    }

    @Test func aPeerThatDoesNotReadIsGivenUpAndBlocksNobody() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let slow = RawClient(port: port, receiveBuffer: 4096)
        _ = await off { slow?.upgrade() }
        let good = try await WebSocketClient.connect("ws://127.0.0.1:\(port)/")
        let message = String(repeating: "y", count: 100_000)
        for _ in 0..<200 { echo.sockets[0].send(message) }
        #expect(!echo.sockets[0].isOpen)
        #expect(await echo.nextClosure() == WebSocketClosure(code: 1008, reason: "the peer does not read"))
        good.send("hello")
        #expect(await nextText(good) == "echo hello")
        withExtendedLifetime(slow) {}
        await echo.server.stop()
    }

    @Test func aReadingPeerMayGetFarMoreThanTheBacklog() async throws {
        let echo = try EchoServer()
        let socket = try await WebSocketClient.connect("ws://127.0.0.1:\(echo.port)/")
        let message = String(repeating: "z", count: 200_000)
        for _ in 0..<50 {
            echo.sockets[0].send(message)
            #expect(await nextText(socket).utf8.count == message.utf8.count)
        }
        await echo.server.stop()
    }

    @Test func stoppingClosesEverySocketWith1001AndLeavesNoDescriptor() async throws {
        // The first round opens what libsoup keeps for good.
        for round in 0..<3 {
            let before = openDescriptors()
            let echo = try EchoServer()
            var sockets: [WebSocketConnection] = []
            for _ in 0..<20 { sockets.append(try await WebSocketClient.connect("ws://127.0.0.1:\(echo.port)/")) }
            let port = echo.port
            // One that never answers the close.
            let silent = await off { () -> RawClient? in
                let client = RawClient(port: port)
                _ = client?.upgrade()
                return client
            }
            while echo.server.webSocketCount < 21 { await Task.yield() }
            await echo.server.stop()
            for socket in sockets { #expect(await closure(of: socket).code == 1001) }
            #expect(echo.server.webSocketCount == 0)
            _ = await off { silent?.read() }
            echo.sockets.removeAll()
            sockets.removeAll()
            let failure = await #expect(throws: WebServerError.self) {
                try await WebSocketClient.connect("ws://127.0.0.1:\(port)/")
            }
            #expect("\(String(describing: failure))".contains("onnect"))
            withExtendedLifetime(silent) {}
            if round > 0 {
                let deadline = ContinuousClock.now + .seconds(8)
                while openDescriptors() > before + 1, ContinuousClock.now < deadline { await Task.yield() }
                #expect(openDescriptors() <= before + 1)  // +1: the silent client itself
            }
        }
    }

    @Test func closedSocketsAreReleasedWhoeverCloses() async throws {
        let echo = try EchoServer()
        weak var accepted: WebSocketConnection?
        weak var opened: WebSocketConnection?
        for closesHere in [true, false] {
            do {
                let socket = try await WebSocketClient.connect("ws://127.0.0.1:\(echo.port)/")
                socket.send("x")
                #expect(await nextText(socket) == "echo x")
                accepted = echo.sockets.removeLast()
                opened = socket
                closesHere ? socket.close() : accepted?.close(code: 4001, reason: "enough")
                #expect(await closure(of: socket).code == (closesHere ? 1000 : 4001))
            }
            _ = await echo.nextClosure()
            await GLibLoop.control.run {}
            #expect(accepted == nil)
            #expect(opened == nil)
        }
        await echo.server.stop()
    }

    @Test func wrongRequestsCloseTheirConnectionOnly() async throws {
        let echo = try EchoServer()
        let port = echo.port
        let garbage = (0..<4096).map { _ in UInt8.random(in: 0...255) }
        for bytes in [
            garbage, Array("GET\r\n\r\n".utf8), Array("GET / HTTP/9.9\r\n\r\n".utf8),
            [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3],
        ] {
            await off {
                let client = RawClient(port: port)
                client?.send(bytes)
                client?.send("\r\n\r\n")
                _ = client?.read { $0.contains("\r\n\r\n") }
            }
        }
        let endless = await off { () -> Int in
            let client = RawClient(port: port)
            client?.send("GET / HTTP/1.1\r\n")
            let line = Array("X-Filler: \(String(repeating: "y", count: 60_000))\r\n".utf8)
            return (0..<500).first { _ in client?.send(line) == false } ?? 500
        }
        #expect(endless < 500)
        let good = await off { RawClient.request(port: port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") }
        #expect(good.hasPrefix("HTTP/1.1 200"))
        await echo.server.stop()
    }

    @Test func connectingToNothingFailsInWords() async {
        for url in ["not a url", "ftp://127.0.0.1/", "ws://127.0.0.1:1/"] {
            await #expect(throws: WebServerError.self) { try await WebSocketClient.connect(url) }
        }
    }
}
