import CallModel
import GLibLoop
import Switchboard
import WCSFace
import WCSProtocol
import WebServer

/// A web server with a WCS face before a switchboard whose trunk and media are scripted.
@ControlActor final class ScriptedGateway {
    let trunk = FaceTrunk()
    let media = FaceMedia()
    let board: Switchboard
    let face: WCSFace
    let server = WebServer()
    let url: String

    init(_ settings: WCSFace.Settings = WCSFace.Settings()) throws {
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

/// A trunk that keeps what it is asked.
@ControlActor final class FaceTrunk: TrunkPort {
    final class Leg: TrunkLeg {
        var report: (@ControlActor (TrunkEvent) -> Void)?
        var actions: [String] = []
        func ring() { actions.append("ring") }
        func answer(description: String) { actions.append("answer") }
        func reject(_ cause: HangupCause) { actions.append("reject \(cause)") }
        func cancel(_ cause: HangupCause) { actions.append("cancel") }
        func hangUp(_ cause: HangupCause) { actions.append("hangUp") }
        func reoffer(description: String) { actions.append("reoffer") }
        func answerReoffer(description: String) { actions.append("answerReoffer") }
        func refuseReoffer() { actions.append("refuseReoffer") }
        func sendInfo(key: Character, method: KeyMethod) { actions.append("info \(key) \(method)") }
    }

    final class Registration: TrunkRegistration {
        var isGivenBack = false
        func unregister() { isGivenBack = true }
    }

    var legs: [Leg] = []
    var accounts: [ClientAccount] = []
    var registrations: [Registration] = []
    var report: (@ControlActor (RegistrationState) -> Void)?

    func register(
        _ account: ClientAccount, contactUser: String, report: @escaping @ControlActor (RegistrationState) -> Void
    ) -> any TrunkRegistration {
        accounts.append(account)
        self.report = report
        let registration = Registration()
        registrations.append(registration)
        return registration
    }

    func invite(_ invitation: TrunkInvitation, offer: String, contactUser: String) throws(HangupCause) -> any TrunkLeg {
        let leg = Leg()
        legs.append(leg)
        return leg
    }
}

/// Media that is ready at once.
@ControlActor final class FaceMedia: MediaPort {
    final class Media: CallMedia {
        var keys = ""
        var clientDescription: String { "v=0\r\n" }
        func applyClientAnswer(_ description: String) throws(HangupCause) {}
        func trunkOffer() -> String { "offer" }
        func applyTrunkAnswer(_ description: String) throws(HangupCause) {}
        func answerTrunkOffer(_ description: String) throws(HangupCause) -> (description: String, holds: Bool) {
            ("answer", false)
        }
        func trunkReoffer(hold: Bool) -> String { "reoffer" }
        func trunkRefusedReoffer() {}
        func setAudio(_ gate: AudioGate) {}
        func sendKeys(_ keys: String) -> Bool {
            self.keys += keys
            return true
        }
        func close() {}
    }

    var opened: [Media] = []

    func open(
        _ request: MediaRequest, report: @escaping @ControlActor (MediaEvent) -> Void
    ) throws(HangupCause) -> any CallMedia {
        let media = Media()
        opened.append(media)
        GLibLoop.control.perform { ControlActor.assumeIsolated { report(.ready) } }
        return media
    }
}
