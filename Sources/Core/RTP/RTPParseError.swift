/// Why a datagram is no RTP packet. Count it and drop it; it is an ordinary event.
public enum RTPParseError: Error, Hashable, Sendable {
    /// Shorter than the fixed header of 12 bytes.
    case tooShort(length: Int)
    /// The version field is not 2.
    case badVersion(UInt8)
    /// The list of contributing sources runs past the end of the datagram.
    case contributorsOverrun(needed: Int, length: Int)
    /// The header extension runs past the end of the datagram.
    case extensionOverrun(needed: Int, length: Int)
    /// The padding count, the last byte, is 0 or more than what follows the header.
    case badPadding(count: Int, available: Int)
}

/// Why a packet was not written.
public enum RTPWriteError: Error, Hashable, Sendable {
    /// The span is shorter than what has to be written.
    case noRoom(needed: Int, available: Int)
}
