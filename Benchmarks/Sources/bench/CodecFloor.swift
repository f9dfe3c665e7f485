import AllocationCounter
import Audio
import Opus
import SRTP

/// The bare library calls that one call needs every 20 ms, at the bridge's own settings, with nothing around them: Opus decode and
/// encode at 8 kHz, G.711 both ways, SRTP opened and sealed.
struct CodecFloor {
    struct Costs {
        var codecs: Double
        var srtp: Double
    }

    let copies: Int
    private var legs: [Leg]
    private let opus: PacketLoop
    private let law: PacketLoop
    private var index = 0

    final class Leg {
        var encoder: OpusEncoder
        var decoder: OpusDecoder
        var peerSealer: SRTPSender
        var opener: SRTPReceiver
        var sealer: SRTPSender
        // A plain buffer: a span into a class's array lives no longer than one access.
        let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 960)
        var bytes = [UInt8](repeating: 0, count: 2048)
        var codes = [UInt8](repeating: 0, count: 160)

        init(_ number: Int) throws {
            samples.initialize(repeating: 0)
            encoder = try OpusEncoder(sampleRate: 8000)
            decoder = try OpusDecoder(sampleRate: 8000)
            let keys = try benchmarkKeys(number)
            peerSealer = try SRTPSender(keys.client.send)
            opener = try SRTPReceiver(keys.bridge.receive)
            sealer = try SRTPSender(keys.bridge.send)
        }

        deinit { samples.deallocate() }
    }

    init(options: Options, speech: [Int16]) throws {
        copies = options.bridges
        legs = try (0..<copies).map { try Leg($0) }
        opus = try PacketLoop.opus(speech)
        law = PacketLoop.law(speech)
    }

    @discardableResult
    mutating func run(packets: Int) -> Costs {
        var costs = Costs(codecs: 0, srtp: 0)
        for _ in 0..<packets {
            for number in legs.indices {
                let leg = legs[number]
                costs.srtp += openAndSeal(leg, number)
                costs.codecs += transcode(leg, number)
            }
            index += 1
        }
        return costs
    }

    private func transcode(_ leg: Leg, _ number: Int) -> Double {
        let packet = opus.payloads[(index + number * 7) % opus.payloads.count]
        let codes = law.payloads[(index + number * 13) % law.payloads.count]
        let buffer = leg.samples
        let start = thread_cpu_nanoseconds()
        do {
            var samples = buffer.mutableSpan
            _ = try leg.decoder.decode(packet.span, into: &samples)
            var out = leg.codes.mutableSpan
            G711Law.mu.encode(buffer.span.extracting(0..<160), into: &out)
            var back = buffer.mutableSpan
            G711Law.mu.decode(codes.span, into: &back)
            var bytes = leg.bytes.mutableSpan
            _ = try leg.encoder.encode(buffer.span.extracting(0..<160), into: &bytes)
        } catch {}
        return Double(thread_cpu_nanoseconds() - start)
    }

    private func openAndSeal(_ leg: Leg, _ number: Int) -> Double {
        var spent: Int64 = 0
        do {
            let length = opus.write(
                index: index + number * 7, type: 111, sequence: index, timestamp: index * 960, ssrc: 11, into: &leg.bytes)
            var span = leg.bytes.mutableSpan
            let sealed = try leg.peerSealer.protectRTP(&span, length: length)
            var start = thread_cpu_nanoseconds()
            _ = try leg.opener.unprotectRTP(&span, length: sealed)
            spent += thread_cpu_nanoseconds() - start
            let again = opus.write(
                index: index + number * 13, type: 111, sequence: index, timestamp: index * 960, ssrc: 33, into: &leg.bytes)
            var other = leg.bytes.mutableSpan
            start = thread_cpu_nanoseconds()
            _ = try leg.sealer.protectRTP(&other, length: again)
            spent += thread_cpu_nanoseconds() - start
        } catch {}
        return Double(spent)
    }
}
