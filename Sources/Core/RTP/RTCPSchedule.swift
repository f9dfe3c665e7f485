/// When the next RTCP packet of a leg is due (RFC 3550 6.3.1, A.7). Randomness is handed in.
public struct RTCPSchedule: Sendable {
    private let bandwidth: Double
    private var averageSize: Double
    private var isFirst = true

    /// The least time between two of our packets before it is randomised: 5 s.
    public static let minimumNanoseconds: Int64 = 5_000_000_000

    /// - Parameters:
    ///   - sessionBandwidth: the leg's rate in bytes a second, both directions; RTCP takes a twentieth of it.
    ///   - expectedSize: a guess of our packet's size in bytes, headers of UDP and IP included.
    public init(sessionBandwidth: Int, expectedSize: Int = 120) {
        bandwidth = max(Double(sessionBandwidth) * 0.05, 1)
        averageSize = Double(expectedSize)
    }

    /// Notes the size in bytes, with UDP and IP headers, of an RTCP packet sent or received.
    public mutating func observe(size: Int) { averageSize += (Double(size) - averageSize) / 16 }

    /// The time from now to our next packet, in nanoseconds.
    ///
    /// - Parameters:
    ///   - weSent: whether our own stream sent since the last but one report.
    ///   - members: all sources known, ourselves included; at least 1.
    ///   - senders: how many of them send.
    ///   - random: evenly distributed over 0..<1.
    public mutating func nextInterval(weSent: Bool, members: Int = 2, senders: Int = 2, random: Double) -> Int64 {
        var share = bandwidth
        var count = max(members, 1)
        if senders > 0, Double(senders) <= Double(count) * 0.25 {
            share *= weSent ? 0.25 : 0.75
            count = weSent ? senders : count - senders
        }
        let minimum = Double(Self.minimumNanoseconds) / 1e9 * (isFirst ? 0.5 : 1)
        isFirst = false
        let interval = max(averageSize * Double(count) / share, minimum)
        // The divisor makes good for the timer reconsideration that pulls the mean below the target: e - 3/2.
        let randomised = interval * (min(max(random, 0), 1) + 0.5) / 1.21828
        return Int64(min(randomised, 3600) * 1e9)
    }
}
