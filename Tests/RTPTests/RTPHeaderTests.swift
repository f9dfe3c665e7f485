import RTP
import Testing

@Suite struct RTPHeaderTests {
    @Test func aWrittenPacketReadsBackTheSame() throws {
        let header = RTPHeader(
            marker: true, payloadType: .pcma, sequenceNumber: SequenceNumber(0xFFFE), timestamp: RTPTimestamp(0x8000_0001),
            ssrc: SSRC(0xDEAD_BEEF))
        var bytes = [UInt8](repeating: 0, count: 20)
        let payload: [UInt8] = [1, 2, 3, 4, 5]
        var storage = bytes.mutableSpan
        let length = try RTPWriter.write(header, payload: payload.span, into: &storage)
        #expect(length == 17)
        #expect(Array(bytes[0..<2]) == [0x80, 0x88])
        let read = try parse(Array(bytes[..<length]))
        #expect(read.marker && read.payloadType == .pcma && read.ssrc == header.ssrc)
        #expect(read.sequenceNumber == header.sequenceNumber && read.timestamp == header.timestamp)
        #expect(Array(bytes[read.payloadRange]) == payload)
    }

    @Test func contributorsExtensionAndPaddingAreSkippedByTheirLength() throws {
        let rest: [UInt8] =
            bigEndian(UInt32(7)) + bigEndian(UInt32(8)) + [0xBE, 0xDE, 0, 1, 0x10, 0xFF, 0, 0] + [0xAA, 0xBB] + [0, 0, 3]
        let bytes = packet(first: 0xB2, second: 0x80, rest: rest)
        let header = try parse(bytes)
        #expect(header.contributorCount == 2)
        #expect(header.extensionProfile == 0xBEDE)
        #expect(Array(bytes[header.extensionRange]) == [0x10, 0xFF, 0, 0])
        #expect(Array(bytes[header.payloadRange]) == [0xAA, 0xBB])
    }

    @Test func everyLengthIsCheckedAgainstTheDatagram() {
        #expect(throws: RTPParseError.tooShort(length: 11)) { try parse(Array(packet()[..<11])) }
        #expect(throws: RTPParseError.badVersion(1)) { try parse(packet(first: 0x40)) }
        #expect(throws: RTPParseError.contributorsOverrun(needed: 72, length: 12)) {
            try parse(packet(first: 0x8F))
        }
        #expect(throws: RTPParseError.extensionOverrun(needed: 16, length: 14)) {
            try parse(packet(first: 0x90, rest: [0, 0]))
        }
        #expect(throws: RTPParseError.extensionOverrun(needed: 16 + 4 * 0xFFFF, length: 16)) {
            try parse(packet(first: 0x90, rest: [0, 0, 0xFF, 0xFF]))
        }
        #expect(throws: RTPParseError.badPadding(count: 0, available: 2)) {
            try parse(packet(first: 0xA0, rest: [9, 0]))
        }
        #expect(throws: RTPParseError.badPadding(count: 3, available: 2)) {
            try parse(packet(first: 0xA0, rest: [9, 3]))
        }
    }

    @Test func aPacketOfPaddingOnlyHasAnEmptyPayload() throws {
        let header = try parse(packet(first: 0xA0, rest: [0, 2]))
        #expect(header.payloadRange == 12..<12)
    }

    @Test func writingIntoTooLittleRoomIsRefused() {
        let header = RTPHeader(
            payloadType: .pcmu, sequenceNumber: SequenceNumber(1), timestamp: RTPTimestamp(0), ssrc: SSRC(1))
        #expect(throws: RTPWriteError.noRoom(needed: 14, available: 13)) {
            var bytes = [UInt8](repeating: 0, count: 13)
            var storage = bytes.mutableSpan
            _ = try RTPWriter.write(header, payload: ([1, 2] as [UInt8]).span, into: &storage)
        }
    }

    @Test(
        arguments: [
            (0, .stun), (3, .stun), (4, .unknown), (16, .zrtp), (20, .dtls), (63, .dtls), (64, .turnChannel),
            (79, .turnChannel),
            (80, .unknown), (127, .unknown), (128, .rtp), (191, .rtp), (192, .unknown), (255, .unknown),
        ] as [(UInt8, PacketKind)])
    func datagramsAreSortedByTheirFirstByte(first: UInt8, kind: PacketKind) {
        #expect(classify([first, 0]) == kind)
    }

    @Test func rtcpIsToldByTheSecondByte() {
        #expect(classify([0x80, 191]) == .rtp)
        #expect(classify([0x80, 192]) == .rtcp)
        #expect(classify([0x80, 200]) == .rtcp)
        #expect(classify([0x80, 223]) == .rtcp)
        #expect(classify([0x80, 224]) == .rtp)
        #expect(classify([0x80]) == .unknown)
        #expect(classify([]) == .unknown)
    }
}
