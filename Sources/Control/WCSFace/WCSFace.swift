public import GLibLoop
public import Switchboard
public import WebServer
internal import Telemetry

/// Speaks the WCS protocol to every WebSocket that the web server hands over.
///
/// It keeps the open connections, their number and their pings; what a connection says is its own affair
/// (``WCSConnection``).
@ControlActor public final class WCSFace {
    /// What may be chosen about the conversation.
    public struct Settings: Sendable {
        /// Application keys that are taken; empty takes any.
        public var applicationKeys: Set<String>
        /// Time between our pings.
        public var pingInterval: Duration
        /// Unanswered pings after which a connection counts as dead.
        public var missedPongs: Int
        /// How long a socket may stay open without its `connection` message.
        public var connectionTimeout: Duration
        /// Whether a refused registration closes the socket after its `fail`.
        public var closesOnRegistrationFailure: Bool
        /// Whether early media is announced by status RING_MEDIA.
        public var announcesEarlyMedia: Bool
        /// Most messages a connection may send in one second.
        public var messagesPerSecond: Int
        /// The version that we claim to be.
        public var version: String

        /// The defaults of the protocol.
        public init(
            applicationKeys: Set<String> = [], pingInterval: Duration = .seconds(5), missedPongs: Int = 10,
            connectionTimeout: Duration = .seconds(10), closesOnRegistrationFailure: Bool = true,
            announcesEarlyMedia: Bool = true, messagesPerSecond: Int = 50, version: String = "5.2.0"
        ) {
            self.applicationKeys = applicationKeys
            self.pingInterval = pingInterval
            self.missedPongs = missedPongs
            self.connectionTimeout = connectionTimeout
            self.closesOnRegistrationFailure = closesOnRegistrationFailure
            self.announcesEarlyMedia = announcesEarlyMedia
            self.messagesPerSecond = messagesPerSecond
            self.version = version
        }
    }

    let settings: Settings
    let board: Switchboard
    private var connections: [ObjectIdentifier: WCSConnection] = [:]

    /// A face before a switchboard.
    public init(settings: Settings, board: Switchboard) {
        self.settings = settings
        self.board = board
    }

    /// The number of open connections, signed in or not.
    public var connectionCount: Int { connections.count }

    /// Takes a socket that has just opened.
    public func accept(_ socket: WebSocketConnection) {
        let connection = WCSConnection(socket: socket, face: self)
        connections[ObjectIdentifier(connection)] = connection
        connection.begin()
    }

    func forget(_ connection: WCSConnection) {
        connections.removeValue(forKey: ObjectIdentifier(connection))
    }
}
