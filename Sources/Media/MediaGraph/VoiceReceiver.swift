import Opus
import RTP

/// A leg's ear: orders what comes, and gives out samples at the line's rate tick by tick, whatever was lost.
struct VoiceReceiver: ~Copyable {
    var rtp: RTPReceiver
    private(set) var jitter: JitterBuffer
    private var decoder: VoiceDecoder
    private var queue: SampleQueue
    private let payload = FixedBuffer<UInt8>(repeating: 0, count: 1280)
    private let scale: Int
    /// Line samples (8 kHz) that were made up.
    private(set) var concealedSamples = 0

    /// Longest time that concealment is let run, in takes; after it silence is more honest.
    private static let mostConcealed = 12

    init(
        format: LegFormat?, lineRate: Int, resampler: ResamplerUse, jitter settings: JitterSettings
    ) throws(MediaGraphError) {
        let decoder = try VoiceDecoder(lineRate: lineRate, resampler: resampler)
        guard let jitter = JitterBuffer(settings) else { throw MediaGraphError("no memory for a jitter buffer") }
        rtp = RTPReceiver(format: format)
        self.decoder = decoder
        self.jitter = jitter
        scale = lineRate / LineUnits.perSecond
        queue = SampleQueue(capacity: lineRate / 4)
    }

    mutating func adopt(_ format: LegFormat) { rtp.adopt(format) }
    mutating func expectNewSource() { rtp.expectNewSource() }

    /// Takes one RTP packet. Sound is filed; `phase` learns of its arrival.
    /// - Returns: what it told of keys, mostly nothing.
    mutating func receive(_ datagram: Span<UInt8>, phase: inout PlayoutPhase, at now: MediaTime) -> KeyNews {
        switch rtp.receive(datagram, at: now) {
        case .dropped, .comfortNoise: return KeyNews()
        case .key(let change, _): return KeyNews(change)
        case .audio(let audio):
            let bytes = datagram.extracting(audio.payload)
            var samples = bytes.count
            var isSilence = false
            if audio.coding == .opus {
                guard let packet = OpusPacket(bytes) else { return KeyNews() }
                samples = packet.duration / 6
                isSilence = packet.isSilence
            }
            if let filed = jitter.put(bytes, audio, samples: samples, isSilence: isSilence) {
                phase.note(start: filed.start, isFirst: filed.isFirst, at: now)
            }
            return KeyNews(ended: rtp.keyEnded(by: audio))
        }
    }

    /// A key whose end was lost, ended by time.
    mutating func keyEnded(at now: MediaTime) -> ReceivedKey? { rtp.keyEnded(at: now) }

    /// Writes `samples` line samples (8 kHz; at the line's own rate there are more) to the front of `output`.
    mutating func pull(_ samples: Int, into output: inout MutableSpan<Int16>) {
        let wanted = samples * scale
        var turns = 0
        while queue.count < wanted, turns < 16 {
            turns += 1
            guard playNext() else { break }
        }
        queue.take(wanted, into: &output)
        jitter.endTick(remaining: queue.count / scale)
    }

    /// Place on the line of the sample that is heard next, for the playout phase.
    var pointer: UInt32? { jitter.isRunning ? jitter.pointer &- UInt32(queue.count / scale) : nil }
    /// Whether what was played last was near silence: below some -50 dBFS.
    var isQuiet: Bool { decoder.meanSquare < 10_000 }
    /// Payloads that a codec refused.
    var refused: Int { decoder.refused }

    /// Level in dBFS of what was heard since the last call.
    mutating func takeLevel() -> Double { decoder.takeLevel() }

    /// Counters, and the line samples that wait.
    var figures: (late: Int, discarded: Int, concealedSamples: Int, resynchronisations: Int, waiting: Int) {
        (
            jitter.late, jitter.discarded, concealedSamples, jitter.resynchronisations,
            jitter.depth + queue.count / scale
        )
    }

    private mutating func playNext() -> Bool {
        let scratch = payload.elements
        var bytes = scratch.mutableSpan
        switch jitter.next(isQuiet: isQuiet, into: &bytes) {
        case .idle: return false
        case .play(let length, let coding, let samples):
            decoder.decode(scratch.span, length: length, coding: coding, samples: samples, into: &queue)
        case .recover(let length, _, let samples):
            concealedSamples += samples
            decoder.recover(from: scratch.span, length: length, samples: samples, into: &queue)
        case .conceal(let samples):
            if rtp.isKeyDown || jitter.consecutiveMisses > Self.mostConcealed {
                queue.appendSilence(samples * scale)
            } else {
                if !jitter.isPausedByPeer { concealedSamples += samples }
                decoder.conceal(samples: samples, coding: jitter.coding, into: &queue)
            }
        }
        return true
    }
}
