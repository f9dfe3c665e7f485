import Audio
import MediaGraph
import SRTP
import Sockets

/// A seeded network between two parts, in virtual time.
struct Network {
    var delayMilliseconds = 20.0
    /// Exponentially distributed, in milliseconds; packets may overtake one another.
    var meanJitter = 0.0
    var loss = 0.0
    var duplicates = 0.0
}

struct SeededRandom: RandomNumberGenerator {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}

/// A whole call: an app, a bridge and a telephone, moved by hand through virtual time in steps of 2 ms as a lane does.
final class VirtualCall {
    struct Flight {
        var arrival: Int64
        var destination: Destination
        var bytes: [UInt8]
        var source: SocketAddress
    }
    enum Destination { case client, bridgeFromClient, bridgeFromTrunk, trunk }

    static let clientAddress = SocketAddress(192, 0, 2, 1, port: 5000)
    static let bridgeAddress = SocketAddress(192, 0, 2, 2, port: 6000)
    static let trunkAddress = SocketAddress(192, 0, 2, 3, port: 7000)
    static let reportAddress = SocketAddress(192, 0, 2, 3, port: 7001)

    let bridge: Bridge
    let client: AudioEndpoint
    let trunk: AudioEndpoint
    var clientToBridge = Network()
    var bridgeToClient = Network()
    var trunkToBridge = Network()
    var bridgeToTrunk = Network()
    var now = MediaTime(nanoseconds: 1_000_000_000)
    var sentToTrunk: [(at: Int64, bytes: [UInt8])] = []
    var sentToClient: [(at: Int64, bytes: [UInt8])] = []
    /// When the client's datagrams came to the bridge.
    var arrivalsAtBridge: [Int64] = []
    /// Called for each datagram before it is set on its way; false drops it.
    var admit: (Destination, [UInt8]) -> Bool = { _, _ in true }
    /// Moves the client's clock: nanoseconds gained each second.
    var clientDriftPPM = 0.0
    private var flights: [Flight] = []
    private var random: SeededRandom
    private var clientClock = 1_000_000_000.0

    init(
        seed: UInt64, clientSource: AudioSource, trunkSource: AudioSource, configuration: BridgeConfiguration? = nil,
        clientFormat: LegFormat = .opus(), trunkFormat: LegFormat = .g711(), trunkSends: LegFormat? = nil,
        profile: SRTPProfile? = .aeadAes128Gcm
    ) throws {
        random = SeededRandom(seed: seed)
        var settings = configuration ?? BridgeConfiguration()
        settings.seed = seed
        bridge = try Bridge(configuration: settings)
        let keys = try profile.map { profile in
            let one = try SRTPKeyMaterial(
                profile: profile, key: (0..<profile.keyLength).map { UInt8($0) },
                salt: (0..<profile.saltLength).map { UInt8($0) })
            let other = try SRTPKeyMaterial(
                profile: profile, key: (0..<profile.keyLength).map { UInt8($0 + 99) },
                salt: (0..<profile.saltLength).map { UInt8($0 + 7) })
            return (one, other)
        }
        client = try AudioEndpoint(
            configuration: EndpointConfiguration(
                format: clientFormat, keys: keys.map { SRTPKeys(send: $0.0, receive: $0.1) }, recordedSeconds: 300,
                seed: seed &+ 1), source: clientSource, remote: Self.bridgeAddress, at: now)
        trunk = try AudioEndpoint(
            configuration: EndpointConfiguration(format: trunkSends ?? trunkFormat, recordedSeconds: 300, seed: seed &+ 2),
            source: trunkSource, remote: Self.bridgeAddress, at: now.advanced(milliseconds: 7))
        try bridge.openClient(
            clientFormat, keys: keys.map { SRTPKeys(send: $0.1, receive: $0.0) }, remote: Self.clientAddress, at: now)
        bridge.setTrunk(trunkFormat, remote: Self.trunkAddress, at: now)
    }

    func run(milliseconds: Int) {
        for _ in 0..<milliseconds / 2 { step() }
    }

    func step() {
        now = now.advanced(milliseconds: 2)
        clientClock += 2_000_000 * (1 + clientDriftPPM / 1e6)
        deliver()
        let clientNow = MediaTime(nanoseconds: Int64(clientClock))
        if client.nextDeadline <= clientNow { client.tick(at: clientNow) }
        if trunk.nextDeadline <= now { trunk.tick(at: now) }
        if bridge.nextDeadline <= now { bridge.tick(at: now) }
        collect()
    }

    func send(_ bytes: [UInt8], to destination: Destination, from source: SocketAddress, delay: Double = 0) {
        flights.append(
            Flight(
                arrival: now.nanoseconds + Int64(delay * 1e6), destination: destination, bytes: bytes, source: source))
    }

    private func deliver() {
        let due = flights.filter { $0.arrival <= now.nanoseconds }.sorted { $0.arrival < $1.arrival }
        flights.removeAll { $0.arrival <= now.nanoseconds }
        for flight in due {
            var bytes = flight.bytes
            let length = bytes.count
            bytes += [UInt8](repeating: 0, count: 32)
            switch flight.destination {
            case .client:
                var span = bytes.mutableSpan
                client.receive(&span, length: length, from: flight.source, at: MediaTime(nanoseconds: Int64(clientClock)))
            case .trunk:
                var span = bytes.mutableSpan
                trunk.receive(&span, length: length, from: flight.source, at: now)
            case .bridgeFromClient:
                arrivalsAtBridge.append(now.nanoseconds)
                var span = bytes.mutableSpan
                bridge.receiveFromClient(&span, length: length, from: flight.source, at: now)
            case .bridgeFromTrunk:
                bridge.receiveFromTrunk(bytes.span.extracting(0..<length), from: flight.source, at: now)
            }
            collect()
        }
    }

    private func collect() {
        client.outbox.drain { _, bytes in
            launch(Array(copying: bytes), .bridgeFromClient, from: Self.clientAddress, clientToBridge)
        }
        trunk.outbox.drain { kind, bytes in
            let source = kind == .trunkRTCP ? Self.reportAddress : Self.trunkAddress
            launch(Array(copying: bytes), .bridgeFromTrunk, from: source, trunkToBridge)
        }
        bridge.outbox.drain { kind, bytes in
            let copy = Array(copying: bytes)
            switch kind {
            case .client:
                sentToClient.append((now.nanoseconds, copy))
                launch(copy, .client, from: Self.bridgeAddress, bridgeToClient)
            case .trunkRTP:
                sentToTrunk.append((now.nanoseconds, copy))
                launch(copy, .trunk, from: Self.bridgeAddress, bridgeToTrunk)
            case .trunkRTCP:
                launch(copy, .trunk, from: Self.bridgeAddress.with(port: Self.bridgeAddress.port + 1), bridgeToTrunk)
            }
        }
    }

    private func launch(_ bytes: [UInt8], _ destination: Destination, from source: SocketAddress, _ network: Network) {
        guard admit(destination, bytes), random.unit() >= network.loss else { return }
        var delay = network.delayMilliseconds
        if network.meanJitter > 0 { delay += -network.meanJitter * logarithm(max(1e-9, random.unit())) }
        send(bytes, to: destination, from: source, delay: delay)
        if network.duplicates > 0, random.unit() < network.duplicates {
            send(bytes, to: destination, from: source, delay: delay + 3)
        }
    }
}

extension Array where Element == UInt8 {
    init(copying span: Span<UInt8>) {
        self = []
        reserveCapacity(span.count)
        for index in span.indices { append(span[index]) }
    }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif
func logarithm(_ value: Double) -> Double { log(value) }

/// Listens to samples at 8 kHz.
struct Ear {
    let samples: [Int16]
    init(_ samples: [Int16]) { self.samples = samples }

    /// Level in dBFS of one frequency (Goertzel), over the range.
    func level(of frequency: Double, in range: Range<Int>? = nil) -> Double {
        let part = samples[(range ?? 0..<samples.count).clamped(to: 0..<samples.count)]
        guard part.count > 100 else { return -127 }
        let step = 2 * cos(2 * Double.pi * frequency / 8000)
        var one = 0.0
        var two = 0.0
        for sample in part {
            let value = Double(sample) + step * one - two
            two = one
            one = value
        }
        let power = one * one + two * two - step * one * two
        let amplitude = 2 * power.squareRoot() / Double(part.count)
        return max(-127, 20 * log10(max(1e-9, amplitude / 32768 / 2.0.squareRoot())))
    }

    /// Level in dBFS of everything, over the range.
    func level(in range: Range<Int>? = nil) -> Double {
        let part = Array(samples[(range ?? 0..<samples.count).clamped(to: 0..<samples.count)])
        return AudioLevel(part.span).rms
    }

    /// How many stretches of 10 ms are quieter than `threshold`.
    func gaps(below threshold: Double, in range: Range<Int>? = nil) -> Int {
        let range = (range ?? 0..<samples.count).clamped(to: 0..<samples.count)
        var count = 0
        var start = range.lowerBound
        while start + 80 <= range.upperBound {
            if level(in: start..<start + 80) < threshold { count += 1 }
            start += 80
        }
        return count
    }
}
