/// What an Opus packet says of itself in its first byte (RFC 6716, 3.1), read without decoding.
public struct OpusPacket: Sendable, Hashable {
    /// Duration of one frame, in samples at 48 kHz.
    public let frameDuration: Int
    /// Frames in the packet, 1 to 48.
    public let frameCount: Int
    /// Channels the packet was coded with, 1 or 2.
    public let channels: Int
    /// Whether the packet says nothing but silence: a TOC byte with an empty frame, or two (case H21).
    public let isSilence: Bool

    /// Duration of the whole packet, in samples at 48 kHz; at most 5 760 (120 ms).
    public var duration: Int { frameDuration * frameCount }

    /// - Returns: nil for an empty payload, or one that breaks the rules of RFC 6716, 3.4.
    public init?(_ payload: Span<UInt8>) {
        guard !payload.isEmpty else { return nil }
        let toc = payload[0]
        let configuration = Int(toc >> 3)
        switch configuration {
        case 0..<12: frameDuration = (configuration & 3) == 3 ? 2880 : 480 << (configuration & 3)  // SILK
        case 12..<16: frameDuration = (configuration & 1) == 0 ? 480 : 960  // hybrid
        default: frameDuration = 120 << (configuration & 3)  // CELT
        }
        channels = (toc & 4) == 0 ? 1 : 2
        let code = toc & 3
        switch code {
        case 0: frameCount = 1
        case 1, 2: frameCount = 2
        default:
            guard payload.count >= 2 else { return nil }
            frameCount = Int(payload[1] & 63)
            guard frameCount > 0 else { return nil }
        }
        guard frameDuration * frameCount <= 5760 else { return nil }
        if code == 2, payload.count < 2 { return nil }
        isSilence = (code < 2 && payload.count == 1) || (code == 2 && payload.count == 2)
    }
}
