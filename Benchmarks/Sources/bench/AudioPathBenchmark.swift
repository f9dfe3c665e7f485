import AllocationCounter
import Audio
import Foundation
import MediaGraph
import Opus
import RTP
import SRTP
import Sockets

/// N bridges in one process without a network: each gets a client packet and a trunk packet every 20 ms of virtual time. The
/// bare codec calls on the same sound, at the same settings, are measured in the same run, in turns of one second.
struct AudioPathBenchmark {
    let options: Options
    private let client = SocketAddress(192, 0, 2, 1, port: 5000)
    private let trunk = SocketAddress(192, 0, 2, 3, port: 7000)

    func run() throws -> AudioPathResult {
        let speech = try loadSpeech()
        let fleet = try Fleet(options: options, speech: speech, client: client, trunk: trunk)
        var floor = try CodecFloor(options: options, speech: speech)
        var result = AudioPathResult(options: options)
        // The first second warms caches, jitter buffers and SRTP streams.
        fleet.run(packets: 50)
        floor.run(packets: 50)
        fleet.allocations = 0
        fleet.traces = Int64(options.traces)
        for _ in 0..<options.seconds {
            result.bridge += fleet.run(packets: 50)
            let costs = floor.run(packets: 50)
            result.codecs += costs.codecs
            result.srtp += costs.srtp
        }
        let packets = Double(options.seconds * 50 * options.bridges)
        result.bridge /= packets
        let floorPackets = Double(options.seconds * 50 * floor.copies)
        result.codecs /= floorPackets
        result.srtp /= floorPackets
        result.allocationsPerPacket = Double(fleet.allocations) / (packets * 2)
        result.heard = fleet.heardPackets
        return result
    }

    private func loadSpeech() throws -> [Int16] {
        if let data = FileManager.default.contents(atPath: options.speech) {
            return try WAVFile(bytes: [UInt8](data)).samples
        }
        var tone = ToneGenerator(rate: .telephone, frequency: 440, level: -15)
        return tone.samples(8000 * 5)
    }
}

/// The bridges, and packets made beforehand: what makes them is not measured.
final class Fleet {
    var allocations: UInt64 = 0
    /// Allocations of the next packet to show the origin of.
    var traces: Int64 = 0
    private(set) var heardPackets = 0
    private var bridges: [Bridge] = []
    private var now = MediaTime(nanoseconds: 10_000_000_000)
    private var index = 0
    private let clientPackets: PacketLoop
    private let trunkPackets: PacketLoop
    private var senders: [ClientStream] = []
    private let client: SocketAddress
    private let trunk: SocketAddress
    private var buffer = [UInt8](repeating: 0, count: 2048)
    private var outgoing = [UInt8](repeating: 0, count: 2048)

    init(options: Options, speech: [Int16], client: SocketAddress, trunk: SocketAddress) throws {
        self.client = client
        self.trunk = trunk
        clientPackets = try PacketLoop.opus(speech)
        trunkPackets = PacketLoop.law(speech)
        let configuration = BridgeConfiguration(resampler: options.resampler)
        for number in 0..<options.bridges {
            let bridge = try Bridge(configuration: configuration)
            let keys = options.isPlain ? nil : try benchmarkKeys(number)
            try bridge.openClient(.opus(), keys: keys?.bridge, remote: client, at: now)
            bridge.setTrunk(.g711(), remote: trunk, at: now)
            bridges.append(bridge)
            senders.append(try ClientStream(keys: keys?.client.send))
        }
    }

    /// - Returns: CPU nanoseconds spent in the bridges.
    @discardableResult
    func run(packets: Int) -> Double {
        var spent: Int64 = 0
        for _ in 0..<packets {
            for number in bridges.indices {
                // The peer's own work is outside the clock.
                let length = senders[number].write(clientPackets, index: index + number * 7, sequence: index, into: &buffer)
                let trunkLength = trunkPackets.write(
                    index: index + number * 13, type: 0, sequence: index, timestamp: index * 160, ssrc: 22, into: &outgoing)
                let before = allocation_count()
                if traces > 0 { allocation_trace(traces) }
                let start = thread_cpu_nanoseconds()
                work(on: bridges[number], clientLength: length, trunkLength: trunkLength)
                spent += thread_cpu_nanoseconds() - start
                if traces > 0 {
                    allocation_trace(0)
                    traces = 0
                }
                allocations += allocation_count() - before
            }
            now = now.advanced(milliseconds: 20)
            index += 1
        }
        return Double(spent)
    }

    private func work(on bridge: Bridge, clientLength: Int, trunkLength: Int) {
        var span = buffer.mutableSpan
        bridge.receiveFromClient(&span, length: clientLength, from: client, at: now)
        bridge.receiveFromTrunk(outgoing.span.extracting(0..<trunkLength), from: trunk, at: now)
        let then = now.advanced(milliseconds: 4)
        if bridge.nextDeadline <= then { bridge.tick(at: then) }
        bridge.outbox.drain { kind, _ in if kind != .trunkRTCP { heardPackets += 1 } }
    }
}
