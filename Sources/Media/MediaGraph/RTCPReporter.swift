import RTP

/// One leg's RTCP: reports at randomised times, and what the peer's reports say (RFC 3550, 6).
struct RTCPReporter {
    let cname: CanonicalName
    private let wallClockOffset: Int64
    private var schedule = RTCPSchedule(sessionBandwidth: 8_000)
    private var packetsAtReport = 0
    private var random: SplitMix
    /// When the next report is due.
    private(set) var due = MediaTime.distantFuture
    /// Nanoseconds; nil while unknown.
    private(set) var roundTrip: Int64?
    /// Share of our packets that the peer lost lately, 0 to 1.
    private(set) var remoteLoss = 0.0
    /// Our packets' jitter at the peer, in units of the stream we send.
    private(set) var remoteJitter: UInt32 = 0
    private(set) var received = 0
    private(set) var malformed = 0
    /// Whether the peer has said goodbye.
    private(set) var isPeerGone = false

    init(wallClockOffset: Int64, using random: inout SplitMix) {
        cname = CanonicalName(using: &random)
        self.wallClockOffset = wallClockOffset
        self.random = SplitMix(seed: random.next())
    }

    /// Begins the schedule once there is somewhere to report to.
    mutating func start(at now: MediaTime) {
        guard due == .distantFuture else { return }
        plan(weSent: false, at: now)
    }

    mutating func stop() { due = .distantFuture }

    /// Writes the report that is due and plans the next.
    mutating func write(
        sender: RTPSender, statistics: inout ReceptionStatistics, saysGoodbye: Bool,
        into datagram: inout MutableSpan<UInt8>,
        at now: MediaTime
    ) -> Int {
        let weSent = sender.packets > packetsAtReport
        packetsAtReport = sender.packets
        let info = weSent ? sender.senderInfo(ntp: ntp(now)) : nil
        let block = statistics.takeReportBlock(now: now.nanoseconds)
        plan(weSent: weSent, at: now)
        do {
            let length = try RTCPWriter.write(
                ssrc: sender.ssrc, sender: info, block: block, cname: cname, saysGoodbye: saysGoodbye, into: &datagram)
            schedule.observe(size: length + 28)
            return length
        } catch { return 0 }
    }

    /// Reads a compound packet of the peer's.
    mutating func receive(
        _ datagram: Span<UInt8>, ours: SSRC, statistics: inout ReceptionStatistics, at now: MediaTime
    ) {
        var report: ReportBlock?
        var senderReport: (SSRC, NTPTimestamp)?
        var isGoodbye = false
        do {
            try RTCPReader.read(datagram) { item in
                switch item {
                case .senderReport(let ssrc, let info): senderReport = (ssrc, info.ntp)
                case .reportBlock(_, let block) where block.ssrc == ours: report = block
                case .goodbye: isGoodbye = true
                default: break
                }
            }
        } catch {
            malformed += 1
            return
        }
        received += 1
        schedule.observe(size: datagram.count + 28)
        if let senderReport {
            statistics.receiveSenderReport(from: senderReport.0, ntp: senderReport.1, arrival: now.nanoseconds)
        }
        if isGoodbye { isPeerGone = true }
        guard let report else { return }
        remoteLoss = Double(report.fractionLost) / 256
        remoteJitter = report.jitter
        roundTrip = report.roundTripNanoseconds(arrival: ntp(now)) ?? roundTrip
    }

    private func ntp(_ now: MediaTime) -> NTPTimestamp { NTPTimestamp(unixNanoseconds: now.nanoseconds + wallClockOffset) }

    private mutating func plan(weSent: Bool, at now: MediaTime) {
        due = now.advanced(nanoseconds: schedule.nextInterval(weSent: weSent, random: random.unit()))
    }
}
