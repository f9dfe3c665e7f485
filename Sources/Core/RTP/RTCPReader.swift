/// One thing that a compound RTCP packet says.
public enum RTCPItem: Hashable, Sendable {
    /// An SR's own part; its blocks follow as items.
    case senderReport(SSRC, SenderInfo)
    /// An RR's own part; its blocks follow as items.
    case receiverReport(SSRC)
    /// One block of the SR or RR before it.
    case reportBlock(reporter: SSRC, ReportBlock)
    /// A CNAME: the bytes of its text in the datagram.
    case canonicalName(SSRC, Range<Int>)
    /// A source has ended. Its statistics end; the call does not.
    case goodbye(SSRC)
    /// A packet of a kind that is not read here (feedback, APP, XR).
    case skipped(packetType: UInt8)
}

/// Why a datagram is no compound RTCP packet. Count it and drop it. Offsets are bytes from the datagram's start.
public enum RTCPParseError: Error, Hashable, Sendable {
    /// No room for a header of four bytes and its SSRC.
    case tooShort(length: Int)
    /// A packet's version field is not 2.
    case badVersion(offset: Int)
    /// The first packet is neither SR nor RR and reduced size was not agreed.
    case badFirstPacket(packetType: UInt8)
    /// A packet's length field runs past the end.
    case lengthOverrun(offset: Int)
    /// A packet's count field asks for more than its length holds.
    case countOverrun(offset: Int)
    /// Padding on a packet that is not the last, or of an impossible length.
    case badPadding(offset: Int)
    /// An SDES item runs past its packet.
    case itemOverrun(offset: Int)
}

/// Reads compound RTCP packets (RFC 3550 6, A.2): a total function of the bytes that allocates nothing.
public enum RTCPReader {
    /// Checks the whole datagram, then hands each thing it says to `visit`, in order. Nothing is visited if the check fails.
    ///
    /// - Parameter allowsReducedSize: whether a first packet other than SR and RR is welcome (`a=rtcp-rsize`, RFC 5506).
    public static func read(
        _ datagram: Span<UInt8>, allowsReducedSize: Bool = false, visit: (RTCPItem) -> Void
    ) throws(RTCPParseError) {
        guard datagram.count >= 8 else { throw .tooShort(length: datagram.count) }
        let first = datagram[1]
        guard
            allowsReducedSize || first == RTCPPacketType.senderReport.rawValue
                || first == RTCPPacketType.receiverReport.rawValue
        else { throw .badFirstPacket(packetType: first) }
        try walk(datagram) { _ in }
        try walk(datagram, visit: visit)
    }

    private static func walk(_ datagram: Span<UInt8>, visit: (RTCPItem) -> Void) throws(RTCPParseError) {
        var offset = 0
        while offset < datagram.count {
            guard offset + 4 <= datagram.count else { throw .lengthOverrun(offset: offset) }
            guard datagram[offset] >> 6 == 2 else { throw .badVersion(offset: offset) }
            var end = offset + 4 * (Int(datagram.uint16(at: offset + 2)) + 1)
            guard end <= datagram.count else { throw .lengthOverrun(offset: offset) }
            let next = end
            if datagram[offset] & 0x20 != 0 {
                let padding = Int(datagram[end - 1])
                guard end == datagram.count, padding > 0, padding % 4 == 0, padding <= end - offset - 4 else {
                    throw .badPadding(offset: offset)
                }
                end -= padding
            }
            try readPacket(datagram, range: offset..<end, visit: visit)
            offset = next
        }
    }

    private static func readPacket(
        _ datagram: Span<UInt8>, range: Range<Int>, visit: (RTCPItem) -> Void
    ) throws(RTCPParseError) {
        let count = Int(datagram[range.lowerBound] & 0x1F)
        let type = datagram[range.lowerBound + 1]
        switch RTCPPacketType(rawValue: type) {
        case .senderReport: try readReport(datagram, range: range, count: count, isSender: true, visit: visit)
        case .receiverReport: try readReport(datagram, range: range, count: count, isSender: false, visit: visit)
        case .sourceDescription: try readDescription(datagram, range: range, count: count, visit: visit)
        case .goodbye:
            guard range.count >= 4 + 4 * count else { throw .countOverrun(offset: range.lowerBound) }
            for index in 0..<count { visit(.goodbye(SSRC(datagram.uint32(at: range.lowerBound + 4 + 4 * index)))) }
        case nil: visit(.skipped(packetType: type))
        }
    }

    private static func readReport(
        _ datagram: Span<UInt8>, range: Range<Int>, count: Int, isSender: Bool, visit: (RTCPItem) -> Void
    ) throws(RTCPParseError) {
        let start = range.lowerBound
        let ownLength = isSender ? 28 : 8
        guard range.count >= ownLength + count * ReportBlock.length else { throw .countOverrun(offset: start) }
        let reporter = SSRC(datagram.uint32(at: start + 4))
        if isSender {
            let info = SenderInfo(
                ntp: NTPTimestamp(seconds: datagram.uint32(at: start + 8), fraction: datagram.uint32(at: start + 12)),
                rtpTimestamp: RTPTimestamp(datagram.uint32(at: start + 16)), packetCount: datagram.uint32(at: start + 20),
                octetCount: datagram.uint32(at: start + 24))
            visit(.senderReport(reporter, info))
        } else {
            visit(.receiverReport(reporter))
        }
        for index in 0..<count {
            let block = ReportBlock(datagram, at: start + ownLength + index * ReportBlock.length)
            visit(.reportBlock(reporter: reporter, block))
        }
    }

    private static func readDescription(
        _ datagram: Span<UInt8>, range: Range<Int>, count: Int, visit: (RTCPItem) -> Void
    ) throws(RTCPParseError) {
        var offset = range.lowerBound + 4
        for _ in 0..<count {
            guard offset + 4 <= range.upperBound else { throw .countOverrun(offset: range.lowerBound) }
            let ssrc = SSRC(datagram.uint32(at: offset))
            offset += 4
            // A list of items ends with a zero byte and is filled to the next multiple of four.
            while true {
                guard offset < range.upperBound else { throw .itemOverrun(offset: offset) }
                let kind = datagram[offset]
                if kind == 0 { break }
                guard offset + 2 <= range.upperBound else { throw .itemOverrun(offset: offset) }
                let end = offset + 2 + Int(datagram[offset + 1])
                guard end <= range.upperBound else { throw .itemOverrun(offset: offset) }
                if kind == 1 { visit(.canonicalName(ssrc, offset + 2..<end)) }
                offset = end
            }
            offset = min(range.lowerBound + (offset - range.lowerBound) / 4 * 4 + 4, range.upperBound)
        }
    }
}
