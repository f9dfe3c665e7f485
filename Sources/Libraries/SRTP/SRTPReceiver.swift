internal import CSRTP

/// Opens what the other side sends, packets of any SSRC: authentication and replay are checked before anything is believed
/// (RFC 3711 section 3.3). A packet that fails leaves no trace, the roll-over estimate included.
///
/// - Threads: one at a time; it may move between threads. No call allocates, except the first good packet of a new SSRC.
public struct SRTPReceiver: ~Copyable, Sendable {
    /// How many SSRCs one peer may use. Each costs the library memory and time for as long as the context lives, so a peer that
    /// names ever new ones must meet an end.
    public static let maximumSources = 32

    private let context: SRTPContext
    private var sources: [UInt32] = []

    /// - Parameters:
    ///   - keys: the other side's sending key.
    ///   - replayWindow: how far behind the newest a late packet may come, in packets; at least 64.
    public init(_ keys: SRTPKeyMaterial, replayWindow: Int = 256) throws(SRTPError) {
        context = try SRTPContext(keys, isOutbound: false, replayWindow: replayWindow)
        sources.reserveCapacity(Self.maximumSources)
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
        let source = try admitted(UnsafeRawBufferPointer(buffer), at: 8)
        var count = Int32(truncatingIfNeeded: length)
        try SRTPError.check(srtp_unprotect(context.handle, buffer.baseAddress, &count))
        remember(source)
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
        let source = try admitted(UnsafeRawBufferPointer(buffer), at: 4)
        var count = Int32(truncatingIfNeeded: length)
        try SRTPError.check(srtp_unprotect_rtcp(context.handle, buffer.baseAddress, &count))
        remember(source)
        return Int(count)
    }

    /// The SSRC of a packet, as it stands there, if it is known or there is room for another.
    private func admitted(_ packet: UnsafeRawBufferPointer, at offset: Int) throws(SRTPError) -> UInt32 {
        let source = packet.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        guard sources.count < Self.maximumSources || sources.contains(source) else { throw SRTPError(.tooManySources) }
        return source
    }

    /// Called for packets that have passed: a forged one takes no place.
    private mutating func remember(_ source: UInt32) {
        if !sources.contains(source) { sources.append(source) }
    }
}
