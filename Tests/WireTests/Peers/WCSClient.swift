import DTLS
import GLibLoop
import GatewayTesting
import MediaGraph
import MediaRuntime
import Synchronization
import WCSProtocol
import WebServer

/// A client of the WCS protocol that does what a test tells it, one step after another, with real ICE, DTLS, SRTP and Opus.
///
/// It judges nothing: every message of the gateway waits in a mailbox until the test asks for it.
@ControlActor final class WCSClient {
    /// What all clients of the test process share.
    struct Plant {
        let lanes: LanePool
        let certificate: DTLSCertificate
        let iceLoop = GLibLoop(name: "ice")
    }

    /// Messages that are about no call.
    nonisolated let messages = Mailbox<WCSServerMessage>()
    /// The login under which calls find it: its account's, or the guest name that the gateway gave it.
    private(set) var login = ""
    /// How the socket was closed; nil while it is open.
    private(set) var closure: WebSocketClosure?
    private let socket: WebSocketConnection
    private let plant: Plant
    private let source: AudioSource
    private var calls: [String: WCSClientCall] = [:]
    private let incoming = Mailbox<String>()

    private static var sharedPlant: Plant?

    private static func plant() throws -> Plant {
        if let sharedPlant { return sharedPlant }
        let plant = Plant(lanes: try LanePool(count: 1), certificate: try DTLSCertificate())
        sharedPlant = plant
        return plant
    }

    /// Opens the socket and signs in. Its calls say `source`, at 8 kHz, until they are told otherwise.
    static func connect(
        to gateway: GatewayProcess, as account: WCSAccount? = nil, saying source: AudioSource = .silence
    ) async throws -> WCSClient {
        let plant = try plant()
        let socket = try await WebSocketClient.connect("ws://127.0.0.1:\(gateway.ports.web)/")
        let client = WCSClient(socket, plant, source)
        socket.onClosed = { [weak client] in client?.closed($0) }
        socket.onText = { [weak client] in client?.received($0) }
        client.send(.connection(ConnectionRequest(account: account)))
        if case .getUserData(let information) = try await client.message("getUserData") {
            client.login = information.sipLogin
        }
        return client
    }

    private init(_ socket: WebSocketConnection, _ plant: Plant, _ source: AudioSource) {
        self.socket = socket
        self.plant = plant
        self.source = source
    }

    /// A SIP account at a server of this machine.
    nonisolated static func account(
        _ user: String, password: String = "", domain: String = "127.0.0.1", port: Int, registers: Bool
    ) -> WCSAccount {
        WCSAccount(
            login: user, password: password, domain: domain, outboundProxy: "127.0.0.1", port: UInt16(clamping: port),
            registerRequired: registers)
    }

    // MARK: What the client says

    func send(_ message: WCSClientMessage) { socket.send(message.text) }

    /// Calls a number; what becomes of it is told by the call.
    func call(_ callee: String) -> WCSClientCall {
        let call = WCSClientCall(client: self, plant: plant, source: source)
        calls[call.id] = call
        call.begin(calling: callee)
        return call
    }

    /// The next call that comes in, not answered yet.
    func incomingCall(within limit: Duration = .seconds(10)) async throws -> WCSClientCall {
        guard let id = await incoming.first(within: limit), let call = calls[id] else {
            throw PeerFailure("no call comes in")
        }
        return call
    }

    /// Closes the socket, as an app does that ends.
    func disconnect() { socket.close() }

    /// Ends everything that this test process holds of the client.
    func stop() async {
        socket.close()
        for call in calls.values { await call.release() }
        calls = [:]
    }

    // MARK: What the gateway says

    /// The next message of a name.
    func message(_ name: String, within limit: Duration = .seconds(10)) async throws -> WCSServerMessage {
        if let message = await messages.first(within: limit, where: { $0.name == name }) { return message }
        throw PeerFailure("no message \(name); waiting: \(messages.letters), closed: \(String(describing: closure))")
    }

    /// Waits for the gateway to close the socket, and gives the code of RFC 6455 7.4.
    func closed(within limit: Duration = .seconds(10)) async throws -> UInt16 {
        _ = await eventually(timeout: limit) { closure != nil }
        guard let closure else { throw PeerFailure("the gateway does not close the socket") }
        return closure.code
    }

    private func closed(_ closure: WebSocketClosure) {
        self.closure = closure
        messages.close()
        incoming.close()
    }

    private func received(_ text: String) {
        let message: WCSServerMessage
        do { message = try .parse(text) } catch { return messages.post(.unknown(name: "not readable: \(error)")) }
        switch message {
        case .ping: send(.pong)
        case .setRemoteSDP(let id, let description, let isInitiator): described(id, description, isInitiator)
        case .notifyIncomingCall(let object):
            calls[object.callID]?.received(message.name, object)
            incoming.post(object.callID)
        case .notifyTryingResponse(let object), .ring(let object), .talk(let object), .hold(let object),
            .finish(let object):
            calls[object.callID]?.received(message.name, object)
        default: messages.post(message)
        }
    }

    private func described(_ id: String, _ description: String, _ isInitiator: Bool) {
        if !isInitiator, calls[id] == nil {
            calls[id] = WCSClientCall(client: self, plant: plant, source: source, id: id, offer: description)
        } else {
            calls[id]?.described(description)
        }
    }
}
