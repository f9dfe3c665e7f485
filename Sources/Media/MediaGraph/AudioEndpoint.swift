public import Opus
public import RTP
public import SRTP
public import Sockets

/// What an endpoint is made with.
public struct EndpointConfiguration: Sendable {
    /// What was negotiated.
    public var format: LegFormat
    /// SRTP keys; nil for a plain leg.
    public var keys: SRTPKeys?
    /// Samples a second of what is played and recorded: 8 000, 16 000 or 48 000.
    public var lineRate: Int
    /// The encoder, where the format is Opus.
    public var opus: OpusEncoderSettings
    /// The buffer for what comes.
    public var jitter: JitterSettings
    /// How keys are sent.
    public var keySettings: KeySettings
    /// Seconds of sound to keep of what is heard; 0 for none.
    public var recordedSeconds: Int
    /// Unix time at `MediaTime(nanoseconds: 0)`, in nanoseconds.
    public var wallClockOffset: Int64
    /// Source of SSRCs and the like. Random but for tests.
    public var seed: UInt64

    /// An endpoint of G.711 or Opus, plain unless it is given keys.
    public init(
        format: LegFormat, keys: SRTPKeys? = nil, lineRate: Int = 8000, opus: OpusEncoderSettings = OpusEncoderSettings(),
        jitter: JitterSettings = JitterSettings(), keySettings: KeySettings = KeySettings(), recordedSeconds: Int = 0,
        wallClockOffset: Int64 = 0, seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.format = format
        self.keys = keys
        self.lineRate = lineRate
        self.opus = opus
        self.jitter = jitter
        self.keySettings = keySettings
        self.recordedSeconds = recordedSeconds
        self.wallClockOffset = wallClockOffset
        self.seed = seed
    }
}

/// Something an endpoint has to tell its owner.
public enum EndpointEvent: Sendable, Hashable {
    /// The peer pressed a key; told once, at its first packet.
    case key(DTMFKey)
    /// A source of samples has been played to its end.
    case sourceEnded
    /// The first packet of RTP came.
    case mediaStarted
}

/// What is known of an endpoint at one moment.
public struct EndpointStatistics: Sendable, Hashable, BitwiseCopyable {
    /// The one leg it has.
    public var leg = LegStatistics()
    /// Samples recorded so far.
    public var recordedSamples = 0
    /// When this was taken, in nanoseconds of the lane's time.
    public var takenAtNanoseconds: Int64 = 0

    /// An endpoint that has not begun.
    public init() {}
}

/// One end of a call by itself: it plays a source, hears, records and counts, echoes, sends and collects keys. A plain one is a
/// telephone on the trunk (the demo trunk's); one with keys is an app (the headless client's). Made of the bridge's own parts.
///
/// - Threads: one owner at a time, in practice a lane. ``statistics`` may be read from any thread.
public final class AudioEndpoint {
    /// Datagrams to be sent; drain it after each call. Kinds: `client` with keys, else `trunkRTP` and `trunkRTCP`.
    public let outbox = Outbox()
    /// What is known, renewed every 100 ms. To be read from any thread.
    public let statistics = SnapshotBoard(EndpointStatistics())
    /// Where RTP goes and comes from.
    public private(set) var remote: SocketAddress?
    /// Where RTCP goes: the RTP address if protected, else its port + 1.
    public var reportRemote: SocketAddress? {
        guard let remote, !isProtected, remote.port < .max else { return remote }
        return remote.with(port: remote.port + 1)
    }
    /// Samples a second of what is played and recorded.
    public let lineRate: Int

    private let isProtected: Bool
    private let keySettings: KeySettings
    private var receiver: VoiceReceiver
    private var sender: VoiceSender
    private var opener: PacketOpener
    private var phase: PlayoutPhase
    private var reporter: RTCPReporter
    private var player: SourcePlayer
    private var events = EventRing<EndpointEvent>(capacity: 64)
    private var recording: [Int16] = []
    private let recordingLimit: Int
    private let frame: FixedBuffer<Int16>
    private var figures = LegStatistics()
    private var strangers = 0
    private var publishAt: MediaTime
    private var isClosed = false

    /// Makes all storage; the first tick is due at `now`.
    public init(
        configuration: EndpointConfiguration, source: AudioSource, remote: SocketAddress?, at now: MediaTime
    ) throws(MediaGraphError) {
        var random = SplitMix(seed: configuration.seed)
        let sealer: PacketSealer
        let opener: PacketOpener
        if let keys = configuration.keys {
            sealer = try PacketSealer(keys.send)
            opener = try PacketOpener(keys.receive)
        } else {
            sealer = PacketSealer()
            opener = PacketOpener()
        }
        let isProtected = configuration.keys != nil
        let receiver = try VoiceReceiver(
            format: configuration.format, lineRate: configuration.lineRate, resampler: .whenNeeded,
            jitter: configuration.jitter)
        let sender = try VoiceSender(
            format: configuration.format, lineRate: configuration.lineRate, resampler: .whenNeeded,
            opus: configuration.opus,
            keys: configuration.keySettings, sealer: sealer, outbox: outbox, kind: isProtected ? .client : .trunkRTP,
            using: &random)
        phase = PlayoutPhase(start: now, period: Int64(sender.packetSamples) * LineUnits.nanoseconds)
        self.receiver = receiver
        self.sender = sender
        self.opener = opener
        self.isProtected = isProtected
        self.remote = remote
        keySettings = configuration.keySettings
        lineRate = configuration.lineRate
        reporter = RTCPReporter(wallClockOffset: configuration.wallClockOffset, using: &random)
        reporter.start(at: now)
        player = SourcePlayer(source)
        recordingLimit = configuration.recordedSeconds * configuration.lineRate
        recording.reserveCapacity(recordingLimit)
        frame = FixedBuffer(repeating: 0, count: configuration.lineRate / 1000 * 60)
        publishAt = now
    }

    // MARK: Commands

    /// Plays another source from its start.
    public func play(_ source: AudioSource) { player = SourcePlayer(source) }

    /// Whether packets go out at all; keys do in any case.
    public var isSending = true

    /// Takes up another address of the peer's: a re-offer, or a path that changed.
    public func setRemote(_ address: SocketAddress?) {
        guard address != remote else { return }
        remote = address
        receiver.expectNewSource()
    }

    /// Takes up what was renegotiated.
    public func setFormat(_ format: LegFormat) {
        receiver.adopt(format)
        sender.adopt(format, keys: keySettings)
        phase.period = Int64(sender.packetSamples) * LineUnits.nanoseconds
    }

    /// Plays keys to the peer, as ``Bridge/sendKeys(_:milliseconds:)`` does.
    public func sendKeys(_ keys: String, milliseconds: Int = 100) throws(DTMFStringError) {
        try sender.enqueue(keys, milliseconds: milliseconds)
    }

    /// Whether keys are still being played.
    public var isSendingKeys: Bool { sender.rtp.isKeyPlaying }

    /// What was heard so far, at ``lineRate``, from the first packet on; the recording begins anew.
    public func takeRecording() -> [Int16] {
        let taken = recording
        recording = []
        recording.reserveCapacity(recordingLimit)
        return taken
    }

    /// Ends the endpoint: leaves a goodbye in the outbox.
    public func close(at now: MediaTime) {
        guard !isClosed else { return }
        if sender.rtp.packets > 0 { report(saysGoodbye: true, at: now) }
        publish(at: now)
        isClosed = true
    }

    // MARK: Packets and time

    /// Takes the datagram in the first `length` bytes of `buffer`, which is opened in place.
    public func receive(_ buffer: inout MutableSpan<UInt8>, length: Int, from source: SocketAddress, at now: MediaTime) {
        guard !isClosed else { return }
        guard source == remote || (!isProtected && source == reportRemote) else {
            strangers += 1
            return
        }
        let kind = PacketKind.classify(buffer.span.extracting(0..<length))
        guard kind == .rtp || kind == .rtcp else {
            figures.malformed += 1
            return
        }
        guard let opened = opener.open(&buffer, length: length, isRTCP: kind == .rtcp) else { return }
        let datagram = buffer.span.extracting(0..<opened)
        guard kind == .rtp else {
            return reporter.receive(
                datagram, ours: sender.rtp.ssrc, statistics: &receiver.rtp.statistics, at: now)
        }
        if figures.lastPacketNanoseconds == 0 { events.append(.mediaStarted) }
        figures.lastPacketNanoseconds = max(1, now.nanoseconds)
        if let key = receiver.receive(datagram, phase: &phase, at: now).began { events.append(.key(key)) }
    }

    /// When ``tick(at:)`` has something to do next.
    public var nextDeadline: MediaTime { isClosed ? .distantFuture : min(phase.deadline, publishAt, reporter.due) }

    /// Does what is due.
    public func tick(at now: MediaTime) {
        guard !isClosed else { return }
        if now >= phase.deadline { playFrame(at: now) }
        if now >= reporter.due { report(saysGoodbye: false, at: now) }
        if now >= publishAt {
            publish(at: now)
            publishAt = now.advanced(milliseconds: 100)
        }
    }

    /// The oldest piece of news; nil when there is none.
    public func takeEvent() -> EndpointEvent? { events.takeFirst() }

    // MARK: Parts

    private func playFrame(at now: MediaTime) {
        phase.skip(to: now)
        let samples = sender.packetSamples
        let count = samples * lineRate / LineUnits.perSecond
        let elements = frame.elements
        let scratch = UnsafeMutableBufferPointer(rebasing: elements[0..<count])
        var output = scratch.mutableSpan
        receiver.pull(samples, into: &output)
        if figures.lastPacketNanoseconds != 0, recording.count + count <= recordingLimit {
            recording.append(contentsOf: scratch)
        }
        if player.fill(&output) { events.append(.sourceEnded) }
        // A key whose end was lost is over by now; nobody here relays it.
        _ = receiver.keyEnded(at: now)
        if remote != nil, isSending || sender.rtp.isKeyPlaying {
            sender.send(scratch.span, at: now)
        } else {
            sender.skip(samples: samples)
        }
        // Its own clock sends: an endpoint that followed its peer, which follows it, would chase its own tail.
        phase.advance(pointer: nil, frame: receiver.jitter.frameSamples)
    }

    private func report(saysGoodbye: Bool, at now: MediaTime) {
        sender.sendReport(
            &reporter, statistics: &receiver.rtp.statistics, kind: isProtected ? .client : .trunkRTCP,
            saysGoodbye: saysGoodbye, at: now)
    }

    private func publish(at now: MediaTime) {
        var snapshot = EndpointStatistics()
        snapshot.takenAtNanoseconds = now.nanoseconds
        snapshot.leg = figures
        snapshot.leg.fill(receiver.rtp, sender.rtp, reporter)
        snapshot.leg.srtpFailures = opener.failures
        snapshot.leg.wrongSource = strangers
        let jitter = receiver.figures
        snapshot.leg.packetsLate = jitter.late
        snapshot.leg.packetsDiscarded = jitter.discarded
        snapshot.leg.concealedMilliseconds = jitter.concealedSamples / LineUnits.perMillisecond
        snapshot.leg.receivedLevel = receiver.takeLevel()
        snapshot.leg.sentLevel = sender.takeLevel()
        snapshot.recordedSamples = recording.count
        statistics.publish(snapshot)
    }
}
