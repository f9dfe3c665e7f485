// Client to trunk, read downwards as a packet travels:
//
//   client socket ─► Bridge.receiveFromClient
//                        │  source address, first byte (RFC 7983), SRTP opened in place
//                        ▼
//   receive          RTPReceiver ──► keys ──► relayed with the trunk's clock, in order, with gaps
//                        │ sound
//                        ▼
//                    JitterBuffer   ordered, on a line of our own; PlayoutPhase learns of the arrival
//                        ┊
//                        ┊   waits for this bridge's own tick
//                        ▼
//   tick             decode │ recover │ conceal      (VoiceReceiver; Opus straight to 8 kHz)
//                        ▼
//                    flow: audio, silence or nothing
//                        ▼
//                    VoiceSender    a key or G.711; own SSRC, sequence, timestamp
//                        ▼
//                    outbox ─► trunk RTP socket

import RTP

struct ClientToTrunk: ~Copyable {
    var receiver: VoiceReceiver
    var sender: VoiceSender
    private(set) var phase: PlayoutPhase
    private let frame = FixedBuffer<Int16>(repeating: 0, count: 480)
    private let keys: KeySettings
    var flow = MediaFlow.audio

    init(
        client: LegFormat, configuration: BridgeConfiguration, outbox: Outbox, using random: inout SplitMix
    ) throws(MediaGraphError) {
        let receiver = try VoiceReceiver(
            format: client, lineRate: LineUnits.perSecond, resampler: configuration.resampler, jitter: configuration.jitter)
        let sender = try VoiceSender(
            format: .g711(), lineRate: LineUnits.perSecond, resampler: .whenNeeded, opus: configuration.opus,
            keys: configuration.keys, sealer: PacketSealer(), outbox: outbox, kind: .trunkRTP, using: &random)
        self.receiver = receiver
        self.sender = sender
        keys = configuration.keys
        phase = PlayoutPhase(start: .distantFuture, period: 20_000_000)
    }

    mutating func adoptClient(_ format: LegFormat) { receiver.adopt(format) }

    mutating func adoptTrunk(_ format: LegFormat) {
        sender.adopt(format, keys: keys)
        phase.period = Int64(sender.packetSamples) * LineUnits.nanoseconds
    }

    /// Lets the ticks begin.
    mutating func start(at now: MediaTime) { phase.start(at: now) }

    var deadline: MediaTime { phase.deadline }

    // MARK: The way

    /// Takes one opened RTP packet of the client's.
    mutating func receive(_ datagram: Span<UInt8>, at now: MediaTime) -> KeyNews {
        receiver.receive(datagram, phase: &phase, at: now)
    }

    /// Plays what is due, if the tick is. `isConnected`: whether the trunk has an address.
    mutating func tick(isConnected: Bool, at now: MediaTime) {
        guard now >= phase.deadline else { return }
        phase.skip(to: now)
        let samples = sender.packetSamples
        let scratch = frame.elements
        var output = scratch.mutableSpan
        receiver.pull(samples, into: &output)
        if flow != .audio { for index in 0..<samples { scratch[index] = 0 } }
        send(samples, isConnected: isConnected, at: now)
        phase.advance(pointer: receiver.pointer, frame: receiver.jitter.frameSamples)
    }

    /// A key that the client pressed goes on to the trunk, at least as long as the least length.
    mutating func relay(_ key: ReceivedKey) -> Bool { sender.enqueue(key.key, milliseconds: key.milliseconds) }

    mutating func play(_ digits: String, milliseconds: Int) throws(DTMFStringError) {
        try sender.enqueue(digits, milliseconds: milliseconds)
    }

    mutating func keyEnded(at now: MediaTime) -> ReceivedKey? { receiver.keyEnded(at: now) }

    private mutating func send(_ samples: Int, isConnected: Bool, at now: MediaTime) {
        guard isConnected, flow != .nothing || sender.rtp.isKeyPlaying else {
            sender.skip(samples: samples)
            return
        }
        sender.send(frame.elements.span.extracting(0..<samples), at: now)
    }
}
