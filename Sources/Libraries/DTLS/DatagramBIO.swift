internal import COpenSSL

/// The two ends of a connection that OpenSSL sees as a datagram socket: one datagram in, a list of datagrams out.
///
/// The connection owns this object and frees the SSL, and the BIO with it, first; the BIO's pointer back is unretained.
final class DatagramQueue {
    private var incoming: [UInt8]?
    private var outgoing: [[UInt8]] = []

    func offer(_ datagram: [UInt8]) { incoming = datagram }

    func takeOutgoing() -> [[UInt8]] {
        defer { outgoing = [] }
        return outgoing
    }

    /// A BIO that reads from and writes to this object; nil if OpenSSL has no memory.
    func makeBIO() -> OpaquePointer? {
        guard let method = DatagramBIO.method.raw, let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let datagram = incoming else { return nil }
        incoming = nil
        let count = min(datagram.count, buffer.count)  // what does not fit is cut off, as with a socket
        buffer.copyBytes(from: datagram[..<count])
        return count
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) { outgoing.append(Array(bytes)) }
}

private enum DatagramBIO {
    /// BIO methods are read-only once made, and this one lives as long as the process, so any thread may use it.
    struct Method: @unchecked Sendable {
        let raw: OpaquePointer?
    }

    static let method: Method = {
        let typeSourceSink: Int32 = 0x0400  // BIO_TYPE_SOURCE_SINK
        let method = BIO_meth_new(BIO_get_new_index() | typeSourceSink, "datagrams in memory")
        BIO_meth_set_read(method, readDatagram)
        BIO_meth_set_write(method, writeDatagram)
        BIO_meth_set_ctrl(method, controlDatagram)
        return Method(raw: method)
    }()
}

private func queue(of bio: OpaquePointer?) -> DatagramQueue? {
    BIO_get_data(bio).map { Unmanaged<DatagramQueue>.fromOpaque($0).takeUnretainedValue() }
}

private func readDatagram(_ bio: OpaquePointer?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int32) -> Int32 {
    shim_clear_retry(bio)
    let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(max(0, capacity)))
    if let count = queue(of: bio)?.read(into: bytes) { return Int32(count) }
    shim_retry_read(bio)
    return -1
}

private func writeDatagram(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    shim_clear_retry(bio)
    queue(of: bio)?.write(UnsafeRawBufferPointer(start: bytes, count: Int(max(0, count))))
    return count
}

private func controlDatagram(_ bio: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?) -> Int {
    switch command {
    case BIO_CTRL_FLUSH: 1
    case BIO_CTRL_DGRAM_QUERY_MTU, BIO_CTRL_DGRAM_GET_FALLBACK_MTU: DTLSConnection.maximumDatagram
    default: 0
    }
}
