/// What one receiver tells of one source in an SR or RR (RFC 3550 6.4.1).
public struct ReportBlock: Hashable, Sendable {
    /// The source reported on.
    public var ssrc: SSRC
    /// Share of packets lost since the last report, in 1/256.
    public var fractionLost: UInt8
    /// Packets lost since the start: -0x800000...0x7FFFFF, clamped; negative when duplicates came.
    public var cumulativeLost: Int32
    /// Low half: the highest sequence number received; high half: the count of wraps.
    public var extendedHighestSequence: UInt32
    /// Inter-arrival jitter in clock units.
    public var jitter: UInt32
    /// The middle 32 bits of the last SR's NTP time from that source; 0 if none came.
    public var lastSenderReport: UInt32
    /// Time from that SR's arrival to this report, in 1/65536 s; 0 if none came.
    public var delaySinceLastSenderReport: UInt32

    /// The length on the wire, in bytes.
    public static let length = 24

    /// A block to be sent.
    public init(
        ssrc: SSRC, fractionLost: UInt8, cumulativeLost: Int32, extendedHighestSequence: UInt32, jitter: UInt32,
        lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
    ) {
        self.ssrc = ssrc
        self.fractionLost = fractionLost
        self.cumulativeLost = min(max(cumulativeLost, -0x80_0000), 0x7F_FFFF)
        self.extendedHighestSequence = extendedHighestSequence
        self.jitter = jitter
        self.lastSenderReport = lastSenderReport
        self.delaySinceLastSenderReport = delaySinceLastSenderReport
    }

    /// The round trip time of a report on our own stream, in 1/65536 s, or nil where it cannot be known (RFC 3550 6.4.1).
    ///
    /// - Parameter arrival: when the report came, on the clock that our sender reports are stamped with.
    public func roundTrip(arrival: NTPTimestamp) -> UInt32? {
        guard lastSenderReport != 0 else { return nil }
        let elapsed = arrival.middle &- lastSenderReport &- delaySinceLastSenderReport
        return Int32(bitPattern: elapsed) < 0 ? nil : elapsed
    }

    /// The same in nanoseconds.
    public func roundTripNanoseconds(arrival: NTPTimestamp) -> Int64? {
        roundTrip(arrival: arrival).map { Int64($0) * 1_000_000_000 / 65536 }
    }

    init(_ datagram: Span<UInt8>, at offset: Int) {
        let lost = datagram.uint32(at: offset + 4)
        self.init(
            ssrc: SSRC(datagram.uint32(at: offset)), fractionLost: UInt8(lost >> 24),
            cumulativeLost: Int32(bitPattern: lost << 8) >> 8, extendedHighestSequence: datagram.uint32(at: offset + 8),
            jitter: datagram.uint32(at: offset + 12), lastSenderReport: datagram.uint32(at: offset + 16),
            delaySinceLastSenderReport: datagram.uint32(at: offset + 20))
    }

    func write(into datagram: inout MutableSpan<UInt8>, at offset: Int) {
        let lost = min(max(cumulativeLost, -0x80_0000), 0x7F_FFFF)
        datagram.write(ssrc.rawValue, at: offset)
        datagram.write(UInt32(fractionLost) << 24 | UInt32(bitPattern: lost) & 0xFF_FFFF, at: offset + 4)
        datagram.write(extendedHighestSequence, at: offset + 8)
        datagram.write(jitter, at: offset + 12)
        datagram.write(lastSenderReport, at: offset + 16)
        datagram.write(delaySinceLastSenderReport, at: offset + 20)
    }
}
