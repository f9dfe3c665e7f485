import Audio
import Opus
import RTP
import SRTP

struct KeyPair {
    var client: SRTPKeys
    var bridge: SRTPKeys
}

func benchmarkKeys(_ number: Int) throws -> KeyPair {
    func material(_ start: Int) throws -> SRTPKeyMaterial {
        try SRTPKeyMaterial(
            profile: .aeadAes128Gcm, key: (0..<16).map { UInt8(truncatingIfNeeded: start + $0 + number) },
            salt: (0..<12).map { UInt8(truncatingIfNeeded: start + $0) })
    }
    let one = try material(1)
    let other = try material(101)
    return KeyPair(client: SRTPKeys(send: one, receive: other), bridge: SRTPKeys(send: other, receive: one))
}

/// Payloads of speech, encoded once, round and round.
struct PacketLoop {
    var payloads: [[UInt8]]

    static func law(_ speech: [Int16]) -> PacketLoop {
        PacketLoop(
            payloads: stride(from: 0, to: speech.count - 160, by: 160).map { start in
                speech[start..<start + 160].map { G711Law.mu.encode($0) }
            })
    }

    static func opus(_ speech: [Int16]) throws -> PacketLoop {
        // As a browser sends it: 48 kHz wide, 32 kbit/s. The sound is telephone speech, so 8 kHz input is what there is.
        var encoder = try OpusEncoder(
            sampleRate: 8000, settings: OpusEncoderSettings(complexity: 9, bitrate: 32_000, expectedLossPercent: 5))
        var payloads: [[UInt8]] = []
        var packet = [UInt8](repeating: 0, count: 1275)
        for start in stride(from: 0, to: speech.count - 160, by: 160) {
            var span = packet.mutableSpan
            let length = try encoder.encode(speech.span.extracting(start..<start + 160), into: &span)
            payloads.append(Array(packet[0..<length]))
        }
        return PacketLoop(payloads: payloads)
    }

    func write(
        index: Int, type: UInt8, sequence: Int, timestamp: Int, ssrc: UInt32, into buffer: inout [UInt8]
    ) -> Int {
        let payload = payloads[index % payloads.count]
        let header = RTPHeader(
            payloadType: PayloadType(type), sequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: sequence)),
            timestamp: RTPTimestamp(UInt32(truncatingIfNeeded: timestamp)), ssrc: SSRC(ssrc))
        var span = buffer.mutableSpan
        do { return try RTPWriter.write(header, payload: payload.span, into: &span) } catch { return 0 }
    }
}

/// A client's protected stream.
final class ClientStream {
    private var sealer: SRTPSender?

    init(keys: SRTPKeyMaterial?) throws { sealer = try keys.map { try SRTPSender($0) } }

    func write(_ packets: PacketLoop, index: Int, sequence: Int, into buffer: inout [UInt8]) -> Int {
        let length = packets.write(
            index: index, type: 111, sequence: sequence, timestamp: sequence * 960, ssrc: 11, into: &buffer)
        var span = buffer.mutableSpan
        do { return try sealer?.protectRTP(&span, length: length) ?? length } catch { return 0 }
    }
}
