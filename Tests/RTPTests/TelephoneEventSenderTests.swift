import RTP
import Testing

@Suite struct TelephoneEventSenderTests {
    private struct Sent {
        var slot: Int
        var packet: TelephoneEventPacket
    }

    /// Runs the stream for a number of packet times and lists what took audio's place.
    private func run(
        _ sender: inout TelephoneEventSender, slots: Int, interval: Int = 160, from start: UInt32 = 0
    ) -> [Sent] {
        (0..<slots).compactMap { slot in
            let timestamp = RTPTimestamp(start).advanced(by: slot * interval)
            return sender.nextPacket(at: timestamp, interval: interval).map { Sent(slot: slot, packet: $0) }
        }
    }

    private func keys(_ sent: [Sent]) -> String {
        String(sent.filter(\.packet.marker).compactMap { DTMFKey(event: $0.packet.event.event)?.character })
    }

    @Test func h25AKeyIsWellFormed() throws {
        var sender = TelephoneEventSender(clockRate: 8000)
        try sender.enqueue("1#")
        let sent = run(&sender, slots: 30, from: 0xFFFF_FF00)
        let first = sent.prefix(7)
        #expect(first.map(\.slot) == Array(0..<7))
        #expect(first.map(\.packet.marker) == [true] + Array(repeating: false, count: 6))
        #expect(first.allSatisfy { $0.packet.timestamp == RTPTimestamp(0xFFFF_FF00) && $0.packet.event.event == 1 })
        #expect(first.map(\.packet.event.duration) == [160, 320, 480, 640, 800, 800, 800])
        #expect(first.map(\.packet.event.isEnd) == [false, false, false, false, true, true, true])
        // The tone ends after packet 4; 70 ms later is within packet 8; so the next key begins with packet 9.
        let second = sent.dropFirst(7)
        #expect(second.first?.slot == 9)
        #expect(second.first?.packet.timestamp == RTPTimestamp(0xFFFF_FF00).advanced(by: 9 * 160))
        #expect(keys(sent) == "1#" && sender.isIdle)
    }

    @Test func h25BothKeysArriveThroughLoss() throws {
        for lostPacket in 0..<14 {
            var sender = TelephoneEventSender(clockRate: 8000)
            try sender.enqueue("1#")
            var receiver = TelephoneEventReceiver(clockRate: 8000)
            var heard = ""
            for (index, sent) in run(&sender, slots: 30).enumerated() where index != lostPacket {
                let change = receiver.receive(
                    sent.packet.event, ssrc: SSRC(1), timestamp: sent.packet.timestamp, arrival: Int64(index))
                if let key = change.began { heard.append(key.character) }
            }
            #expect(heard == "1#")
        }
    }

    @Test(arguments: [80, 160, 240, 320, 480])
    func dtm4TheLengthIsExactAtAnyPacketTime(interval: Int) {
        var sender = TelephoneEventSender(clockRate: 8000)
        guard let key = DTMFKey("5") else { return }
        let taken = sender.enqueue(key, milliseconds: 100)
        #expect(taken)
        let sent = run(&sender, slots: 40, interval: interval)
        #expect(sent.filter(\.packet.event.isEnd).count == 3)
        #expect(sent.last?.packet.event.duration == 800)
    }

    @Test func h29ShortKeysAreLengthenedInOrderWithTheirGaps() throws {
        var sender = TelephoneEventSender(clockRate: 8000, minimumToneMilliseconds: 80, gapMilliseconds: 40)
        try sender.enqueue("12345678901", milliseconds: 40)
        let sent = run(&sender, slots: 200)
        #expect(keys(sent) == "12345678901")
        let ends = sent.filter(\.packet.event.isEnd)
        #expect(ends.count == 33 && ends.allSatisfy { $0.packet.event.duration == 640 })
        let starts = sent.filter(\.packet.marker).map { Int($0.packet.timestamp.rawValue) }
        for (one, next) in zip(starts, starts.dropFirst()) { #expect(next - one - 640 >= 320) }
    }

    @Test func h26TheSenderWorksOnTheClientsClockToo() throws {
        var sender = TelephoneEventSender(clockRate: 48000)
        try sender.enqueue("9")
        let sent = run(&sender, slots: 20, interval: 960)
        #expect(sent.map(\.packet.event.duration) == [960, 1920, 2880, 3840, 4800, 4800, 4800])
    }

    @Test func dtm6ALongKeyIsSentInSegments() {
        var sender = TelephoneEventSender(clockRate: 48000)
        guard let key = DTMFKey("0") else { return }
        let taken = sender.enqueue(key, milliseconds: 3000)
        #expect(taken)
        let sent = run(&sender, slots: 200, interval: 960, from: 5)
        #expect(sent.filter(\.packet.marker).count == 1)
        let full = sent.filter { $0.packet.event.duration == 0xFFFF }
        #expect(full.count == 6 && full.allSatisfy { !$0.packet.event.isEnd })
        let segments: Set<UInt32> = [5, 5 + 0xFFFF, 5 + 2 * 0xFFFF]
        #expect(Set(sent.map(\.packet.timestamp.rawValue)) == segments)
        #expect(sent.last?.packet.event.isEnd == true)
        #expect(Int(sent.last?.packet.event.duration ?? 0) == 144_000 - 2 * 0xFFFF)
        var receiver = TelephoneEventReceiver(clockRate: 48000)
        var began = 0
        var ended: [ReceivedKey] = []
        for item in sent {
            let change = receiver.receive(item.packet.event, ssrc: SSRC(1), timestamp: item.packet.timestamp, arrival: 0)
            began += change.began == nil ? 0 : 1
            if let key = change.ended { ended.append(key) }
        }
        #expect(began == 1 && ended.map(\.milliseconds) == [3000])
    }

    @Test func dtm12PausesHoldBackTheNextKey() throws {
        var sender = TelephoneEventSender(clockRate: 8000)
        try sender.enqueue("1p2,3")
        let slots = run(&sender, slots: 400).filter(\.packet.marker).map(\.slot)
        #expect(slots.count == 3)
        #expect((9 + 25...9 + 27).contains(slots[1]))
        #expect((slots[1] + 109...slots[1] + 111).contains(slots[2]))
    }

    @Test func aStringIsTakenWholeOrNotAtAll() {
        var sender = TelephoneEventSender(clockRate: 8000, capacity: 4)
        #expect(throws: DTMFStringError.badCharacter("x", index: 2)) { try sender.enqueue("12x") }
        #expect(throws: DTMFStringError.queueFull(capacity: 4)) { try sender.enqueue("12345") }
        #expect(sender.isIdle)
        #expect(throws: Never.self) { try sender.enqueue("1234") }
        #expect(sender.waiting == 4)
        sender.cancelWaiting()
        #expect(run(&sender, slots: 5).isEmpty)
    }

    @Test func aJumpOfTheStreamsLineDoesNotHoldKeysBack() throws {
        var sender = TelephoneEventSender(clockRate: 8000)
        try sender.enqueue("12")
        var markers = 0
        for slot in 0..<40 {
            let timestamp = RTPTimestamp(slot % 2 == 0 ? 0x8000_0000 : 5).advanced(by: slot * 160)
            if sender.nextPacket(at: timestamp, interval: 160)?.marker == true { markers += 1 }
        }
        #expect(markers == 2 && sender.isIdle)
    }
}
