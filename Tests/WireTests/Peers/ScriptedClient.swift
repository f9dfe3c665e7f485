import Audio
import ClientTransport
import DTLS
import GLibLoop
import GatewayTesting
import MediaRuntime
import WCSProtocol
import WebServer

/// A WCS client without manners: it says what a test tells it to, well or badly, and keeps everything that it is told.
@ControlActor final class ScriptedClient {
    static let iceLoops = ICELoopPool()
    static let certificate = try? DTLSCertificate()
    static let lanes = try? LanePool(count: 1)

    let socket: WebSocketConnection
    /// Everything the gateway has said, in order.
    private(set) var messages: [WCSServerMessage] = []
    /// How the socket ended; nil while it is open.
    private(set) var closure: WebSocketClosure?
    private(set) var login = ""
    private var calls: [String: ScriptedCall] = [:]

    /// Opens a socket and says nothing yet.
    static func open(_ gateway: GatewayProcess) async throws -> ScriptedClient {
        ScriptedClient(try await WebSocketClient.connect("ws://127.0.0.1:\(gateway.ports.web)/"))
    }

    /// Opens a socket and signs in: as a guest, or with an account that is not registered.
    static func signIn(_ gateway: GatewayProcess, farEnd port: Int? = nil) async throws -> ScriptedClient {
        let client = try await open(gateway)
        let account = port.map { port in
            WCSAccount(
                login: "alice", domain: "127.0.0.1", outboundProxy: "127.0.0.1", port: UInt16(clamping: port),
                registerRequired: false)
        }
        client.send(.connection(ConnectionRequest(account: account)))
        guard await eventually(timeout: .seconds(10), { !client.login.isEmpty }) else {
            throw PeerFailure("the gateway does not greet: \(client.messages)")
        }
        return client
    }

    private init(_ socket: WebSocketConnection) {
        self.socket = socket
        socket.onText = { [weak self] text in self?.received(text) }
        socket.onClosed = { [weak self] closure in
            self?.closure = closure
            for call in self?.calls.values.map({ $0 }) ?? [] { call.drop() }
        }
    }

    func send(_ message: WCSClientMessage) { socket.send(message.text) }
    func send(raw text: String) { socket.send(text) }

    /// Ends the socket in the middle of whatever goes on.
    func leave() { socket.close() }

    /// Begins a call with real media: ICE, DTLS and Opus.
    func call(_ callee: String, as id: String? = nil, sound: ScriptedCall.Sound = .tone(1000)) -> ScriptedCall {
        let call = ScriptedCall(id: id ?? ScriptedCall.freshID(), client: self, callee: callee, sound: sound)
        calls[call.id] = call
        call.begin()
        return call
    }

    /// Waits for a message that `picks` finds something in, from the one numbered `start` on.
    func wait<Value>(
        from start: Int = 0, within limit: Duration = .seconds(10), for picks: (WCSServerMessage) -> Value?
    ) async throws -> Value {
        var found: Value?
        let came = await eventually(timeout: limit) {
            found = messages[min(start, messages.count)...].lazy.compactMap(picks).first
            return found != nil
        }
        guard came, let found else {
            let told = messages.suffix(5).map { "\($0)".prefix(300) }
            throw PeerFailure("the gateway has not said it; closed: \(String(describing: closure)), last: \(told)")
        }
        return found
    }

    /// Waits for the end of a call that this client may have made without media.
    func end(of id: String, from start: Int = 0, within limit: Duration = .seconds(10)) async throws -> CallObject {
        try await wait(from: start, within: limit) { message in
            if case .finish(let object) = message, object.callID == id { object } else { nil }
        }
    }

    func forget(_ call: ScriptedCall) { calls.removeValue(forKey: call.id) }

    private func received(_ text: String) {
        guard let message = try? WCSServerMessage.parse(text) else { return }
        switch message {
        case .ping: return send(.pong)
        case .getUserData(let info): login = info.sipLogin
        case .setRemoteSDP(let id, let description, true): calls[id]?.take(description)
        case .notifyTryingResponse(let call), .ring(let call), .talk(let call), .hold(let call), .finish(let call):
            calls[call.callID]?.take(call)
        default: break
        }
        messages.append(message)
    }
}
