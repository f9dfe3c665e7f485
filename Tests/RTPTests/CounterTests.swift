import RTP
import Testing

@Suite struct CounterTests {
    @Test func distancesTakeTheShorterWayRound() {
        #expect(SequenceNumber(65535).distance(to: SequenceNumber(1)) == 2)
        #expect(SequenceNumber(1).distance(to: SequenceNumber(65535)) == -2)
        #expect(SequenceNumber(0).distance(to: SequenceNumber(0x8000)) == -32768)
        #expect(RTPTimestamp(0xFFFF_FFFF).distance(to: RTPTimestamp(159)) == 160)
        #expect(RTPTimestamp(0).advanced(by: -1) == RTPTimestamp(0xFFFF_FFFF))
        #expect(SequenceNumber(65535).next == SequenceNumber(0))
    }

    @Test func h16ASequenceWrapIsSilentInAnyOrder() {
        var unwrapper = SequenceUnwrapper()
        let wire: [UInt16] = [65533, 65534, 0, 65535, 2, 1, 3]
        let places = wire.map { unwrapper.unwrap(SequenceNumber($0)) }
        #expect(places == [65533, 65534, 65536, 65535, 65538, 65537, 65539])
    }

    @Test(arguments: [0x7FFF_FE00, 0x8000_0000, 0xFFFF_FC00, 0] as [UInt32])
    func h15TimestampsAreRebasedWhereverTheyBegin(first: UInt32) {
        var unwrapper = TimestampUnwrapper()
        for index in 0..<500 {
            let place = unwrapper.unwrap(RTPTimestamp(first &+ UInt32(index) * 160))
            #expect(place == Int64(index) * 160)
        }
    }

    @Test func aTimestampOfLongAgoDoesNotMoveTheLine() {
        var unwrapper = TimestampUnwrapper(origin: 1000)
        _ = unwrapper.unwrap(RTPTimestamp(0xFFFF_FFF0))
        #expect(unwrapper.unwrap(RTPTimestamp(0xFFFF_FF00)) == 1000 - 0xF0)
        #expect(unwrapper.unwrap(RTPTimestamp(0x10)) == 1000 + 0x20)
        #expect(unwrapper.highest == Int64(1032))
    }

    @Test func ntpTimeConvertsBothWays() {
        let unix: Int64 = 1_700_000_000_250_000_000
        let ntp = NTPTimestamp(unixNanoseconds: unix)
        #expect(ntp.seconds == 1_700_000_000 + 2_208_988_800)
        #expect(ntp.fraction == 0x4000_0000)
        #expect(ntp.unixNanoseconds == unix)
        #expect(ntp.middle == (ntp.seconds & 0xFFFF) << 16 | 0x4000)
        // After the era's end in February 2036 the seconds begin anew.
        let later: Int64 = 2_100_000_000_000_000_000
        #expect(NTPTimestamp(unixNanoseconds: later).unixNanoseconds == later)
    }
}
