internal import Opus
public import RTP
public import SRTP
public import Sockets

/// Something a bridge has to tell its owner.
public enum BridgeEvent: Sendable, Hashable {
    /// One of the two legs.
    public enum Leg: UInt8, Sendable, Hashable {
        /// The app's side.
        case client
        /// The telephone's side.
        case trunk
    }

    /// A key was pressed; told once, at its first packet.
    case key(Leg, DTMFKey)
    /// The leg's first packet of RTP came.
    case mediaStarted(Leg)
    /// The trunk's media comes from another address than it named, and goes there now (LAT-4).
    case trunkMoved(SocketAddress)
    /// The peer's RTCP said goodbye. The call does not end by it.
    case goodbye(Leg)
}

/// The two media paths of one call. Datagrams, instants and commands go in; datagrams wait in ``outbox``, news in
/// ``takeEvent()``. It knows no socket, thread or clock.
///
/// A path each way: `ClientToTrunk.swift` and `TrunkToClient.swift` read downwards as a packet travels.
///
/// - Threads: one owner at a time, in practice a lane. ``statistics`` may be read from any thread. Init and the `open` and `set`
///   commands allocate; packets and ticks do not.
public final class Bridge {
    /// Datagrams to be sent; drain it after each call.
    public let outbox = Outbox()
    /// What is known of the bridge, renewed every 100 ms. To be read from any thread.
    public let statistics = SnapshotBoard(BridgeStatistics())
    /// Where datagrams of kind `client` go. A plain client leg takes nothing from elsewhere, a protected one what SRTP
    /// accepts.
    public var clientRemote: SocketAddress? { clientSources.selected }
    /// Where datagrams of kind `trunkRTP` go. It moves if the trunk is latched.
    public var trunkRemote: SocketAddress? { gate.remote }
    /// Where datagrams of kind `trunkRTCP` go; they leave from the RTP socket if RTCP is multiplexed.
    public private(set) var trunkReportRemote: SocketAddress?

    /// The SSRC of every packet to the client, for the SDP; it never changes (case H47).
    public var clientSSRC: SSRC { trunkToClient.sender.rtp.ssrc }
    /// The canonical name of our stream to the client, for the SDP.
    public var clientCanonicalName: CanonicalName { clientReporter.cname }

    private var clientToTrunk: ClientToTrunk
    private var trunkToClient: TrunkToClient
    private var opener = PacketOpener()
    private var clientSources = ClientSources()
    private var gate: SourceGate
    private var clientReporter: RTCPReporter
    private var trunkReporter: RTCPReporter
    private var events = EventRing<BridgeEvent>(capacity: 32)
    private var figures = BridgeStatistics()
    private var strangersAtClient = 0
    private var publishAt = MediaTime.distantFuture
    private var isClientOpen = false
    private var isClosed = false
    private var adaptsToLoss: Bool
    private let expectedLoss: Int32

    /// Makes all storage. Nothing is sent until a leg is opened.
    public init(configuration: BridgeConfiguration = BridgeConfiguration()) throws(MediaGraphError) {
        var random = SplitMix(seed: configuration.seed)
        let outbox = outbox
        clientToTrunk = try ClientToTrunk(
            client: .opus(), configuration: configuration, outbox: outbox, using: &random)
        trunkToClient = try TrunkToClient(
            client: .opus(), sealer: PacketSealer(), configuration: configuration, outbox: outbox, using: &random)
        gate = SourceGate(rule: configuration.trunkSource)
        clientReporter = RTCPReporter(wallClockOffset: configuration.wallClockOffset, using: &random)
        trunkReporter = RTCPReporter(wallClockOffset: configuration.wallClockOffset, using: &random)
        adaptsToLoss = configuration.opus.inbandFEC
        expectedLoss = configuration.opus.expectedLossPercent
    }

    // MARK: Commands

    /// Joins the client: from now on it is heard, and gets a packet at least every 20 ms.
    ///
    /// - Parameters:
    ///   - keys: SRTP keys; nil for a plain leg (tests, benchmarks).
    ///   - remote: the selected address of the client.
    public func openClient(
        _ format: LegFormat, keys: SRTPKeys?, remote: SocketAddress, at now: MediaTime
    ) throws(MediaGraphError) {
        if let keys {
            let sealer = try PacketSealer(keys.send)
            opener = try PacketOpener(keys.receive)
            trunkToClient.sender.adopt(sealer)
        }
        setClientFormat(format)
        clientSources.selected = remote
        isClientOpen = true
        clientToTrunk.start(at: now)
        trunkToClient.start(at: now)
        clientReporter.start(at: now)
        if publishAt == .distantFuture { publishAt = now }
    }

    /// Takes up what the client renegotiated.
    public func setClientFormat(_ format: LegFormat) {
        clientToTrunk.adoptClient(format)
        trunkToClient.adoptClient(format)
    }

    /// Follows the client to another selected address.
    public func setClientRemote(_ remote: SocketAddress) { clientSources.selected = remote }

    /// Joins the trunk, or takes up what it renegotiated. The client's stream goes on unbroken.
    ///
    /// - Parameters:
    ///   - remote: the trunk's RTP address; nil while there is none to send to (0.0.0.0).
    ///   - reportRemote: its RTCP address; nil for port + 1 (LAT-8).
    ///   - isReportMultiplexed: whether RTCP shares the RTP port (`a=rtcp-mux`).
    public func setTrunk(
        _ format: LegFormat, remote: SocketAddress?, reportRemote: SocketAddress? = nil, isReportMultiplexed: Bool = false,
        at now: MediaTime
    ) {
        clientToTrunk.adoptTrunk(format)
        trunkToClient.adoptTrunk(format)
        clientToTrunk.start(at: now)
        if publishAt == .distantFuture { publishAt = now }
        isTrunkPaused = remote == nil
        guard let remote else { return }
        if gate.negotiate(remote, at: now) { trunkToClient.expectNewSource() }
        let next = remote.port == .max ? remote.port : remote.port + 1
        trunkReportRemote = isReportMultiplexed ? remote : reportRemote ?? remote.with(port: next)
        trunkReporter.start(at: now)
    }

    /// Says what each leg is given to hear: hold, mute and one-way early media.
    public func setFlow(toTrunk: MediaFlow, toClient: MediaFlow) {
        clientToTrunk.flow = toTrunk
        trunkToClient.flow = toClient
    }

    /// Plays keys to the trunk: `0`-`9 * # A`-`D`, `p` and `,` for pauses (DTM-12). They queue behind earlier ones.
    public func sendKeys(_ keys: String, milliseconds: Int = 100) throws(DTMFStringError) {
        try clientToTrunk.play(keys, milliseconds: milliseconds)
    }

    /// Whether the trunk takes telephone events.
    public var trunkTakesKeys: Bool { clientToTrunk.sender.rtp.sendsKeys }

    /// Ends both legs: leaves goodbyes in the outbox. No packet or tick has an effect afterwards.
    public func close(at now: MediaTime) {
        guard !isClosed else { return }
        if isClientOpen, trunkToClient.sender.rtp.packets > 0 { reportToClient(saysGoodbye: true, at: now) }
        if trunkReportRemote != nil, clientToTrunk.sender.rtp.packets > 0 { reportToTrunk(saysGoodbye: true, at: now) }
        publish(at: now)
        isClosed = true
    }

    // MARK: Packets

    /// Takes the datagram in the first `length` bytes of `buffer`, which is opened in place.
    public func receiveFromClient(
        _ buffer: inout MutableSpan<UInt8>, length: Int, from source: SocketAddress, at now: MediaTime
    ) {
        guard isClientOpen, !isClosed else { return }
        let standing = clientSources.standing(of: source, at: now)
        guard standing == .known || (standing == .unproven && !opener.isPlain) else {
            strangersAtClient += 1
            return
        }
        let isReport: Bool
        switch PacketKind.classify(buffer.span.extracting(0..<length)) {
        case .rtp: isReport = false
        case .rtcp: isReport = true
        default:
            if standing == .known { figures.client.malformed += 1 } else { strangersAtClient += 1 }
            return
        }
        let isStranger = standing == .unproven
        guard let opened = opener.open(&buffer, length: length, isRTCP: isReport, isStranger: isStranger) else {
            if isStranger { strangersAtClient += 1 }
            return
        }
        if isStranger { clientSources.prove(source) }
        let datagram = buffer.span.extracting(0..<opened)
        if isReport {
            clientReporter.receive(
                datagram, ours: trunkToClient.sender.rtp.ssrc, statistics: &clientToTrunk.receiver.rtp.statistics, at: now)
            adaptToLoss()
        } else {
            noteMedia(&figures.client, .client, at: now)
            handle(clientToTrunk.receive(datagram, at: now), of: .client)
        }
    }

    /// Takes a datagram that came to the trunk leg's RTP socket, or to its RTCP socket: they are told apart by content.
    public func receiveFromTrunk(_ datagram: Span<UInt8>, from source: SocketAddress, at now: MediaTime) {
        guard !isClosed else { return }
        switch PacketKind.classify(datagram) {
        case .rtp:
            guard gateAdmits(datagram, from: source, at: now) else { return }
            noteMedia(&figures.trunk, .trunk, at: now)
            handle(trunkToClient.receive(datagram, isOpen: isClientOpen, at: now), of: .trunk)
        case .rtcp:
            guard gate.admitsRTCP(from: source, named: trunkReportRemote) else { return }
            let wasGone = trunkReporter.isPeerGone
            trunkReporter.receive(
                datagram, ours: clientToTrunk.sender.rtp.ssrc, statistics: &trunkToClient.rtp.statistics, at: now)
            if trunkReporter.isPeerGone, !wasGone { events.append(.goodbye(.trunk)) }
        default: figures.trunk.malformed += 1
        }
    }

    // MARK: Time

    /// When ``tick(at:)`` has something to do next.
    public var nextDeadline: MediaTime {
        guard !isClosed else { return .distantFuture }
        var next = min(clientToTrunk.deadline, publishAt)
        if isClientOpen { next = min(next, trunkToClient.deadline, clientReporter.due) }
        return min(next, trunkReporter.due)
    }

    /// Does what is due.
    public func tick(at now: MediaTime) {
        guard !isClosed else { return }
        clientToTrunk.tick(isConnected: gate.remote != nil && !isTrunkPaused, at: now)
        if isClientOpen { trunkToClient.tick(at: now) }
        if let ended = clientToTrunk.keyEnded(at: now) { relay(ended, from: .client) }
        if let ended = trunkToClient.keyEnded(at: now) { relay(ended, from: .trunk) }
        if now >= clientReporter.due { reportToClient(saysGoodbye: false, at: now) }
        if now >= trunkReporter.due { reportToTrunk(saysGoodbye: false, at: now) }
        if now >= publishAt {
            publish(at: now)
            publishAt = now.advanced(milliseconds: 100)
        }
    }

    /// The oldest piece of news; nil when there is none.
    public func takeEvent() -> BridgeEvent? { events.takeFirst() }

    // MARK: Parts

    private var isTrunkPaused = false

    private func gateAdmits(_ datagram: Span<UInt8>, from source: SocketAddress, at now: MediaTime) -> Bool {
        if source == gate.remote { return true }
        let number = datagram.count > 1 ? datagram[1] & 0x7F : 0x7F
        let agrees = trunkToClient.rtp.isAgreed(number)
        guard gate.admits(datagram, from: source, isAgreed: agrees, at: now) else { return false }
        events.append(.trunkMoved(source))
        return true
    }

    private func noteMedia(_ leg: inout LegStatistics, _ name: BridgeEvent.Leg, at now: MediaTime) {
        if leg.lastPacketNanoseconds == 0 { events.append(.mediaStarted(name)) }
        leg.lastPacketNanoseconds = max(1, now.nanoseconds)
    }

    private func handle(_ news: KeyNews, of leg: BridgeEvent.Leg) {
        if let key = news.interrupted { relay(key, from: leg) }
        if let key = news.began { events.append(.key(leg, key)) }
        if let key = news.ended { relay(key, from: leg) }
    }

    private func relay(_ key: ReceivedKey, from leg: BridgeEvent.Leg) {
        // A leg that takes no events has been told by the event above; the owner may send INFO.
        _ = leg == .client ? clientToTrunk.relay(key) : trunkToClient.relay(key)
    }

    private func reportToClient(saysGoodbye: Bool, at now: MediaTime) {
        trunkToClient.sender.sendReport(
            &clientReporter, statistics: &clientToTrunk.receiver.rtp.statistics, kind: .client, saysGoodbye: saysGoodbye,
            at: now)
    }

    private func reportToTrunk(saysGoodbye: Bool, at now: MediaTime) {
        clientToTrunk.sender.sendReport(
            &trunkReporter, statistics: &trunkToClient.rtp.statistics, kind: .trunkRTCP, saysGoodbye: saysGoodbye, at: now)
    }

    /// FEC is worth its bits in the measure of the loss that the client reports.
    private func adaptToLoss() {
        guard adaptsToLoss else { return }
        let percent = Int32(clientReporter.remoteLoss * 100)
        trunkToClient.sender.setExpectedLoss(percent: max(expectedLoss, min(percent, 30)))
    }

    private func publish(at now: MediaTime) {
        var snapshot = figures
        snapshot.takenAtNanoseconds = now.nanoseconds
        snapshot.client.fill(clientToTrunk.receiver.rtp, trunkToClient.sender.rtp, clientReporter)
        snapshot.trunk.fill(trunkToClient.rtp, clientToTrunk.sender.rtp, trunkReporter)
        snapshot.client.srtpFailures = opener.failures
        snapshot.client.wrongSource = strangersAtClient
        snapshot.trunk.wrongSource = gate.strangers
        let jitter = clientToTrunk.receiver.figures
        snapshot.client.packetsLate = jitter.late
        snapshot.client.packetsDiscarded = jitter.discarded
        snapshot.client.concealedMilliseconds = jitter.concealedSamples / LineUnits.perMillisecond
        snapshot.resynchronisations = jitter.resynchronisations
        snapshot.bufferedMilliseconds = Double(jitter.waiting) / Double(LineUnits.perMillisecond)
        snapshot.trunk.packetsLate = trunkToClient.late
        snapshot.trunk.packetsDiscarded = trunkToClient.discarded
        snapshot.trunk.concealedMilliseconds = trunkToClient.concealedSamples / LineUnits.perMillisecond
        snapshot.client.receivedLevel = clientToTrunk.receiver.takeLevel()
        snapshot.trunk.sentLevel = clientToTrunk.sender.takeLevel()
        snapshot.trunk.receivedLevel = trunkToClient.takeLevel()
        snapshot.client.sentLevel = trunkToClient.sender.takeLevel()
        snapshot.outboxOverflow = outbox.overflow
        statistics.publish(snapshot)
    }
}

extension LegStatistics {
    mutating func fill(_ receiver: RTPReceiver, _ sender: RTPSender, _ reporter: RTCPReporter) {
        packetsReceived = Int(receiver.statistics.totalReceived)
        octetsReceived = receiver.octets
        packetsLost = Int(receiver.statistics.totalLost)
        packetsReordered = Int(receiver.statistics.reordered)
        packetsDuplicated = Int(receiver.statistics.duplicates)
        jitterMilliseconds = Double(receiver.statistics.jitterNanoseconds) / 1e6
        packetsSent = sender.packets
        octetsSent = sender.octets
        malformed += receiver.malformed
        unknownPayload = receiver.unknownPayloads
        keysReceived = receiver.keysHeard
        keysSent = sender.keysSent
        roundTripMilliseconds = reporter.roundTrip.map { Double($0) / 1e6 } ?? -1
        remoteLoss = reporter.remoteLoss
        reportsReceived = reporter.received
    }
}
