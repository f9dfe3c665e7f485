internal import Configuration
internal import DTLS
internal import DemoTrunk
internal import GLibLoop
internal import MediaGraph
internal import MediaRuntime
internal import Opus
internal import SDP
internal import SIPStack
internal import Sockets
internal import Switchboard
internal import Telemetry
internal import TrunkFace
internal import TrunkTransport
internal import WCSFace

/// Makes the parts of a gateway from its settings, turns their errors into errors of the setting at fault, and knows what to
/// stop if a later part cannot be made.
@ControlActor final class GatewayBuilder {
    let file: ConfigurationFile
    private var agent: UserAgent?
    private var demo: DemoTrunk?
    private let log = Log("Gateway")

    init(_ file: ConfigurationFile) { self.file = file }

    func tearDown() async {
        await agent?.shutdown()
        await demo?.stop()
    }

    /// Makes room for the calls' sockets, and says what is open to everybody.
    func prepareProcess() {
        do throws(SocketError) { try DescriptorLimit.raise() } catch {
            log(.warning, "few sockets can be open at once", ["why": error.description])
        }
        let settings = file.settings
        let isPrivate = settings.web.host == "localhost" || SocketAddress(settings.web.host, port: 0)?.isLoopback == true
        if settings.trunk.host != nil, settings.wcs.applicationKeys.isEmpty, !isPrivate {
            log(
                .warning, "everybody who reaches the web listener may call by the trunk",
                ["see": "wcs.applicationKeys"])
        }
    }

    func mediaPlane() throws(ConfigurationError) -> MediaPlane {
        let media = file.settings.media
        guard let trunkAddress = SocketAddress(media.trunkAddress, port: 0), !trunkAddress.isUnspecified else {
            throw file.error("media.trunkAddress", "'\(media.trunkAddress)' is not an address that can stand in SDP")
        }
        try requireBindable(trunkAddress, key: "media.trunkAddress")
        let addresses = try clientAddresses()
        let settings = MediaPlane.Settings(
            clientAddresses: addresses, clientPorts: media.clientPorts,
            trunkCodecs: file.settings.trunk.codecs.map { $0 == .pcmu ? .pcmu : .pcma },
            trunkPacketMilliseconds: file.settings.trunk.packetMilliseconds, bridge: bridgeConfiguration(),
            iceTimeout: media.iceTimeout, mediaTimeout: media.timeout)
        let lanes: LanePool
        do throws(SocketError) {
            lanes = try LanePool(count: media.lanes == 0 ? nil : media.lanes)
        } catch { throw file.error("media.lanes", error.description) }
        let plane = MediaPlane(
            settings: settings, certificate: try certificate(), lanes: lanes,
            trunkPorts: TrunkPortAllocator(address: trunkAddress, range: media.trunkPorts))
        if file.settings.dtls.certificateFile == nil { plane.renewCertificate() }
        return plane
    }

    func userAgent() throws(ConfigurationError) -> UserAgent {
        let sip = file.settings.sip
        guard let address = SocketAddress(sip.host, port: 0) else {
            throw file.error("sip.host", "'\(sip.host)' is not an address")
        }
        guard !address.isUnspecified else {
            throw file.error("sip.host", "'\(sip.host)' cannot stand in Contact: name the address that the trunk reaches")
        }
        let configuration = SIPConfiguration(
            address: sip.host, port: sip.port, transports: Set(sip.transports.map { $0 == .udp ? .udp : .tcp }),
            userAgent: sip.userAgent)
        do throws(SIPStackError) {
            let agent = try UserAgent(configuration: configuration)
            self.agent = agent
            return agent
        } catch { throw file.error("sip.port", error.words) }
    }

    func demoTrunk(lanes: LanePool) throws(ConfigurationError) -> DemoTrunk? {
        let settings = file.settings.demo
        guard settings.enabled else { return nil }
        let (sounds, problems) = DemoSounds.load(speechFile: settings.speechFile, keysFolder: settings.digitsFolder)
        for problem in problems.prefix(3) { log(.warning, "a tone stands in for a demo sound", ["why": "\(problem)"]) }
        let ports = TrunkPortAllocator(address: SocketAddress(127, 0, 0, 1, port: 0), range: settings.mediaPorts)
        do throws(SIPStackError) {
            let demo = try DemoTrunk(port: settings.sipPort, ports: ports, sounds: sounds, lanes: lanes)
            self.demo = demo
            return demo
        } catch { throw file.error("demo.sipPort", error.words) }
    }

    /// The trunk of clients without an account: the configured one, or the demo trunk.
    func trunkSettings(demoPort: UInt16?) -> TrunkFace.Settings {
        let settings = file.settings.trunk
        var own: TrunkFace.OwnTrunk?
        if let host = settings.host {
            let credentials = settings.password.flatMap { password in
                (settings.authName ?? settings.user).map { SIPCredentials(user: $0, password: password.value) }
            }
            own = TrunkFace.OwnTrunk(
                hostAndPort: host, outboundProxy: settings.outboundProxy, user: settings.user, credentials: credentials)
        } else if let demoPort {
            own = TrunkFace.OwnTrunk(host: "127.0.0.1", port: demoPort)
        }
        return TrunkFace.Settings(
            ownTrunk: own, inviteParameters: file.settings.wcs.inviteParameters == .headers ? .headers : .uriParameters,
            rejectStatus: file.settings.wcs.rejectStatus, ringLimit: settings.ringTimeout + .seconds(5))
    }

    private func bridgeConfiguration() -> BridgeConfiguration {
        let media = file.settings.media
        var opus = OpusEncoderSettings()
        opus.bitrate = Int32(media.opusBitrate)
        opus.complexity = Int32(media.opusComplexity)
        opus.inbandFEC = media.opusFEC
        return BridgeConfiguration(
            resampler: media.resampler == .always ? .always : .whenNeeded, opus: opus,
            jitter: JitterSettings(ceilingMilliseconds: media.jitterCeilingMilliseconds),
            trunkSource: file.settings.trunk.latch ? .latch(seconds: 5, host: nil) : .exact,
            wallClockOffset: LaneClock.wallClockOffset)
    }

    private func clientAddresses() throws(ConfigurationError) -> [String] {
        guard let written = file.settings.media.clientAddresses else { return LocalAddresses.all() }
        for text in written {
            guard let address = SocketAddress(text, port: 0), !address.isUnspecified else {
                throw file.error("media.clientAddresses", "'\(text)' is not an address of this host")
            }
            try requireBindable(address, key: "media.clientAddresses")
        }
        return written
    }

    private func requireBindable(_ address: SocketAddress, key: String) throws(ConfigurationError) {
        do throws(SocketError) { _ = try UDPSocket(boundTo: address) } catch {
            throw file.error(key, "\(address.host) cannot be bound: \(error)")
        }
    }

    private func certificate() throws(ConfigurationError) -> DTLSCertificate {
        let settings = file.settings.dtls
        do throws(DTLSError) {
            guard let certificate = settings.certificateFile, let key = settings.privateKeyFile else {
                return try DTLSCertificate()
            }
            return try DTLSCertificate(certificateFile: certificate, privateKeyFile: key)
        } catch { throw file.error("dtls.certificateFile", "cannot be used: \(error)") }
    }
}

extension SIPStackError {
    /// What went wrong, in the library's or the system's words.
    var words: String {
        switch self {
        case .cannotBind(let address, let port, _, let words): "\(address) port \(port): \(words)"
        case .libraryRefused(let words): words
        case .isShutDown, .wrongState, .offerIsOpen: "\(self)"
        }
    }
}

extension Settings {
    var switchboard: Switchboard.Settings {
        Switchboard.Settings(
            answerTimeout: trunk.ringTimeout, longestCall: trunk.longestCall, sessions: limits.sessions,
            callsPerSession: limits.callsPerSession, fallbackLogin: trunk.incoming)
    }

    var wcsFace: WCSFace.Settings {
        WCSFace.Settings(
            applicationKeys: Set(wcs.applicationKeys), pingInterval: wcs.pingInterval, missedPongs: wcs.missedPongs,
            connectionTimeout: wcs.connectionTimeout, closesOnRegistrationFailure: wcs.closeOnRegistrationFailure,
            announcesEarlyMedia: wcs.announceEarlyMedia, messagesPerSecond: wcs.messagesPerSecond)
    }
}
