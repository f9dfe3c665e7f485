/// What one leg knows of the stream it receives: places, losses, jitter, and what to report of them (RFC 3550 A.1, A.3, A.8).
///
/// A plain value; one call per packet, no allocation, bounded work. The first source is taken at its first packet, since who
/// may send here was settled before (latch or SRTP). A change of source, or a wild jump of the sequence number, is taken
/// after two packets in order with none of the present stream's between them, so that strays and forgeries restart nothing.
public struct ReceptionStatistics: Sendable {
    /// What a packet was. Tells the caller what to do with it.
    public enum Arrival: Hashable, Sendable {
        /// The first packet of a source, or of a stream taken anew: start afresh from here.
        case started(place: Int64)
        /// Newer than all before it. `place` is the extended sequence number.
        case inOrder(place: Int64)
        /// Older than the newest but not seen before.
        case reordered(place: Int64)
        /// Seen before, among the last 64. Drop it.
        case duplicate
        /// Perhaps the first packet of another stream; wait for the next. Drop it.
        case onProbation
    }

    /// Units per second of the stream's clock; set it when the payload type changes to one of another clock.
    public var clockRate: Int

    /// The source taken, or nil before the first packet.
    public private(set) var ssrc: SSRC?
    /// Packets of the present source, duplicates included (as RFC 3550 counts).
    public private(set) var received: Int64 = 0
    /// Packets seen before, over all sources.
    public private(set) var duplicates: Int64 = 0
    /// Packets that came after a newer one, over all sources.
    public private(set) var reordered: Int64 = 0
    /// Packets dropped while on probation.
    public private(set) var strays: Int64 = 0
    /// How often a stream was taken anew.
    public private(set) var restarts: Int64 = 0

    private var base: Int64 = 0
    private var highest: Int64 = 0
    private var window: UInt64 = 0
    private var lostBefore: Int64 = 0
    private var receivedBefore: Int64 = 0
    private var candidate: (ssrc: SSRC, next: SequenceNumber)?
    private var expectedAtReport: Int64 = 0
    private var receivedAtReport: Int64 = 0
    private var transit: (arrival: Int64, timestamp: RTPTimestamp)?
    private var scaledJitter: Int64 = 0
    private var senderReport: (middle: UInt32, arrival: Int64)?

    private static let maximumDropout = 3000
    private static let maximumMisorder = 100

    /// - Parameter clockRate: units per second of the stream's timestamps.
    public init(clockRate: Int) { self.clockRate = max(clockRate, 1) }

    /// Takes note of one packet.
    ///
    /// - Parameters:
    ///   - arrival: when it came, in nanoseconds of any steady clock.
    ///   - measuresJitter: false for packets whose timestamp does not tell when they were sent: updates of a key event.
    public mutating func receive(
        ssrc packetSSRC: SSRC, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, arrival: Int64,
        measuresJitter: Bool = true
    ) -> Arrival {
        guard let ssrc else {
            start(ssrc: packetSSRC, sequenceNumber: sequenceNumber, timestamp: timestamp, arrival: arrival)
            return .started(place: highest)
        }
        let step = SequenceNumber(UInt16(truncatingIfNeeded: highest)).distance(to: sequenceNumber)
        guard packetSSRC == ssrc, step < Self.maximumDropout, step > -Self.maximumMisorder else {
            return judgeStranger(ssrc: packetSSRC, sequenceNumber: sequenceNumber, timestamp: timestamp, arrival: arrival)
        }
        received += 1
        let place = highest + Int64(step)
        if step > 0 {
            candidate = nil
            window = step < 64 ? window << UInt64(step) | 1 : 1
            highest = place
            if measuresJitter { updateJitter(timestamp: timestamp, arrival: arrival) }
            return .inOrder(place: place)
        }
        let bit: UInt64 = step > -64 ? 1 << UInt64(-step) : 0
        guard window & bit == 0 else {
            duplicates += 1
            return .duplicate
        }
        window |= bit
        reordered += 1
        return .reordered(place: place)
    }

    /// Takes note of the peer's SR, for the LSR and DLSR of our next report.
    public mutating func receiveSenderReport(from source: SSRC, ntp: NTPTimestamp, arrival: Int64) {
        guard source == ssrc else { return }
        senderReport = (ntp.middle, arrival)
    }

    /// Forgets the stream: the next packet starts a source. For a new media address after a re-offer.
    public mutating func reset() {
        setAside()
        ssrc = nil
        candidate = nil
        transit = nil
    }

    /// Packets expected of the present source so far.
    public var expected: Int64 { ssrc == nil ? 0 : highest - base + 1 }
    /// Packets lost of the present source; negative when duplicates outnumber losses.
    public var lost: Int64 { expected - received }
    /// Packets received over all sources of the leg.
    public var totalReceived: Int64 { receivedBefore + received }
    /// Packets lost over all sources of the leg.
    public var totalLost: Int64 { lostBefore + max(lost, 0) }
    /// Inter-arrival jitter in clock units.
    public var jitter: UInt32 { UInt32(clamping: scaledJitter >> 4) }
    /// Inter-arrival jitter in nanoseconds.
    public var jitterNanoseconds: Int64 { (scaledJitter >> 4) * 1_000_000_000 / Int64(clockRate) }
    /// The highest sequence number with its count of wraps above it.
    public var extendedHighestSequence: UInt32 { UInt32(truncatingIfNeeded: highest) }

    /// The block for our next report, nil while nothing was received. The fraction lost is counted anew from here.
    public mutating func takeReportBlock(now: Int64) -> ReportBlock? {
        guard let ssrc else { return nil }
        let expectedNow = expected - expectedAtReport
        let lostNow = expectedNow - (received - receivedAtReport)
        expectedAtReport = expected
        receivedAtReport = received
        let fraction = expectedNow > 0 && lostNow > 0 ? UInt8(clamping: lostNow * 256 / expectedNow) : 0
        var delay: UInt32 = 0
        if let senderReport {
            let seconds = max(Double(now) - Double(senderReport.arrival), 0) / 1e9
            delay = UInt32(min(seconds * 65536, Double(UInt32.max)))
        }
        return ReportBlock(
            ssrc: ssrc, fractionLost: fraction, cumulativeLost: Int32(clamping: lost),
            extendedHighestSequence: extendedHighestSequence, jitter: jitter, lastSenderReport: senderReport?.middle ?? 0,
            delaySinceLastSenderReport: delay)
    }

    private mutating func start(ssrc: SSRC, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, arrival: Int64) {
        setAside()
        if self.ssrc != ssrc { senderReport = nil }
        self.ssrc = ssrc
        base = Int64(sequenceNumber.rawValue)
        highest = base
        window = 1
        received = 1
        candidate = nil
        transit = (arrival, timestamp)
    }

    private mutating func setAside() {
        lostBefore += max(lost, 0)
        receivedBefore += received
        received = 0
        base = highest + 1
        expectedAtReport = 0
        receivedAtReport = 0
        scaledJitter = 0
        window = 0
    }

    private mutating func judgeStranger(
        ssrc: SSRC, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, arrival: Int64
    ) -> Arrival {
        if let candidate, candidate.ssrc == ssrc, candidate.next == sequenceNumber {
            start(ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp, arrival: arrival)
            restarts += 1
            return .started(place: highest)
        }
        candidate = (ssrc, sequenceNumber.next)
        strays += 1
        return .onProbation
    }

    // A.8: the difference of two packets' transit times, in clock units, through a filter of 1/16.
    private mutating func updateJitter(timestamp: RTPTimestamp, arrival: Int64) {
        defer { transit = (arrival, timestamp) }
        guard let transit else { return }
        let limit: Int64 = 3600 * 1_000_000_000
        let elapsed = min(max(arrival &- transit.arrival, -limit), limit) * Int64(clockRate) / 1_000_000_000
        let difference = abs(elapsed - Int64(transit.timestamp.distance(to: timestamp)))
        // More than five seconds is a stream set on another line, not jitter; it would spoil the figure for minutes.
        guard difference <= 5 * Int64(clockRate) else { return }
        scaledJitter += difference - ((scaledJitter + 8) >> 4)
    }
}
