// Trunk to client, read downwards as a packet travels:
//
//   trunk socket ─► Bridge.receiveFromTrunk
//                        │  source address (SourceGate), first byte
//                        ▼
//   receive          RTPReceiver ──► keys ──► reported, and relayed with the client's clock
//                        │ sound
//                        ▼
//                    ReorderHold    passes packets in order at once; the browser has a jitter buffer
//                        ▼
//                    place on the client's line: loss ─► conceal, pause ─► move on, burst ─► drop
//                        ▼
//                    decode G.711 (length read from each packet) ─► SampleQueue
//                        ▼
//                    VoiceSender    whenever a whole packet is there: a key or Opus at 8 kHz
//                        ▼
//                    SRTP sealed ─► outbox ─► client socket
//
//   tick             nothing heard for a while (held, paused, not there yet) ─► silence goes out on the same line, so that
//                    the browser and every NAT on the way stay awake (case H47)

import Audio
import RTP

struct TrunkToClient: ~Copyable {
    var rtp: RTPReceiver
    var sender: VoiceSender
    private var decoder: VoiceDecoder
    private var hold = ReorderHold()
    private var queue = SampleQueue(capacity: 8000)
    private let payload = FixedBuffer<UInt8>(repeating: 0, count: 1280)
    private let frame = FixedBuffer<Int16>(repeating: 0, count: 960)
    private let keys: KeySettings

    /// Line samples handed to the sender's queue since the start: the client's line.
    private var line: Int64 = 0
    /// Client line minus trunk timestamp; nil until a packet sets it.
    private var offset: Int64?
    private var timestamps = TimestampUnwrapper()
    /// Trunk line samples up to the end of the packet before.
    private var stampEnd: Int64 = 0
    private var behindSince: MediaTime?
    private var lastOutput: MediaTime?
    private var lastAudio: MediaTime?
    /// When the next packet of silence is due.
    private var fillDeadline = MediaTime.distantFuture
    private var isFilling = false
    private var comfortLevel: UInt8?
    private var noise = SplitMix(seed: 1)

    private(set) var concealedSamples = 0
    private(set) var late = 0
    private(set) var discarded = 0
    var flow = MediaFlow.audio
    private var isClientOpen = false

    /// The client is left without packets for this long before silence is sent: shorter holes its own buffer conceals.
    private static let patience = 120
    /// Longer losses than this are left to the client as a gap.
    private static let mostConcealed: Int64 = 480
    /// A jump of the trunk's timestamps beyond this is another stream.
    private static let longestGap: Int64 = 10 * 8000

    init(
        client: LegFormat, sealer: consuming PacketSealer, configuration: BridgeConfiguration, outbox: Outbox,
        using random: inout SplitMix
    ) throws(MediaGraphError) {
        let decoder = try VoiceDecoder(lineRate: LineUnits.perSecond, resampler: configuration.resampler)
        let sender = try VoiceSender(
            format: client, lineRate: LineUnits.perSecond, resampler: configuration.resampler, opus: configuration.opus,
            keys: configuration.keys, sealer: sealer, outbox: outbox, kind: .client, using: &random)
        rtp = RTPReceiver(format: nil)
        self.decoder = decoder
        self.sender = sender
        keys = configuration.keys
    }

    mutating func adoptClient(_ format: LegFormat) { sender.adopt(format, keys: keys) }
    mutating func adoptTrunk(_ format: LegFormat) { rtp.adopt(format) }
    mutating func expectNewSource() {
        rtp.expectNewSource()
        offset = nil
        hold.restart()
    }

    /// Lets silence begin: the client is there.
    mutating func start(at now: MediaTime) {
        if lastOutput == nil { fillDeadline = now }
    }

    var deadline: MediaTime { min(hold.deadline, flow == .nothing ? .distantFuture : fillDeadline) }
    /// Line samples that wait for a whole packet.
    var waiting: Int { queue.count }

    // MARK: The way

    /// Takes one RTP packet of the trunk's.
    mutating func receive(_ datagram: Span<UInt8>, isOpen: Bool, at now: MediaTime) -> KeyNews {
        isClientOpen = isOpen
        switch rtp.receive(datagram, at: now) {
        case .dropped: return KeyNews()
        case .comfortNoise(let level, let place):
            comfortLevel = level
            pass(place)
            fillDeadline = min(fillDeadline, now.advanced(milliseconds: 20))
            return KeyNews()
        case .key(let change, let place):
            pass(place)
            return KeyNews(change)
        case .audio(let audio):
            order(datagram, audio, at: now)
            drainHold(isImpatient: false, at: now)
            sendWholePackets(at: now)
            return KeyNews(ended: rtp.keyEnded(by: audio))
        }
    }

    /// Ends waits that are over, and sends silence where nothing else is sent.
    mutating func tick(at now: MediaTime) {
        if now >= hold.deadline {
            drainHold(isImpatient: true, at: now)
            sendWholePackets(at: now)
        }
        guard now >= fillDeadline, flow != .nothing else { return }
        fill(at: now)
        sendWholePackets(at: now)
    }

    mutating func relay(_ key: ReceivedKey) -> Bool { sender.enqueue(key.key, milliseconds: key.milliseconds) }
    mutating func keyEnded(at now: MediaTime) -> ReceivedKey? { rtp.keyEnded(at: now) }

    mutating func takeLevel() -> Double { decoder.takeLevel() }

    // MARK: Order

    private mutating func order(_ datagram: Span<UInt8>, _ audio: RTPReceiver.Audio, at now: MediaTime) {
        if audio.isNewStream {
            hold.restart()
            offset = nil
            timestamps.reset()
            decoder.reset()
        }
        guard let expected = hold.expected, audio.place != expected else {
            hold.advance(past: audio.place)
            play(datagram, audio, isAfterLoss: false, at: now)
            return
        }
        if audio.place < expected {
            late += 1
        } else if !hold.hold(datagram, audio, at: now) {
            // No room: what is missing will not come any more.
            drainHold(isImpatient: true, at: now)
            playAfter(expected: hold.expected ?? expected, datagram, audio, at: now)
        }
    }

    private mutating func drainHold(isImpatient: Bool, at now: MediaTime) {
        while true {
            let expected = hold.expected
            let scratch = payload.elements
            var bytes = scratch.mutableSpan
            guard let audio = hold.takeNext(isImpatient: isImpatient, into: &bytes, at: now) else { return }
            playAfter(expected: expected ?? audio.place, scratch.span, audio, at: now)
        }
    }

    private mutating func playAfter(expected: Int64, _ datagram: Span<UInt8>, _ audio: RTPReceiver.Audio, at now: MediaTime)
    {
        guard audio.place >= expected else {
            late += 1
            return
        }
        hold.advance(past: audio.place)
        play(datagram, audio, isAfterLoss: audio.place > expected, at: now)
    }

    /// A packet without sound keeps the order going.
    private mutating func pass(_ place: Int64) {
        if let expected = hold.expected, place >= expected { hold.advance(past: place) }
    }

    // MARK: Place and sound

    private mutating func play(_ datagram: Span<UInt8>, _ audio: RTPReceiver.Audio, isAfterLoss: Bool, at now: MediaTime) {
        lastAudio = now
        comfortLevel = nil
        let samples = audio.payload.count
        guard flow == .audio, isClientOpen else {
            offset = nil
            return
        }
        fillDeadline = now.advanced(milliseconds: Self.patience)
        guard place(audio, samples: samples, isAfterLoss: isAfterLoss, at: now) else {
            discarded += 1
            return
        }
        isFilling = false
        let bytes = datagram.extracting(audio.payload)
        decoder.decode(bytes, length: bytes.count, coding: audio.coding, samples: samples, into: &queue)
        line += Int64(samples)
    }

    /// Brings the client's line to where the packet belongs.
    /// - Returns: false if its time is over.
    private mutating func place(_ audio: RTPReceiver.Audio, samples: Int, isAfterLoss: Bool, at now: MediaTime) -> Bool {
        let units = Int64(audio.coding.unitsPerLineSample)
        let stamp = timestamps.unwrap(audio.timestamp) / units
        let isPause = !isAfterLoss && stamp > stampEnd
        stampEnd = stamp + Int64(samples)
        // A talk spurt begins where the silence has brought us; so does a stream that paused on purpose (case H20).
        if isFilling, audio.marker || isPause { offset = nil }
        guard let known = offset else {
            offset = line - stamp
            behindSince = nil
            return true
        }
        let gap = stamp + known - line
        if gap == 0 {
            behindSince = nil
        } else if gap > 0, gap <= Self.longestGap {
            behindSince = nil
            cross(gap, isAfterLoss: isAfterLoss, coding: audio.coding, at: now)
        } else if gap > -Self.longestGap, gap < 0, isBurst(at: now) {
            return false
        } else {
            offset = line - stamp
            behindSince = nil
        }
        return true
    }

    /// A trunk that was held up on its way delivers old sound all at once: it is dropped until it has caught up. If it does
    /// not catch up, its timestamps stood still meanwhile, and it is taken as it comes.
    private mutating func isBurst(at now: MediaTime) -> Bool {
        guard isFilling || behindSince != nil else { return false }
        let since = behindSince ?? now
        behindSince = since
        return now.since(since) < 60_000_000
    }

    private mutating func cross(_ gap: Int64, isAfterLoss: Bool, coding: AudioCoding, at now: MediaTime) {
        if isAfterLoss, gap <= Self.mostConcealed {
            decoder.conceal(samples: Int(gap), coding: coding, into: &queue)
            concealedSamples += Int(gap)
            line += gap
        } else {
            moveLine(by: gap, at: now)
        }
    }

    /// A real gap: what waits is sent filled up with silence, and the client's timestamps pass over the rest.
    private mutating func moveLine(by gap: Int64, at now: MediaTime) {
        let partial = queue.count % sender.packetSamples
        let padding = partial == 0 ? 0 : min(Int(gap), sender.packetSamples - partial)
        queue.appendSilence(padding)
        sendWholePackets(at: now)
        // A gap shorter than the packet that waits goes into that packet.
        if queue.count == 0 { sender.skip(samples: Int(gap) - padding) }
        line += gap
    }

    // MARK: Out

    private mutating func fill(at now: MediaTime) {
        let samples = sender.packetSamples
        if !isFilling {
            isFilling = true
            if let lastOutput {
                let away = now.since(lastOutput) / LineUnits.nanoseconds - Int64(samples)
                if away > Int64(samples) / 2 { moveLine(by: away, at: now) }
            }
            fillDeadline = now
        }
        fillDeadline = fillDeadline.advanced(milliseconds: samples / LineUnits.perMillisecond)
        if now.since(fillDeadline) > 200_000_000 { fillDeadline = now }
        appendQuiet(samples)
        line += Int64(samples)
    }

    private mutating func appendQuiet(_ samples: Int) {
        guard let level = comfortLevel, level < 90 else { return queue.appendSilence(samples) }
        // Level is the drop below full scale in dB; halving the amplitude every 6 dB is near enough for noise.
        let amplitude = Int64(28_000) >> Int64(level / 6)
        for index in 0..<samples {
            let random = Int64(truncatingIfNeeded: noise.next() & 0xFFFF) - 0x8000
            frame.elements[index] = Int16(truncatingIfNeeded: (random * amplitude) >> 15)
        }
        queue.append(frame.elements.span, count: samples)
    }

    private mutating func sendWholePackets(at now: MediaTime) {
        let samples = sender.packetSamples
        while queue.count >= samples {
            let scratch = frame.elements
            var output = scratch.mutableSpan
            queue.take(samples, into: &output)
            sender.send(frame.elements.span.extracting(0..<samples), at: now)
            lastOutput = now
        }
    }
}
