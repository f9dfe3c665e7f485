import RTP
public import Sockets

/// Whose packets a trunk leg takes.
public enum TrunkSourceRule: Sendable, Hashable {
    /// Only the negotiated address, exactly (LAT-2). For trunks with fixed public addresses, and the default.
    case exact
    /// For trunks behind NAT: within `seconds` of each negotiation, another address is taken once, after three packets in order
    /// with one SSRC and a payload number that was agreed (LAT-3, LAT-4); from `host` only, if given.
    case latch(seconds: Int, host: SocketAddress?)
}

/// Lets a trunk's packets in by their source address (case H59).
struct SourceGate {
    private let rule: TrunkSourceRule
    /// Where the peer's media comes from, and ours goes to.
    private(set) var remote: SocketAddress?
    private var closesAt = MediaTime(nanoseconds: 0)
    private var hasLatched = false
    private var candidate: (address: SocketAddress, ssrc: UInt32, next: UInt16, count: Int)?
    /// Packets from elsewhere.
    private(set) var strangers = 0

    init(rule: TrunkSourceRule) { self.rule = rule }

    /// Takes the address of a negotiation. The same address again reopens nothing (case H59).
    /// - Returns: whether the address changed.
    mutating func negotiate(_ address: SocketAddress, at now: MediaTime) -> Bool {
        guard address != negotiated else { return false }
        negotiated = address
        remote = address
        hasLatched = false
        candidate = nil
        if case .latch(let seconds, _) = rule { closesAt = now.advanced(milliseconds: seconds * 1000) }
        return true
    }

    private var negotiated: SocketAddress?

    /// - Parameter isAgreed: whether the packet's payload number was agreed.
    mutating func admits(
        _ datagram: Span<UInt8>, from source: SocketAddress, isAgreed: Bool, at now: MediaTime
    ) -> Bool {
        if source == remote { return true }
        if latches(datagram, from: source, isAgreed: isAgreed, at: now) {
            remote = source
            hasLatched = true
            return true
        }
        strangers += 1
        return false
    }

    /// RTCP is taken from the peer's host, or from the address it named for it.
    mutating func admitsRTCP(from source: SocketAddress, named: SocketAddress?) -> Bool {
        if source == named { return true }
        if let remote, source.with(port: remote.port) == remote { return true }
        strangers += 1
        return false
    }

    private mutating func latches(
        _ datagram: Span<UInt8>, from source: SocketAddress, isAgreed: Bool, at now: MediaTime
    ) -> Bool {
        guard case .latch(_, let host) = rule, !hasLatched, now < closesAt, remote != nil else { return false }
        if let host, source.with(port: host.port) != host { return false }
        guard isAgreed, let header = try? RTPHeader.parse(datagram) else { return false }
        let sequence = header.sequenceNumber.rawValue
        if let seen = candidate, seen.address == source, seen.ssrc == header.ssrc.rawValue, seen.next == sequence {
            candidate = (source, seen.ssrc, sequence &+ 1, seen.count + 1)
            return seen.count + 1 >= 3
        }
        candidate = (source, header.ssrc.rawValue, sequence &+ 1, 1)
        return false
    }
}
