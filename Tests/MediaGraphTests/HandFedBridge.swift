import Audio
import MediaGraph
import Opus
import RTP
import Sockets

/// A bridge whose legs are fed packet by packet, both plain; what comes out is kept, parsed.
final class HandFedBridge {
    struct Sent {
        var at: Int64
        var header: RTPHeader
        var payload: [UInt8]
    }

    static let client = SocketAddress(192, 0, 2, 1, port: 5000)
    static let trunk = SocketAddress(192, 0, 2, 3, port: 7000)

    let bridge: Bridge
    private(set) var now = MediaTime(nanoseconds: 5_000_000_000)
    private(set) var toTrunk: [Sent] = []
    private(set) var toClient: [Sent] = []
    private(set) var events: [BridgeEvent] = []
    /// Makes ticks late by up to so many milliseconds.
    var hog: () -> Int = { 0 }

    init(
        client: LegFormat = HandFedBridge.pcmuClient, trunk: LegFormat = .g711(),
        configuration: BridgeConfiguration = BridgeConfiguration(seed: 7), opensClient: Bool = true
    ) throws {
        bridge = try Bridge(configuration: configuration)
        if opensClient { try bridge.openClient(client, keys: nil, remote: Self.client, at: now) }
        bridge.setTrunk(trunk, remote: Self.trunk, at: now)
    }

    /// A client leg of G.711, which makes sound easy to feed and to hear.
    static var pcmuClient: LegFormat {
        var format = LegFormat.g711()
        format.receiveEvents = [
            EventFormat(payloadType: PayloadType(101), clockRate: 8000),
            EventFormat(payloadType: PayloadType(110), clockRate: 48_000),
        ]
        return format
    }

    func feedClient(
        _ payload: [UInt8], type: UInt8 = 0, sequence: Int, timestamp: Int, marker: Bool = false, ssrc: UInt32 = 11,
        from source: SocketAddress = HandFedBridge.client
    ) {
        var bytes = Self.packet(payload, type, sequence, timestamp, marker, ssrc)
        let length = bytes.count
        var span = bytes.mutableSpan
        bridge.receiveFromClient(&span, length: length, from: source, at: now)
        collect()
    }

    func feedTrunk(
        _ payload: [UInt8], type: UInt8 = 0, sequence: Int, timestamp: Int, marker: Bool = false, ssrc: UInt32 = 22,
        from source: SocketAddress = HandFedBridge.trunk
    ) {
        let bytes = Self.packet(payload, type, sequence, timestamp, marker, ssrc)
        bridge.receiveFromTrunk(bytes.span, from: source, at: now)
        collect()
    }

    func run(milliseconds: Int) {
        let end = now.advanced(milliseconds: milliseconds)
        while now < end {
            now = now.advanced(milliseconds: 1)
            if bridge.nextDeadline.advanced(milliseconds: hog()) <= now { bridge.tick(at: now) }
            collect()
        }
    }

    private func collect() {
        bridge.outbox.drain { kind, bytes in
            guard kind != .trunkRTCP, PacketKind.classify(bytes) == .rtp, let header = try? RTPHeader.parse(bytes) else {
                return
            }
            let payload = Array(copying: bytes.extracting(header.payloadRange))
            let sent = Sent(at: now.nanoseconds, header: header, payload: payload)
            if kind == .client { toClient.append(sent) } else { toTrunk.append(sent) }
        }
        while let event = bridge.takeEvent() { events.append(event) }
    }

    static func packet(
        _ payload: [UInt8], _ type: UInt8, _ sequence: Int, _ timestamp: Int, _ marker: Bool, _ ssrc: UInt32
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 12)
        bytes[0] = 0x80
        bytes[1] = type | (marker ? 0x80 : 0)
        bytes[2] = UInt8(truncatingIfNeeded: sequence >> 8)
        bytes[3] = UInt8(truncatingIfNeeded: sequence)
        for index in 0..<4 {
            bytes[4 + index] = UInt8(truncatingIfNeeded: timestamp >> (24 - 8 * index))
            bytes[8 + index] = UInt8(truncatingIfNeeded: Int(ssrc) >> (24 - 8 * index))
        }
        return bytes + payload
    }
}

/// A tone in G.711, piece by piece.
struct LawTone {
    private var generator: ToneGenerator
    init(_ frequency: Double = 1000, level: Double = -12) {
        generator = ToneGenerator(rate: .telephone, frequency: frequency, level: level)
    }
    mutating func next(_ samples: Int) -> [UInt8] { generator.samples(samples).map { G711Law.mu.encode($0) } }
}

/// What a leg that hears mu-law hears, packet after packet.
func heard(_ packets: some Sequence<HandFedBridge.Sent>) -> Ear {
    Ear(packets.filter { $0.header.payloadType == .pcmu }.flatMap { $0.payload.map { G711Law.mu.decode($0) } })
}

/// Whether sequence numbers and timestamps of a sent stream step evenly.
func isEven(_ packets: ArraySlice<HandFedBridge.Sent>, step: Int) -> Bool {
    zip(packets, packets.dropFirst()).allSatisfy { one, other in
        one.header.sequenceNumber.distance(to: other.header.sequenceNumber) == 1
            && one.header.timestamp.distance(to: other.header.timestamp) == step && one.header.ssrc == other.header.ssrc
    }
}
