import SRTP

/// Bytes from hex.
func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
        UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16)
    }
}

/// A plain RTP packet with a payload of 20 counted bytes.
func packet(sequence: UInt16, ssrc: UInt32 = 0xCAFE_BABE, timestamp: UInt32 = 123_456) -> [UInt8] {
    var packet: [UInt8] = [0x80, 0x00, UInt8(sequence >> 8), UInt8(sequence & 0xFF)]
    for word in [timestamp, ssrc] { packet += (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    return packet + (0..<20).map { UInt8($0) }
}

func material(_ profile: SRTPProfile, seed: UInt8 = 0) throws -> SRTPKeyMaterial {
    try SRTPKeyMaterial(
        profile: profile, key: (0..<profile.keyLength).map { UInt8($0) &+ seed },
        salt: (0..<profile.saltLength).map { 0xA0 &+ UInt8($0) &+ seed })
}

/// A sender that copies in and out, for tests. A class, because a test's expectations cannot capture a noncopyable value.
final class Sender {
    private var sender: SRTPSender

    init(_ keys: SRTPKeyMaterial) throws(SRTPError) { sender = try SRTPSender(keys) }

    func rtp(_ plain: [UInt8]) throws(SRTPError) -> [UInt8] {
        var buffer = plain + [UInt8](repeating: 0, count: SRTPProfile.maximumOverhead)
        var span = buffer.mutableSpan
        let count = try sender.protectRTP(&span, length: plain.count)
        return Array(buffer[..<count])
    }

    func rtcp(_ plain: [UInt8]) throws(SRTPError) -> [UInt8] {
        var buffer = plain + [UInt8](repeating: 0, count: SRTPProfile.maximumOverhead)
        var span = buffer.mutableSpan
        let count = try sender.protectRTCP(&span, length: plain.count)
        return Array(buffer[..<count])
    }
}

/// A receiver that copies in and out.
final class Receiver {
    private var receiver: SRTPReceiver

    init(_ keys: SRTPKeyMaterial) throws(SRTPError) { receiver = try SRTPReceiver(keys) }

    func rtp(_ secured: [UInt8]) throws(SRTPError) -> [UInt8] {
        var buffer = secured
        var span = buffer.mutableSpan
        let count = try receiver.unprotectRTP(&span, length: secured.count)
        return Array(buffer[..<count])
    }

    func rtcp(_ secured: [UInt8]) throws(SRTPError) -> [UInt8] {
        var buffer = secured
        var span = buffer.mutableSpan
        let count = try receiver.unprotectRTCP(&span, length: secured.count)
        return Array(buffer[..<count])
    }

    /// Why a packet was refused, nil if it was not.
    func refusal(_ secured: [UInt8]) -> SRTPError.Reason? {
        do throws(SRTPError) {
            _ = try rtp(secured)
            return nil
        } catch { return error.reason }
    }
}
