import Audio
import Opus
import RTP

/// A leg's mouth: whole packets of sound or of keys, sealed if the leg is protected, into the outbox.
struct VoiceSender: ~Copyable {
    var rtp: RTPSender
    private var sealer: PacketSealer
    private let outbox: Outbox
    private let kind: OutboxKind
    private var encoder: VoiceEncoder
    /// Line samples (8 kHz) in a packet.
    private(set) var packetSamples: Int
    private var level = LevelMeter()

    init(
        format: LegFormat, lineRate: Int, resampler: ResamplerUse, opus: OpusEncoderSettings, keys: KeySettings,
        sealer: consuming PacketSealer, outbox: Outbox, kind: OutboxKind, using random: inout SplitMix
    ) throws(MediaGraphError) {
        rtp = RTPSender(format: format, keys: keys, using: &random)
        encoder = try VoiceEncoder(
            coding: format.send.coding, lineRate: lineRate, resampler: resampler, settings: opus)
        packetSamples = format.packetSamples
        self.sealer = sealer
        self.outbox = outbox
        self.kind = kind
    }

    mutating func adopt(_ format: LegFormat, keys: KeySettings) {
        rtp.adopt(format, keys: keys)
        encoder.adopt(format.send.coding)
        packetSamples = format.packetSamples
    }

    mutating func adopt(_ newSealer: consuming PacketSealer) { sealer = newSealer }

    /// Level in dBFS of what was sent since the last call.
    mutating func takeLevel() -> Double { level.take() }

    mutating func setExpectedLoss(percent: Int32) { encoder.setExpectedLoss(percent: percent) }
    mutating func skip(samples: Int) { rtp.skip(samples: samples) }
    mutating func enqueue(_ key: DTMFKey, milliseconds: Int) -> Bool { rtp.enqueue(key, milliseconds: milliseconds) }
    mutating func enqueue(_ digits: String, milliseconds: Int) throws(DTMFStringError) {
        try rtp.enqueue(digits, milliseconds: milliseconds)
    }

    /// Sends one packet of `packetSamples`; a key takes the place of the sound.
    mutating func send(_ samples: Span<Int16>, at now: MediaTime) {
        level.add(meanSquare: AudioLevel.meanSquare(samples), samples: samples.count)
        outbox.append(kind) { datagram in
            var length = rtp.writeKey(samples: packetSamples, into: &datagram, at: now)
            if length == 0 {
                let payload = encoder.encode(samples, into: &datagram, at: RTPHeader.fixedLength)
                guard payload > 0 else {
                    rtp.skip(samples: packetSamples)
                    return 0
                }
                length = rtp.writeAudioHeader(
                    payloadLength: payload, samples: packetSamples, into: &datagram, at: now)
            }
            return sealer.protect(&datagram, length: length, isRTCP: false)
        }
    }

    /// Sends the RTCP report that is due.
    mutating func sendReport(
        _ reporter: inout RTCPReporter, statistics: inout ReceptionStatistics, kind: OutboxKind, saysGoodbye: Bool,
        at now: MediaTime
    ) {
        outbox.append(kind) { datagram in
            let length = reporter.write(
                sender: rtp, statistics: &statistics, saysGoodbye: saysGoodbye, into: &datagram, at: now)
            return sealer.protect(&datagram, length: length, isRTCP: true)
        }
    }
}
