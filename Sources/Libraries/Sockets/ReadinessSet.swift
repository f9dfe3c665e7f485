internal import CLinux

/// A set of sockets that tells which of them have datagrams waiting (epoll, level triggered: a socket that was not read
/// empty is named again by the next poll).
///
/// - Threads: any; the kernel guards the set. `poll` allocates nothing.
public final class ReadinessSet: Sendable {
    /// The most tokens that one poll can give.
    public static let maximumBatch = 256

    private let descriptor: Int32

    /// Makes an empty set.
    public init() throws(SocketError) {
        descriptor = try SocketError.check(shim_epoll(), .readiness)
    }

    deinit { shim_close(descriptor) }

    /// Adds a socket. A socket may be in a set once.
    ///
    /// - Parameter token: what `poll` names this socket by; its meaning is the caller's.
    public func add(_ socket: UDPSocket, token: UInt64) throws(SocketError) {
        try SocketError.check(shim_epoll_add(descriptor, socket.fileDescriptor, token), .readiness)
    }

    /// Takes a socket out. Closing the socket does the same.
    public func remove(_ socket: UDPSocket) throws(SocketError) {
        try SocketError.check(shim_epoll_remove(descriptor, socket.fileDescriptor), .readiness)
    }

    /// Writes the tokens of the readable sockets to the front of `tokens`.
    ///
    /// - Parameter timeoutMilliseconds: how long to wait for the first one; 0 looks and returns.
    /// - Returns: how many tokens were written, at most ``maximumBatch``; 0 also for a wait that a signal cut short.
    public func poll(into tokens: inout MutableSpan<UInt64>, timeoutMilliseconds: Int32 = 0) -> Int {
        tokens.withUnsafeMutableBufferPointer { poll(into: $0, timeoutMilliseconds: timeoutMilliseconds) }
    }

    /// The same into a buffer pointer.
    public func poll(into tokens: UnsafeMutableBufferPointer<UInt64>, timeoutMilliseconds: Int32 = 0) -> Int {
        let capacity = Int32(clamping: tokens.count)
        return max(0, Int(shim_epoll_poll(descriptor, tokens.baseAddress, capacity, timeoutMilliseconds)))
    }
}
