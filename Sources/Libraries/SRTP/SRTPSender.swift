internal import CSRTP

/// Protects what one side sends, packets of any SSRC (RFC 3711, RFC 7714).
///
/// - Threads: one at a time; it may move between threads. No call allocates, except the first of a new SSRC.
public struct SRTPSender: ~Copyable, Sendable {
    private let context: SRTPContext
    private let rtpOverhead: Int
    private let rtcpOverhead: Int

    /// - Parameters:
    ///   - keys: this side's sending key.
    ///   - replayWindow: how far behind the newest sequence number a packet may still be sent, in packets.
    public init(_ keys: SRTPKeyMaterial, replayWindow: Int = 128) throws(SRTPError) {
        context = try SRTPContext(keys, isOutbound: true, replayWindow: replayWindow)
        rtpOverhead = keys.profile.rtpOverhead
        rtcpOverhead = keys.profile.rtcpOverhead
    }

    /// Protects the RTP packet in the first `length` bytes of `buffer`, in place.
    ///
    /// - Returns: the new length, `profile.rtpOverhead` more.
    public mutating func protectRTP(_ buffer: inout MutableSpan<UInt8>, length: Int) throws(SRTPError) -> Int {
        try buffer.withUnsafeMutableBytes { bytes throws(SRTPError) in try protectRTP(bytes, length: length) }
    }

    /// The same in a raw buffer, aligned to 4 bytes.
    public mutating func protectRTP(_ buffer: UnsafeMutableRawBufferPointer, length: Int) throws(SRTPError) -> Int {
        guard length >= 12 else { throw SRTPError(.malformed) }
        guard buffer.count - length >= rtpOverhead else { throw SRTPError(.noRoom) }
        var count = Int32(truncatingIfNeeded: length)
        try SRTPError.check(srtp_protect(context.handle, buffer.baseAddress, &count))
        return Int(count)
    }

    /// Protects the (compound) RTCP packet in the first `length` bytes of `buffer`, in place.
    ///
    /// - Returns: the new length, `profile.rtcpOverhead` more.
    public mutating func protectRTCP(_ buffer: inout MutableSpan<UInt8>, length: Int) throws(SRTPError) -> Int {
        try buffer.withUnsafeMutableBytes { bytes throws(SRTPError) in try protectRTCP(bytes, length: length) }
    }

    /// The same in a raw buffer, aligned to 4 bytes.
    public mutating func protectRTCP(_ buffer: UnsafeMutableRawBufferPointer, length: Int) throws(SRTPError) -> Int {
        guard length >= 8 else { throw SRTPError(.malformed) }
        guard buffer.count - length >= rtcpOverhead else { throw SRTPError(.noRoom) }
        var count = Int32(truncatingIfNeeded: length)
        try SRTPError.check(srtp_protect_rtcp(context.handle, buffer.baseAddress, &count))
        return Int(count)
    }
}
