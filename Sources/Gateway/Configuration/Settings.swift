/// A text that no log line, description or dump shows.
public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The text itself.
    public let value: String

    /// Hides a text.
    public init(_ value: String) { self.value = value }

    /// Says only that there is one.
    public var description: String { "(hidden)" }

    /// Shows nothing of it.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Everything that may be chosen about a gateway, with the defaults of a file that says nothing.
///
/// `Config/trunkline.json5` lists every key with its comment; ``ConfigurationFile`` reads one.
public struct Settings: Sendable, Equatable {
    /// The web listener: WebSocket, soft phone.
    public struct Web: Sendable, Equatable {
        /// The address to listen on.
        public var host = "127.0.0.1"
        /// The TCP port; 0 takes a free one.
        public var port: UInt16 = 8080
        /// Whether `/` serves the soft phone.
        public var softPhone = true
    }

    /// The SIP listener.
    public struct SIP: Sendable, Equatable {
        /// A SIP transport.
        public enum Transport: String, Sendable, CaseIterable {
            case udp, tcp
        }

        /// The address to listen on.
        public var host = "127.0.0.1"
        /// The port; 0 takes a free one.
        public var port: UInt16 = 5060
        /// The transports to listen on.
        public var transports: [Transport] = [.udp, .tcp]
        /// The User-Agent and Server header.
        public var userAgent = "Trunkline"
    }

    /// The media plane.
    public struct Media: Sendable, Equatable {
        /// When the speexdsp resampler stands in the path.
        public enum Resampler: String, Sendable, CaseIterable {
            case whenNeeded, always
        }

        /// The addresses that clients reach us at; nil takes every address of this host, loopback included.
        public var clientAddresses: [String]?
        /// The ports of the client legs.
        public var clientPorts: ClosedRange<UInt16> = 31001...32000
        /// The address that the trunk reaches our RTP at, and where it is bound.
        public var trunkAddress = "127.0.0.1"
        /// The ports of the trunk legs.
        public var trunkPorts: ClosedRange<UInt16> = 40000...49999
        /// Lanes; 0 takes one per core.
        public var lanes = 0
        /// When to resample instead of matching rates at the codec.
        public var resampler = Resampler.whenNeeded
        /// Bits a second towards clients.
        public var opusBitrate = 24_000
        /// 0 to 10.
        public var opusComplexity = 1
        /// Whether Opus towards clients carries forward error correction.
        public var opusFEC = true
        /// Most delay that the jitter buffer may add.
        public var jitterCeilingMilliseconds = 200
        /// Silence of the trunk after which a call ends.
        public var timeout: Duration = .seconds(30)
        /// How long to wait for the client's first ICE check.
        public var iceTimeout: Duration = .seconds(15)
    }

    /// The certificate of the client legs.
    public struct DTLS: Sendable, Equatable {
        /// A PEM file; nil makes a P-256 certificate at start.
        public var certificateFile: String?
        /// The PEM file of its key.
        public var privateKeyFile: String?
    }

    /// The WCS conversation.
    public struct WCS: Sendable, Equatable {
        /// How a client's `inviteParameters` reach the trunk.
        public enum InviteParameters: String, Sendable, CaseIterable {
            case uriParameters = "uri-params"
            case headers
        }

        /// The application keys that are taken; empty takes any.
        public var applicationKeys: [String] = []
        /// Time between pings.
        public var pingInterval: Duration = .seconds(5)
        /// Missed pongs that make a dead connection.
        public var missedPongs = 10
        /// How long a socket may wait with its `connection` message.
        public var connectionTimeout: Duration = .seconds(10)
        /// Whether a refused registration closes the socket.
        public var closeOnRegistrationFailure = true
        /// How invitation parameters travel.
        public var inviteParameters = InviteParameters.uriParameters
        /// The SIP status of a call that a client rejects.
        public var rejectStatus = 486
        /// Whether early media is told as RING_MEDIA.
        public var announceEarlyMedia = true
        /// Most messages a client may send a second.
        public var messagesPerSecond = 50
    }

    /// The gateway's own trunk, for clients without an account.
    public struct Trunk: Sendable, Equatable {
        /// A codec of the trunk leg.
        public enum Codec: String, Sendable, CaseIterable {
            case pcmu = "PCMU"
            case pcma = "PCMA"
        }

        /// The SIP domain or address, with an optional port; nil leaves the demo trunk, if it is on.
        public var host: String?
        /// Where requests are sent, if not to `host`.
        public var outboundProxy: String?
        /// The account's user; nil calls as the client's name.
        public var user: String?
        /// The digest user, if not `user`.
        public var authName: String?
        /// The digest password.
        public var password: Secret?
        /// Whether to keep a registration.
        public var register = false
        /// The codecs, favourite first; for every trunk leg.
        public var codecs: [Codec] = [.pcmu, .pcma]
        /// The packet length that we ask for.
        public var packetMilliseconds = 20
        /// How long a call may ring.
        public var ringTimeout: Duration = .seconds(60)
        /// The longest call.
        public var longestCall: Duration = .seconds(7200)
        /// Whether a trunk behind NAT may move its media to where it comes from.
        public var latch = false
        /// The client who gets the trunk's calls that name nobody.
        public var incoming: String?
    }

    /// The embedded demo trunk.
    public struct Demo: Sendable, Equatable {
        /// Whether it runs.
        public var enabled = true
        /// Its SIP port on loopback; 0 takes a free one.
        public var sipPort: UInt16 = 5070
        /// Its RTP ports.
        public var mediaPorts: ClosedRange<UInt16> = 36000...36999
        /// The speech of number 101: a WAV file.
        public var speechFile = "/usr/share/asterisk/sounds/en_US_f_Allison/demo-congrats.wav"
        /// The folder of the spoken keys: `0.wav` to `9.wav`, `star.wav`, `pound.wav`.
        public var digitsFolder = "/usr/share/asterisk/sounds/en_US_f_Allison/digits"
    }

    /// Limits.
    public struct Limits: Sendable, Equatable {
        /// Most signed-in clients.
        public var sessions = 10_000
        /// Most calls of one client.
        public var callsPerSession = 4
    }

    /// A weight of log lines.
    public enum LogLevel: String, Sendable, CaseIterable {
        case debug, info, warning, error
    }

    /// The web listener.
    public var web = Web()
    /// The SIP listener.
    public var sip = SIP()
    /// The media plane.
    public var media = Media()
    /// The client legs' certificate.
    public var dtls = DTLS()
    /// The WCS conversation.
    public var wcs = WCS()
    /// The gateway's own trunk.
    public var trunk = Trunk()
    /// The demo trunk.
    public var demo = Demo()
    /// Limits.
    public var limits = Limits()
    /// The lightest log line that is written.
    public var logLevel = LogLevel.info

    /// The defaults.
    public init() {}
}
