internal import CSRTP

/// Opens what the other side sends, packets of any SSRC: authentication and replay are checked before anything is believed
/// (RFC 3711 section 3.3). A packet that fails leaves no trace, the roll-over estimate included.
///
/// - Threads: one at a time; it may move between threads. No call allocates, except the first good packet of a new SSRC.
public struct SRTPReceiver: ~Copyable, Sendable {
    private let context: SRTPContext

    /// - Parameters:
    ///   - keys: the other side's sending key.
    ///   - replayWindow: how far behind the newest a late packet may come, in packets; at least 64.
    public init(_ keys: SRTPKeyMaterial, replayWindow: Int = 256) throws(SRTPError) {
        context = try SRTPContext(keys, isOutbound: false, replayWindow: replayWindow)
    }

    /// Opens the SRTP packet in the first `length` bytes of `buffer`, in place.
    ///
    /// - Returns: the length of the RTP packet.
    public mutating func unprotectRTP(_ buffer: inout MutableSpan<UInt8>, length: Int) throws(SRTPError) -> Int {
        try buffer.withUnsafeMutableBytes { bytes throws(SRTPError) in try unprotectRTP(bytes, length: length) }
    }

    /// The same in a raw buffer, aligned to 4 bytes.
    public mutating func unprotectRTP(_ buffer: UnsafeMutableRawBufferPointer, length: Int) throws(SRTPError) -> Int {
        guard length >= 12, length <= buffer.count else { throw SRTPError(.malformed) }
        var count = Int32(truncatingIfNeeded: length)
        try SRTPError.check(srtp_unprotect(context.handle, buffer.baseAddress, &count))
        return Int(count)
    }

    /// Opens the SRTCP packet in the first `length` bytes of `buffer`, in place.
    ///
    /// - Returns: the length of the compound RTCP packet.
    public mutating func unprotectRTCP(_ buffer: inout MutableSpan<UInt8>, length: Int) throws(SRTPError) -> Int {
        try buffer.withUnsafeMutableBytes { bytes throws(SRTPError) in try unprotectRTCP(bytes, length: length) }
    }

    /// The same in a raw buffer, aligned to 4 bytes.
    public mutating func unprotectRTCP(_ buffer: UnsafeMutableRawBufferPointer, length: Int) throws(SRTPError) -> Int {
        guard length >= 8, length <= buffer.count else { throw SRTPError(.malformed) }
        var count = Int32(truncatingIfNeeded: length)
        try SRTPError.check(srtp_unprotect_rtcp(context.handle, buffer.baseAddress, &count))
        return Int(count)
    }
}
