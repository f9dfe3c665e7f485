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
        /// Silence of the trunk after which a call ends.
        var mediaTimeout: Duration
    }

    let settings: Settings
    let certificate: DTLSCertificate
    let lanes: LanePool
    let trunkPorts: TrunkPortAllocator
    private let iceLoops = ICELoopPool()
    private var calls: [ObjectIdentifier: BridgeMedia] = [:]
    private var watch: GLibTimer?
    private let log = Log("MediaPlane")

    init(settings: Settings, certificate: DTLSCertificate, lanes: LanePool, trunkPorts: TrunkPortAllocator) {
        self.settings = settings
        self.certificate = certificate
        self.lanes = lanes
        self.trunkPorts = trunkPorts
    }

    /// Looks once a second for trunks that have gone silent. Call it once.
    func start() {
        watch = GLibTimer(on: .control, after: .seconds(1), repeats: true) { [weak self] in
            ControlActor.assumeIsolated { self?.lookForSilence() }
        }
    }

    func open(_ request: MediaRequest, report: @escaping @ControlActor (MediaEvent) -> Void) throws(HangupCause)
        -> any CallMedia
    {
        let iceLoop = iceLoops.take()
        do throws(HangupCause) {
            let media = try BridgeMedia.open(request, plane: self, iceLoop: iceLoop, report: report)
            calls[ObjectIdentifier(media)] = media
            return media
        } catch {
            iceLoops.giveBack(iceLoop)
            throw error
        }
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
        iceLoop: GLibLoop, isOfferer: Bool, events: @escaping @Sendable (ClientTransportEvent) -> Void
    ) -> ClientTransport {
        ClientTransport(
            iceLoop: iceLoop, certificate: certificate, isControlling: isOfferer,
            localAddresses: settings.clientAddresses, portRange: settings.clientPorts,
            deadlines: ClientTransportDeadlines(ice: settings.iceTimeout), events: events)
    }

    /// What is known of each live call's media, by the call's name.
    var statistics: [(call: CallID, figures: BridgeStatistics)] { calls.values.map { ($0.call, $0.statistics) } }

    func forget(_ media: BridgeMedia, iceLoop: GLibLoop) {
        calls.removeValue(forKey: ObjectIdentifier(media))
        iceLoops.giveBack(iceLoop)
    }

    private func lookForSilence() {
        let now = LaneClock.now
        for media in calls.values { media.lookForSilence(now: now, timeout: settings.mediaTimeout) }
    }
}

/// GLib loops for ICE agents, fifty to a loop: each wake-up of a loop touches all its sources, so one loop for all would cost
/// in proportion to the square of the calls.
@ControlActor final class ICELoopPool {
    private static let agentsPerLoop = 50
    private var loops: [(loop: GLibLoop, agents: Int)] = []

    /// The fullest loop that still has room, so that quiet hours leave whole loops without work.
    func take() -> GLibLoop {
        let open = loops.indices.filter { loops[$0].agents < Self.agentsPerLoop }
        if let index = open.max(by: { loops[$0].agents < loops[$1].agents }) {
            loops[index].agents += 1
            return loops[index].loop
        }
        let loop = GLibLoop(name: "ice-\(loops.count)")
        loops.append((loop, 1))
        return loop
    }

    func giveBack(_ loop: GLibLoop) {
        guard let index = loops.firstIndex(where: { $0.loop === loop }) else { return }
        loops[index].agents -= 1
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
