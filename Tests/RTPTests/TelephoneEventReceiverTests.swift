import RTP
import Testing

@Suite struct TelephoneEventReceiverTests {
    private let source = SSRC(1)

    /// Collects what a relay and what an input action would see.
    private struct Listener {
        var receiver: TelephoneEventReceiver
        var began = ""
        var ended: [ReceivedKey] = []

        mutating func hear(_ key: Character, _ duration: Int, at timestamp: UInt32, end: Bool = false, time: Int = 0) {
            guard let event = DTMFKey(key)?.event else { return }
            let change = receiver.receive(
                TelephoneEvent(event: event, isEnd: end, duration: UInt16(duration)), ssrc: SSRC(1),
                timestamp: RTPTimestamp(timestamp), arrival: Int64(time) * 1_000_000)
            if let key = change.interrupted { ended.append(key) }
            if let key = change.began { began.append(key.character) }
            if let key = change.ended { ended.append(key) }
        }

        var endedKeys: String { String(ended.map(\.key.character)) }
    }

    private func listener(_ clockRate: Int = 8000) -> Listener {
        Listener(receiver: TelephoneEventReceiver(clockRate: clockRate))
    }

    @Test func h24AKeyIsReportedOnceAtItsStartAndOnceAtItsEnd() {
        var ear = listener()
        for duration in [160, 320, 480] { ear.hear("5", duration, at: 1000) }
        for _ in 0..<3 { ear.hear("5", 640, at: 1000, end: true) }
        #expect(ear.began == "5")
        #expect(ear.endedKeys == "5" && ear.ended[0].duration == 640 && ear.ended[0].milliseconds == 80)
        #expect(ear.receiver.keyDown == nil)
    }

    @Test func dtm7AnEndPacketAloneIsAKey() {
        var ear = listener()
        ear.hear("#", 800, at: 1000, end: true)
        ear.hear("#", 800, at: 1000, end: true)
        #expect(ear.began == "#" && ear.endedKeys == "#")
    }

    @Test func dtm7ALostEndIsMadeGoodByTheNextKey() {
        var ear = listener()
        ear.hear("1", 480, at: 1000)
        ear.hear("1", 160, at: 3000)
        ear.hear("2", 160, at: 5000, end: true)
        #expect(ear.began == "112" && ear.endedKeys == "112")
        #expect(ear.ended.map(\.duration) == [480, 160, 160])
    }

    @Test func dtm7ALostEndIsMadeGoodByLaterAudio() {
        var ear = listener()
        ear.hear("1", 480, at: 1000)
        #expect(ear.receiver.receiveAudio(ssrc: source, timestamp: RTPTimestamp(1480)) == nil)
        #expect(ear.receiver.receiveAudio(ssrc: SSRC(9), timestamp: RTPTimestamp(2000)) == nil)
        let ended = ear.receiver.receiveAudio(ssrc: source, timestamp: RTPTimestamp(1800))
        #expect(ended?.duration == 480)
        ear.hear("1", 640, at: 1000, end: true)
        #expect(ear.began == "1" && ear.ended.isEmpty)
    }

    @Test func dtm7ALostEndIsMadeGoodBySilence() {
        var ear = listener()
        ear.hear("1", 480, at: 1000, time: 100)
        #expect(ear.receiver.advance(to: 249_000_000) == nil)
        #expect(ear.receiver.advance(to: 250_000_000)?.key == DTMFKey("1"))
        #expect(ear.receiver.advance(to: 900_000_000) == nil)
    }

    @Test func dtm7SegmentsThatJoinExactlyAreOneKey() {
        var ear = listener()
        ear.hear("7", 64000, at: 1000)
        for _ in 0..<3 { ear.hear("7", 0xFFFF, at: 1000) }
        ear.hear("7", 500, at: 1000 + 0xFFFF)
        ear.hear("7", 0xFFFF, at: 1000)
        ear.hear("7", 900, at: 1000 + 0xFFFF, end: true)
        #expect(ear.began == "7" && ear.endedKeys == "7")
        #expect(ear.ended[0].duration == 0xFFFF + 900 && ear.ended[0].timestamp == RTPTimestamp(1000))
    }

    @Test func reorderedUpdatesNeitherShortenNorRepeatAKey() {
        var ear = listener()
        ear.hear("3", 480, at: 1000)
        ear.hear("3", 160, at: 1000)
        ear.hear("3", 640, at: 1000, end: true)
        ear.hear("4", 160, at: 2600)
        ear.hear("3", 640, at: 1000, end: true)
        ear.hear("4", 640, at: 2600, end: true)
        #expect(ear.began == "34" && ear.endedKeys == "34" && ear.ended[0].duration == 640)
    }

    @Test func timestampsMayWrapBetweenKeys() {
        var ear = listener()
        ear.hear("1", 640, at: 0xFFFF_FF00, end: true)
        ear.hear("1", 640, at: 0x0000_0900, end: true)
        #expect(ear.began == "11")
    }

    @Test func h26LengthsCarryOverBetweenClocks() {
        var ear = listener(48000)
        for (index, (key, length)) in [("4", 1920), ("4", 4800), ("2", 2880)].enumerated() {
            ear.hear(Character(key), length, at: UInt32(index * 7680), end: true)
        }
        #expect(ear.endedKeys == "442")
        #expect(ear.ended.map(\.milliseconds) == [40, 100, 60])
    }

    @Test func eventsThatAreNoKeysChangeNothing() {
        var receiver = TelephoneEventReceiver(clockRate: 8000)
        let fax = TelephoneEvent(event: 36, isEnd: false, duration: 100)
        #expect(receiver.receive(fax, ssrc: source, timestamp: RTPTimestamp(1), arrival: 0).isEmpty)
    }

    @Test func theFourBytesReadAndWrite() throws {
        var bytes = [UInt8](repeating: 0, count: 5)
        var storage = bytes.mutableSpan
        try TelephoneEvent(event: 11, isEnd: true, volume: 10, duration: 0x1234).write(into: &storage, at: 1)
        #expect(bytes == [0, 11, 0x8A, 0x12, 0x34])
        #expect(event(bytes, at: 1) == TelephoneEvent(event: 11, isEnd: true, duration: 0x1234))
        #expect(event(bytes, at: 2) == nil)
        #expect(event([1, 0xC0, 0, 1])?.volume == 0)
    }

    @Test func keysAndCharactersMatch() {
        let all = "0123456789*#ABCD!"
        #expect(String(all.compactMap { DTMFKey($0)?.character }) == all)
        #expect(all.compactMap { DTMFKey($0)?.event } == Array(0...16))
        #expect(DTMFKey(event: 17) == nil && DTMFKey("x") == nil && DTMFKey("\u{0663}") == nil)
    }
}
