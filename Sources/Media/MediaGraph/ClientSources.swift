internal import Sockets

/// Whose datagrams a protected client leg opens.
///
/// A peer with more than one address may send over any pair that has passed its checks, not only over the one that our agent
/// has selected (RFC 8445 section 12.2): Chromium moves to another of its addresses when that one answers sooner. SRTP tells
/// the client from strangers, so an unknown source is put to that test, within a budget, and is known once it has passed. What
/// we send goes to the selected address alone.
struct ClientSources {
    enum Standing { case known, unproven, refused }

    /// Strangers' datagrams that may cost us an authentication, each second.
    private static let triesPerSecond = 200
    private static let capacity = 4

    /// The address that ICE has selected: where our datagrams go.
    var selected: SocketAddress?
    private var proven = [SocketAddress?](repeating: nil, count: capacity)
    private var oldest = 0
    private var triesLeft = triesPerSecond
    private var refillsAt = MediaTime(nanoseconds: 0)

    /// What to do with a datagram of this source; asking about a stranger uses up the budget.
    mutating func standing(of source: SocketAddress, at now: MediaTime) -> Standing {
        if source == selected { return .known }
        for index in proven.indices where proven[index] == source { return .known }
        if now >= refillsAt {
            triesLeft = Self.triesPerSecond
            refillsAt = now.advanced(milliseconds: 1000)
        }
        guard triesLeft > 0 else { return .refused }
        triesLeft -= 1
        return .unproven
    }

    /// A datagram of this source has passed authentication.
    mutating func prove(_ source: SocketAddress) {
        proven[oldest] = source
        oldest = (oldest + 1) % Self.capacity
        // A try that succeeds is none of a stranger's.
        triesLeft += 1
    }
}
