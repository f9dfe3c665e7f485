/// What is known of one leg. Counters run from the leg's start.
public struct LegStatistics: Sendable, Hashable, BitwiseCopyable {
    /// RTP packets taken, and bytes of their payloads.
    public var packetsReceived = 0
    /// Bytes of the payloads taken.
    public var octetsReceived = 0
    /// Packets that never came, by the gaps in sequence.
    public var packetsLost = 0
    /// Packets that came after a newer one.
    public var packetsReordered = 0
    /// Packets seen before.
    public var packetsDuplicated = 0
    /// Packets that came too late to be played.
    public var packetsLate = 0
    /// Packets thrown away to keep the delay low.
    public var packetsDiscarded = 0
    /// Sound made up for what was missing, in milliseconds.
    public var concealedMilliseconds = 0
    /// Inter-arrival jitter (RFC 3550, A.8), in milliseconds.
    public var jitterMilliseconds = 0.0
    /// RTP packets sent.
    public var packetsSent = 0
    /// Bytes of the payloads sent.
    public var octetsSent = 0
    /// Packets that failed SRTP's checks.
    public var srtpFailures = 0
    /// Packets from an address that is not the peer's.
    public var wrongSource = 0
    /// Datagrams that could not be read.
    public var malformed = 0
    /// Packets with a payload number that was not agreed.
    public var unknownPayload = 0
    /// Keys heard from this leg.
    public var keysReceived = 0
    /// Keys sent to this leg.
    public var keysSent = 0
    /// How loud this leg speaks and is spoken to, in dBFS; -127 is silence.
    public var receivedLevel = -127.0
    /// How loud this leg is spoken to, in dBFS; -127 is silence.
    public var sentLevel = -127.0
    /// Round trip in milliseconds by RTCP; negative while unknown.
    public var roundTripMilliseconds = -1.0
    /// Share of our packets that this leg lost lately by its reports, 0 to 1.
    public var remoteLoss = 0.0
    /// RTCP packets taken.
    public var reportsReceived = 0
    /// When the last packet that counted came, in nanoseconds of the lane's time; 0 if none did.
    public var lastPacketNanoseconds: Int64 = 0

    /// A leg of which nothing is known.
    public init() {}
}

/// What is known of a bridge at one moment.
public struct BridgeStatistics: Sendable, Hashable, BitwiseCopyable {
    /// The client's leg.
    public var client = LegStatistics()
    /// The trunk's leg.
    public var trunk = LegStatistics()
    /// Sound of the client's that waits in the jitter buffer, in milliseconds.
    public var bufferedMilliseconds = 0.0
    /// How often the client's stream was taken up anew.
    public var resynchronisations = 0
    /// Datagrams that found the outbox full.
    public var outboxOverflow = 0
    /// When this was taken, in nanoseconds of the lane's time.
    public var takenAtNanoseconds: Int64 = 0

    /// A bridge that has not begun.
    public init() {}
}
