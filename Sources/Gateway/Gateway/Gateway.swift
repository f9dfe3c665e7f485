public import Configuration
internal import DTLS
internal import DemoTrunk
public import GLibLoop
internal import MediaGraph
internal import MediaRuntime
internal import SDP
internal import SIPStack
internal import SoftPhone
internal import Sockets
internal import Switchboard
internal import Telemetry
internal import TrunkFace
internal import TrunkTransport
internal import WCSFace
internal import WebServer

/// A running gateway: all parts, built from a configuration and joined.
@ControlActor public final class Gateway {
    /// Something that listens, for people who want to reach it.
    public struct Listener: Sendable {
        /// What listens: a few words.
        public var name: String
        /// Where, as a URL or an address.
        public var address: String
    }

    /// Everything that listens.
    public private(set) var listeners: [Listener] = []

    private let web: WebServer
    private let agent: UserAgent
    private let board: Switchboard
    private let face: WCSFace
    private let demo: DemoTrunk?
    private let media: MediaPlane
    private var trunkRegistration: (any TrunkRegistration)?
    private let log = Log("Gateway")

    /// Builds and starts a gateway.
    ///
    /// - Throws: what cannot be carried out, with the key path of the setting that asks for it. Nothing is left running.
    public static func start(_ file: ConfigurationFile) async throws(ConfigurationError) -> Gateway {
        let builder = GatewayBuilder(file)
        builder.prepareProcess()
        do throws(ConfigurationError) {
            let gateway = try Gateway(builder)
            try gateway.listen(file)
            return gateway
        } catch {
            await builder.tearDown()
            throw error
        }
    }

    private init(_ builder: GatewayBuilder) throws(ConfigurationError) {
        let settings = builder.file.settings
        media = try builder.mediaPlane()
        agent = try builder.userAgent()
        demo = try builder.demoTrunk(lanes: media.lanes)
        let trunkFace = TrunkFace(agent: agent, settings: builder.trunkSettings(demoPort: demo?.port))
        board = Switchboard(settings: settings.switchboard, trunk: trunkFace, media: media)
        trunkFace.bringCalls(to: board)
        face = WCSFace(settings: settings.wcsFace, board: board)
        web = WebServer()
        if settings.trunk.register { registerTrunk(trunkFace, user: settings.trunk.incoming) }
    }

    private func registerTrunk(_ face: TrunkFace, user: String?) {
        trunkRegistration = face.registerOwnTrunk(contactUser: user ?? "trunk") { [log] state in
            if case .failed(let status, let reason) = state {
                log(.warning, "trunk registration failed", ["status": String(status), "reason": reason])
            } else {
                log(.info, "trunk registration", ["state": "\(state)"])
            }
        }
    }

    private func listen(_ file: ConfigurationFile) throws(ConfigurationError) {
        let settings = file.settings
        if settings.web.softPhone {
            for page in SoftPhone.files {
                web.serve(page.path, contentType: page.contentType, body: page.body, headers: SoftPhone.headers)
            }
        }
        web.handle("GET", "/healthz") { _ in .text("ok\n") }
        web.acceptWebSockets { [face] socket in face.accept(socket) }
        let port: UInt16
        do throws(WebServerError) {
            port = try web.listen(host: settings.web.host, port: settings.web.port)
        } catch {
            let isAddress = if case .notAnAddress = error { true } else { false }
            throw file.error(isAddress ? "web.host" : "web.port", error.description)
        }
        media.start()
        describeListeners(settings, webPort: port)
    }

    private func describeListeners(_ settings: Settings, webPort: UInt16) {
        let host = settings.web.host.urlHost
        if settings.web.softPhone { listeners.append(Listener(name: "soft phone", address: "http://\(host):\(webPort)/")) }
        listeners.append(Listener(name: "WCS clients", address: "ws://\(host):\(webPort)/"))
        let transports = settings.sip.transports.map(\.rawValue).joined(separator: ", ")
        listeners.append(Listener(name: "SIP", address: "sip:\(settings.sip.host.urlHost):\(agent.port) (\(transports))"))
        if let demo { listeners.append(Listener(name: "demo trunk", address: "sip:127.0.0.1:\(demo.port)")) }
        let clients = media.settings.clientAddresses.joined(separator: ", ")
        listeners.append(Listener(name: "client media", address: "udp \(settings.media.clientPorts.text) on \(clients)"))
        let trunk = "udp \(settings.media.trunkPorts.text) on \(settings.media.trunkAddress)"
        listeners.append(Listener(name: "trunk media", address: trunk))
    }

    /// Ends every call and session and says goodbye to trunks and clients, for as long as polite peers need. The process is to
    /// end afterwards: what listens is left to it.
    public func stop() async {
        log(.info, "stopping", ["calls": String(board.callCount)])
        board.stop()
        trunkRegistration?.unregister()
        await web.stop()
        await agent.drain(within: .seconds(3))
        await demo?.stop()
        log(.info, "stopped")
    }
}

extension ClosedRange<UInt16> {
    fileprivate var text: String { "\(lowerBound)-\(upperBound)" }
}

extension String {
    /// A host as it stands in a URL: IPv6 literals in brackets.
    fileprivate var urlHost: String { contains(":") ? "[\(self)]" : self }
}
