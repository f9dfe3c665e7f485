/// What a datagram on a media port is, told by its first two bytes (RFC 7983, RFC 5761 4).
public enum PacketKind: Hashable, Sendable {
    /// First byte 0...3: connectivity and consent checks.
    case stun
    /// First byte 16...19.
    case zrtp
    /// First byte 20...63: handshake records.
    case dtls
    /// First byte 64...79: a TURN channel's data.
    case turnChannel
    /// First byte 128...191, and not RTCP.
    case rtp
    /// First byte 128...191 and second byte 192...223.
    case rtcp
    /// Anything else, an empty datagram and a lone first byte of RTP included. Drop and count it.
    case unknown

    /// Sorts a datagram.
    public static func classify(_ datagram: Span<UInt8>) -> PacketKind {
        guard datagram.count > 0 else { return .unknown }
        return classify(firstByte: datagram[0], secondByte: datagram.count > 1 ? datagram[1] : nil)
    }

    /// Sorts a datagram by its first two bytes.
    public static func classify(firstByte: UInt8, secondByte: UInt8?) -> PacketKind {
        switch firstByte {
        case 0...3: return .stun
        case 16...19: return .zrtp
        case 20...63: return .dtls
        case 64...79: return .turnChannel
        case 128...191:
            guard let secondByte else { return .unknown }
            return (192...223).contains(secondByte) ? .rtcp : .rtp
        default: return .unknown
        }
    }
}
