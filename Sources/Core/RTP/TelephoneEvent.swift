/// The payload of a named telephone event: four bytes (RFC 4733 2.3).
public struct TelephoneEvent: Hashable, Sendable {
    /// The event code; 0...16 are keys.
    public var event: UInt8
    /// Whether the event has ended, with `duration` as its final length.
    public var isEnd: Bool
    /// The tone's level as a drop below 0 dBm0, in dB: 0...63.
    public var volume: UInt8
    /// How long the event has lasted since the packet's timestamp, in clock units.
    public var duration: UInt16

    /// The length on the wire, in bytes.
    public static let length = 4

    /// An event to be sent.
    public init(event: UInt8, isEnd: Bool, volume: UInt8 = 10, duration: UInt16) {
        self.event = event
        self.isEnd = isEnd
        self.volume = min(volume, 63)
        self.duration = duration
    }

    /// Reads a payload; nil if it is shorter than four bytes. More bytes than four are left unread.
    public static func parse(_ payload: Span<UInt8>) -> TelephoneEvent? { parse(payload, at: 0) }

    /// Reads the payload that begins at `offset` of a datagram and runs to its end; nil if fewer than four bytes are left.
    public static func parse(_ datagram: Span<UInt8>, at offset: Int) -> TelephoneEvent? {
        guard offset >= 0, offset <= datagram.count - length else { return nil }
        return TelephoneEvent(
            event: datagram[offset], isEnd: datagram[offset + 1] & 0x80 != 0, volume: datagram[offset + 1] & 0x3F,
            duration: datagram.uint16(at: offset + 2))
    }

    /// Writes the four bytes at `offset`; the reserved bit is 0.
    public func write(into datagram: inout MutableSpan<UInt8>, at offset: Int = 0) throws(RTPWriteError) {
        guard offset >= 0, offset <= datagram.count - Self.length else {
            throw .noRoom(needed: offset + Self.length, available: datagram.count)
        }
        datagram[offset] = event
        datagram[offset + 1] = (isEnd ? 0x80 : 0) | volume & 0x3F
        datagram.write(duration, at: offset + 2)
    }
}
