internal import CallModel
internal import ClientTransport
internal import DTLS
internal import GLibLoop
internal import MediaGraph
internal import MediaRuntime
internal import SDP
internal import Sockets
internal import Switchboard
internal import Telemetry
internal import TrunkTransport

/// Opens the media of calls: a client transport, a pair of trunk sockets and a bridge on a lane for each.
@ControlActor final class MediaPlane: MediaPort {
    /// What every call's media is made with.
    struct Settings: Sendable {
        /// The addresses in our ICE candidates.
        var clientAddresses: [String]
        var clientPorts: ClosedRange<UInt16>
        /// The codecs of the trunk leg, favourite first.
        var trunkCodecs: [AudioCodec]
        var trunkPacketMilliseconds: Int
        var bridge: BridgeConfiguration
        var iceTimeout: Duration
        /// Silence of either side after which a call ends.
        var mediaTimeout: Duration
    }

    let settings: Settings
    /// Shown to clients; calls keep the one that they began with.
    private(set) var certificate: DTLSCertificate
    let lanes: LanePool
    let trunkPorts: TrunkPortAllocator
    private let iceLoops = ICELoopPool()
    private var calls: [ObjectIdentifier: BridgeMedia] = [:]
    private var watch: GLibTimer?
    private var renewal: GLibTimer?
    private let log = Log("MediaPlane")

    init(settings: Settings, certificate: DTLSCertificate, lanes: LanePool, trunkPorts: TrunkPortAllocator) {
        self.settings = settings
        self.certificate = certificate
        self.lanes = lanes
        self.trunkPorts = trunkPorts
    }

    /// Looks once a second for sides that have gone silent. Call it once.
    func start() {
        watch = GLibTimer(on: .control, after: .seconds(1), repeats: true) { [weak self] in
            ControlActor.assumeIsolated { self?.lookForSilence() }
        }
    }

    /// Makes a new certificate every two weeks: one lives at most 30 days (DTL-1), a gateway for years.
    func renewCertificate() {
        renewal = GLibTimer(on: .control, after: .seconds(14 * 24 * 3600), repeats: true) { [weak self] in
            ControlActor.assumeIsolated {
                guard let fresh = try? DTLSCertificate() else { return }
                self?.certificate = fresh
            }
        }
    }

    func open(_ request: MediaRequest, report: @escaping @ControlActor (MediaEvent) -> Void) throws(HangupCause)
        -> any CallMedia
    {
        let media = try BridgeMedia.open(request, plane: self, report: report)
        calls[ObjectIdentifier(media)] = media
        return media
    }

    /// A bridge on the lane with the fewest.
    func makeHost(events: @escaping @Sendable (BridgeHostEvent) -> Void) throws(HangupCause) -> BridgeHost {
        do {
            return try BridgeHost(lane: lanes.pick(), configuration: settings.bridge.withFreshSeed, events: events)
        } catch {
            log(.error, "no bridge", ["why": "\(error)"])
            throw .internalError
        }
    }

    func makeTransport(
        isOfferer: Bool, events: @escaping @Sendable (ClientTransportEvent) -> Void
    ) -> ClientTransport {
        ClientTransport(
            iceLoops: iceLoops, certificate: certificate, isControlling: isOfferer,
            localAddresses: settings.clientAddresses, portRange: settings.clientPorts,
            deadlines: ClientTransportDeadlines(ice: settings.iceTimeout), events: events)
    }

    func forget(_ media: BridgeMedia) { calls.removeValue(forKey: ObjectIdentifier(media)) }

    private func lookForSilence() {
        let now = LaneClock.now
        for media in calls.values { media.lookForSilence(now: now, timeout: settings.mediaTimeout) }
    }
}

extension BridgeConfiguration {
    /// The same settings with new random numbers: each bridge has SSRCs and starts of its own.
    fileprivate var withFreshSeed: BridgeConfiguration {
        var fresh = self
        fresh.seed = .random(in: .min ... .max)
        return fresh
    }
}
