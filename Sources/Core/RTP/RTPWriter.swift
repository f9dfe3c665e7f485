/// Writes RTP headers and packets into storage that the caller keeps.
public enum RTPWriter {
    /// Writes the 12 bytes of `header` to the start of `datagram`; the payload goes behind them.
    ///
    /// Contributing sources, an extension and padding that a parsed header tells of are not written.
    /// - Returns: the number of bytes written, 12.
    @discardableResult
    public static func write(_ header: RTPHeader, into datagram: inout MutableSpan<UInt8>) throws(RTPWriteError) -> Int {
        guard datagram.count >= RTPHeader.fixedLength else {
            throw .noRoom(needed: RTPHeader.fixedLength, available: datagram.count)
        }
        datagram[0] = 0x80
        datagram[1] = (header.marker ? 0x80 : 0) | header.payloadType.rawValue
        datagram.write(header.sequenceNumber.rawValue, at: 2)
        datagram.write(header.timestamp.rawValue, at: 4)
        datagram.write(header.ssrc.rawValue, at: 8)
        return RTPHeader.fixedLength
    }

    /// Writes a header and its payload.
    /// - Returns: the length of the packet in bytes.
    public static func write(
        _ header: RTPHeader, payload: Span<UInt8>, into datagram: inout MutableSpan<UInt8>
    ) throws(RTPWriteError) -> Int {
        let length = RTPHeader.fixedLength + payload.count
        guard datagram.count >= length else { throw .noRoom(needed: length, available: datagram.count) }
        try write(header, into: &datagram)
        for index in payload.indices { datagram[RTPHeader.fixedLength + index] = payload[index] }
        return length
    }
}
