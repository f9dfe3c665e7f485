import CallModel
import GLibLoop
import Switchboard
import SwitchboardTesting
import WCSFace
import WCSProtocol
import WebServer

/// A web server with a WCS face before a switchboard whose trunk and media are scripted.
@ControlActor final class ScriptedGateway {
    let trunk = ScriptedTrunk()
    let media = ScriptedMedia()
    let board: Switchboard
    let face: WCSFace
    let server = WebServer()
    let url: String

    init(_ settings: WCSFace.Settings = WCSFace.Settings()) throws {
        media.isReadySoon = true
        board = Switchboard(settings: .init(), trunk: trunk, media: media)
        face = WCSFace(settings: settings, board: board)
        let port = try server.listen(host: "127.0.0.1", port: 0)
        url = "ws://127.0.0.1:\(port)/"
        let face = face
        server.acceptWebSockets { socket in face.accept(socket) }
    }

    /// A client with its own socket.
    func client() async throws -> ScriptedClient { ScriptedClient(try await WebSocketClient.connect(url)) }

    func stop() async {
        board.stop()
        await server.stop()
    }
}

/// A WebSocket client that keeps what it hears, in order.
@ControlActor final class ScriptedClient {
    private let socket: WebSocketConnection
    private var heard: [String] = []
    private(set) var closure: WebSocketClosure?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// Whether pings are answered.
    var answersPings = true

    init(_ socket: WebSocketConnection) {
        self.socket = socket
        socket.onText = { [weak self] text in self?.received(text) }
        socket.onClosed = { [weak self] closure in
            self?.closure = closure
            self?.wake()
        }
    }

    func send(_ text: String) { socket.send(text) }
    func send(_ message: WCSClientMessage) { socket.send(message.text) }
    func close() { socket.close() }

    /// The next message that is no ping, as it stands on the wire.
    func nextText() async throws -> String {
        while heard.isEmpty {
            if let closure { throw ClosedError(closure: closure) }
            await withCheckedContinuation { waiters.append($0) }
        }
        return heard.removeFirst()
    }

    func next() async throws -> WCSServerMessage { try WCSServerMessage.parse(try await nextText()) }

    /// The names of the next messages.
    func nextNames(_ count: Int) async throws -> [String] {
        var names: [String] = []
        for _ in 0..<count { names.append(try await next().name) }
        return names
    }

    func waitForClose() async -> WebSocketClosure {
        while true {
            if let closure { return closure }
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    private func received(_ text: String) {
        if text.contains("\"ping\"") {
            if answersPings { send(.pong) }
            return
        }
        heard.append(text)
        wake()
    }

    private func wake() {
        let woken = waiters
        waiters = []
        for waiter in woken { waiter.resume() }
    }
}

struct ClosedError: Error {
    var closure: WebSocketClosure
}
