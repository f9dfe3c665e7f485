/// The header of an RTP packet, and where in its datagram the payload lies (RFC 3550 5.1).
///
/// A plain value: reading one allocates nothing. Contributing sources and the header extension are skipped by their length;
/// their places are kept for whoever wants them.
public struct RTPHeader: Hashable, Sendable {
    /// The profile's flag: with audio, the first packet after silence.
    public var marker: Bool
    /// The codec of the payload.
    public var payloadType: PayloadType
    /// The packet's place in its stream.
    public var sequenceNumber: SequenceNumber
    /// The sampling instant of the payload's first sample.
    public var timestamp: RTPTimestamp
    /// The stream's source.
    public var ssrc: SSRC
    /// How many contributing sources are listed: 0...15. They lie from byte 12 on, four bytes each.
    public private(set) var contributorCount = 0
    /// The extension's profile-defined number, or nil if the packet carries no header extension.
    public private(set) var extensionProfile: UInt16?
    /// The bytes of the extension's content; empty if there is none.
    public private(set) var extensionRange: Range<Int>
    /// The bytes of the payload in the datagram, padding taken off. May be empty.
    public private(set) var payloadRange: Range<Int>

    /// The length of a header without contributing sources and extension, in bytes: the only kind we send.
    public static let fixedLength = 12

    /// A header to be sent.
    public init(
        marker: Bool = false, payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, ssrc: SSRC
    ) {
        self.marker = marker
        self.payloadType = payloadType
        self.sequenceNumber = sequenceNumber
        self.timestamp = timestamp
        self.ssrc = ssrc
        extensionRange = Self.fixedLength..<Self.fixedLength
        payloadRange = Self.fixedLength..<Self.fixedLength
    }

    /// Reads the header of a whole datagram; every length is checked against the datagram's (RFC 3550 A.1).
    public static func parse(_ datagram: Span<UInt8>) throws(RTPParseError) -> RTPHeader {
        let length = datagram.count
        guard length >= fixedLength else { throw .tooShort(length: length) }
        let first = datagram[0]
        guard first >> 6 == 2 else { throw .badVersion(first >> 6) }
        var header = RTPHeader(
            marker: datagram[1] & 0x80 != 0, payloadType: PayloadType(datagram[1]),
            sequenceNumber: SequenceNumber(datagram.uint16(at: 2)), timestamp: RTPTimestamp(datagram.uint32(at: 4)),
            ssrc: SSRC(datagram.uint32(at: 8)))
        header.contributorCount = Int(first & 0x0F)
        var start = fixedLength + 4 * header.contributorCount
        guard start <= length else { throw .contributorsOverrun(needed: start, length: length) }
        header.extensionRange = start..<start
        if first & 0x10 != 0 {
            guard start + 4 <= length else { throw .extensionOverrun(needed: start + 4, length: length) }
            header.extensionProfile = datagram.uint16(at: start)
            let end = start + 4 + 4 * Int(datagram.uint16(at: start + 2))
            guard end <= length else { throw .extensionOverrun(needed: end, length: length) }
            header.extensionRange = start + 4..<end
            start = end
        }
        var end = length
        if first & 0x20 != 0 {
            let count = Int(datagram[length - 1])
            guard count > 0, count <= length - start else { throw .badPadding(count: count, available: length - start) }
            end -= count
        }
        header.payloadRange = start..<end
        return header
    }
}
