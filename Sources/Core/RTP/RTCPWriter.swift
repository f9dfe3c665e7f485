/// What a sender tells of its own stream in an SR (RFC 3550 6.4.1).
public struct SenderInfo: Hashable, Sendable {
    /// The wall clock time of the report.
    public var ntp: NTPTimestamp
    /// The same instant on the stream's own line.
    public var rtpTimestamp: RTPTimestamp
    /// Packets sent since the stream began, wrapping.
    public var packetCount: UInt32
    /// Payload bytes sent since the stream began, wrapping.
    public var octetCount: UInt32

    /// The sender's part of a report.
    public init(ntp: NTPTimestamp, rtpTimestamp: RTPTimestamp, packetCount: UInt32, octetCount: UInt32) {
        self.ntp = ntp
        self.rtpTimestamp = rtpTimestamp
        self.packetCount = packetCount
        self.octetCount = octetCount
    }
}

/// Writes one compound RTCP packet: SR or RR first, SDES CNAME always, BYE last (RFC 3550 6.1).
public enum RTCPWriter {
    /// The most that `write` needs, in bytes, one report block and a BYE included. SRTCP adds its own trailer.
    public static let maximumLength = 28 + ReportBlock.length + sdesLength + 8

    /// Writes a compound packet to the start of `datagram`.
    ///
    /// - Parameters:
    ///   - ssrc: our own source.
    ///   - sender: what to tell of our stream if packets went out since the last report; nil makes it an RR.
    ///   - block: what to tell of the peer's stream; nil if none came.
    ///   - saysGoodbye: whether our source ends with this packet.
    /// - Returns: the packet's length in bytes.
    public static func write(
        ssrc: SSRC, sender: SenderInfo?, block: ReportBlock?, cname: CanonicalName, saysGoodbye: Bool = false,
        into datagram: inout MutableSpan<UInt8>
    ) throws(RTPWriteError) -> Int {
        let reportLength = 8 + (sender == nil ? 0 : 20) + (block == nil ? 0 : ReportBlock.length)
        let length = reportLength + sdesLength + (saysGoodbye ? 8 : 0)
        guard datagram.count >= length else { throw .noRoom(needed: length, available: datagram.count) }
        writeHeader(
            count: block == nil ? 0 : 1, type: sender == nil ? .receiverReport : .senderReport, length: reportLength,
            ssrc: ssrc, into: &datagram, at: 0)
        var offset = 8
        if let sender {
            datagram.write(sender.ntp.seconds, at: offset)
            datagram.write(sender.ntp.fraction, at: offset + 4)
            datagram.write(sender.rtpTimestamp.rawValue, at: offset + 8)
            datagram.write(sender.packetCount, at: offset + 12)
            datagram.write(sender.octetCount, at: offset + 16)
            offset += 20
        }
        if let block {
            block.write(into: &datagram, at: offset)
            offset += ReportBlock.length
        }
        writeDescription(ssrc: ssrc, cname: cname, into: &datagram, at: offset)
        offset += sdesLength
        if saysGoodbye {
            writeHeader(count: 1, type: .goodbye, length: 8, ssrc: ssrc, into: &datagram, at: offset)
            offset += 8
        }
        return offset
    }

    // Header and SSRC 8, item 2 + 16, the list's end and fill to a multiple of four: 2.
    private static let sdesLength = 8 + 2 + CanonicalName.length + 2

    private static func writeDescription(
        ssrc: SSRC, cname: CanonicalName, into datagram: inout MutableSpan<UInt8>, at offset: Int
    ) {
        writeHeader(count: 1, type: .sourceDescription, length: sdesLength, ssrc: ssrc, into: &datagram, at: offset)
        datagram[offset + 8] = 1
        datagram[offset + 9] = UInt8(CanonicalName.length)
        for index in 0..<CanonicalName.length { datagram[offset + 10 + index] = cname.character(at: index) }
        datagram[offset + 10 + CanonicalName.length] = 0
        datagram[offset + 11 + CanonicalName.length] = 0
    }

    private static func writeHeader(
        count: UInt8, type: RTCPPacketType, length: Int, ssrc: SSRC, into datagram: inout MutableSpan<UInt8>, at offset: Int
    ) {
        datagram[offset] = 0x80 | count
        datagram[offset + 1] = type.rawValue
        datagram.write(UInt16(length / 4 - 1), at: offset + 2)
        datagram.write(ssrc.rawValue, at: offset + 4)
    }
}

enum RTCPPacketType: UInt8 {
    case senderReport = 200
    case receiverReport = 201
    case sourceDescription = 202
    case goodbye = 203
}
