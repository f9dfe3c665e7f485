internal import Foundation
public import Sockets

/// The lanes of the process: one a core, each call on one of them from its first packet to its last.
public final class LanePool: Sendable {
    /// All lanes.
    public let lanes: [Lane]

    /// - Parameter count: lanes to make; nil for one a core.
    public init(count: Int? = nil) throws(SocketError) {
        let wanted = max(1, count ?? ProcessInfo.processInfo.activeProcessorCount)
        var made: [Lane] = []
        for index in 0..<wanted { made.append(try Lane(name: "lane-\(index)")) }
        lanes = made
    }

    /// The lane with the fewest residents.
    public func pick() -> Lane {
        lanes.min { $0.residentCount < $1.residentCount } ?? lanes[0]
    }
}
