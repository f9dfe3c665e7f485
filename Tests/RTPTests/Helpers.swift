import RTP

/// A packet's bytes, written by hand so that the reader is not judged by its own writer.
func packet(
    first: UInt8 = 0x80, second: UInt8 = 0, sequence: UInt16 = 1, timestamp: UInt32 = 2, ssrc: UInt32 = 3,
    rest: [UInt8] = []
) -> [UInt8] {
    [first, second] + bigEndian(sequence) + bigEndian(timestamp) + bigEndian(ssrc) + rest
}

func bigEndian<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
}

func items(_ bytes: [UInt8], reduced: Bool = false) throws(RTCPParseError) -> [RTCPItem] {
    var found: [RTCPItem] = []
    try RTCPReader.read(bytes.span, allowsReducedSize: reduced) { found.append($0) }
    return found
}

// Spans must not pass through the expectation macros, so bytes do.

func parse(_ bytes: [UInt8]) throws(RTPParseError) -> RTPHeader { try RTPHeader.parse(bytes.span) }

func classify(_ bytes: [UInt8]) -> PacketKind { PacketKind.classify(bytes.span) }

func event(_ bytes: [UInt8], at offset: Int = 0) -> TelephoneEvent? { TelephoneEvent.parse(bytes.span, at: offset) }
