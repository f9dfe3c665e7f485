internal import CLinux
internal import Synchronization

/// A bound, non-blocking UDP socket. It closes when the last reference goes.
///
/// - Threads: any. The kernel orders concurrent calls on one descriptor; `send` and `receive` take no lock and allocate
///   nothing.
public final class UDPSocket: Sendable {
    /// The descriptor, for a ``ReadinessSet`` or a socket option this type does not have. This object owns it.
    public let fileDescriptor: Int32
    /// Where the socket is bound; the port is the real one even if 0 was asked for.
    public let localAddress: SocketAddress

    private let failedSends = Atomic<Int>(0)
    private let lastFailure = Atomic<Int32>(0)

    /// Opens a socket and binds it.
    ///
    /// - Parameters:
    ///   - address: where to bind; port 0 takes any free port.
    ///   - reusePort: SO_REUSEPORT, so that a second socket may share the port (see ``attachReusePortFilter(minimumFirstByte:)``).
    public init(boundTo address: SocketAddress, reusePort: Bool = false) throws(SocketError) {
        let descriptor = try SocketError.check(shim_udp_socket(address.isIPv6 ? 1 : 0), .open)
        do throws(SocketError) {
            if reusePort { try SocketError.check(shim_set_reuse_port(descriptor), .reusePort) }
            var flat = address.flat
            try SocketError.check(shim_bind(descriptor, &flat), .bind)
            try SocketError.check(shim_local_address(descriptor, &flat), .localAddress)
            localAddress = SocketAddress(flat: flat)
        } catch {
            shim_close(descriptor)
            throw error
        }
        fileDescriptor = descriptor
    }

    deinit { shim_close(fileDescriptor) }

    /// Sends one datagram. Never waits: a full send buffer counts as a failure.
    ///
    /// - Returns: whether the kernel took it. Failures are counted in ``sendFailures``.
    @discardableResult
    public func send(_ bytes: Span<UInt8>, to destination: SocketAddress) -> Bool {
        bytes.withUnsafeBytes { send($0, to: destination) }
    }

    /// Sends one datagram from a raw buffer; otherwise as ``send(_:to:)-(Span<UInt8>,_)``.
    @discardableResult
    public func send(_ bytes: UnsafeRawBufferPointer, to destination: SocketAddress) -> Bool {
        var flat = destination.flat
        let sent = shim_send(fileDescriptor, bytes.baseAddress, bytes.count, &flat)
        if sent >= 0 { return true }
        failedSends.wrappingAdd(1, ordering: .relaxed)
        lastFailure.store(Int32(truncatingIfNeeded: -sent), ordering: .relaxed)
        return false
    }

    /// Takes one waiting datagram.
    ///
    /// - Returns: its length in bytes (what does not fit is cut off; 0 is an empty datagram), or nil when none waits.
    public func receive(into buffer: inout MutableSpan<UInt8>, from source: inout SocketAddress) -> Int? {
        buffer.withUnsafeMutableBytes { receive(into: $0, from: &source) }
    }

    /// Takes one waiting datagram into a raw buffer; otherwise as the span form.
    public func receive(into buffer: UnsafeMutableRawBufferPointer, from source: inout SocketAddress) -> Int? {
        var flat = shim_address()
        let received = shim_receive(fileDescriptor, buffer.baseAddress, buffer.count, &flat)
        guard received >= 0 else { return nil }
        source = SocketAddress(flat: flat)
        return received
    }

    /// How many sends the kernel has refused.
    public var sendFailures: Int { failedSends.load(ordering: .relaxed) }

    /// The errno of the last refused send, 0 if there was none.
    public var lastSendError: Int32 { lastFailure.load(ordering: .relaxed) }

    /// How many datagrams the kernel has thrown away because this socket was not read in time.
    public var kernelDrops: Int { max(0, Int(shim_kernel_drops(fileDescriptor))) }

    /// Asks for room for `bytes` of waiting datagrams; the kernel may grant less.
    ///
    /// - Returns: what the kernel counts now (it doubles the figure for its own bookkeeping).
    @discardableResult
    public func enlargeReceiveBuffer(to bytes: Int) throws(SocketError) -> Int {
        let now = try SocketError.check(shim_receive_buffer(fileDescriptor), .receiveBuffer)
        guard Int(now) / 2 < bytes else { return Int(now) }
        try SocketError.check(shim_set_receive_buffer(fileDescriptor, Int32(clamping: bytes)), .receiveBuffer)
        return Int(try SocketError.check(shim_receive_buffer(fileDescriptor), .receiveBuffer))
    }

    /// Marks what this socket sends, 46 (EF) for voice (RFC 4594).
    public func setDSCP(_ codePoint: UInt8) throws(SocketError) {
        let answer = shim_set_dscp(fileDescriptor, localAddress.isIPv6 ? 1 : 0, Int32(codePoint & 0x3F))
        try SocketError.check(answer, .dscp)
    }

    /// Sorts the datagrams of a shared port in the kernel: a first byte of at least `minimumFirstByte` goes to the socket
    /// that was bound second, everything else to the first.
    ///
    /// Call it on the second socket, right after its `init(boundTo:reusePort:)`. With 64 the first socket keeps STUN and DTLS and
    /// the second gets RTP and RTCP (RFC 7983).
    public func attachReusePortFilter(minimumFirstByte: UInt8) throws(SocketError) {
        try SocketError.check(shim_attach_first_byte_filter(fileDescriptor, minimumFirstByte), .filter)
    }

    /// Lets a socket that another library has bound share its port: to be called before a second socket is bound to it.
    public static func allowReusePort(fileDescriptor: Int32) throws(SocketError) {
        try SocketError.check(shim_set_reuse_port(fileDescriptor), .reusePort)
    }

    /// Where a socket that another library has bound is bound.
    public static func localAddress(ofFileDescriptor descriptor: Int32) throws(SocketError) -> SocketAddress {
        var flat = shim_address()
        try SocketError.check(shim_local_address(descriptor, &flat), .localAddress)
        return SocketAddress(flat: flat)
    }
}
