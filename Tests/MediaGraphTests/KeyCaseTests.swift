import Audio
import MediaGraph
import RTP
import Testing

@Suite struct KeyCaseTests {
    func event(_ key: UInt8, end: Bool, _ duration: Int) -> [UInt8] {
        [key, (end ? 0x80 : 0) | 10, UInt8(duration >> 8), UInt8(duration & 0xFF)]
    }

    func keys(_ events: [BridgeEvent], of leg: BridgeEvent.Leg) -> String {
        String(events.compactMap { if case .key(leg, let key) = $0 { key.character } else { nil } })
    }

    /// Key packets sent to the trunk, one list per key.
    func sentKeys(_ packets: [HandFedBridge.Sent]) -> [[HandFedBridge.Sent]] {
        let events = packets.filter { $0.header.payloadType.rawValue == 101 }
        var groups: [[HandFedBridge.Sent]] = []
        for packet in events {
            if let last = groups.last?.first, last.header.timestamp == packet.header.timestamp {
                groups[groups.count - 1].append(packet)
            } else {
                groups.append([packet])
            }
        }
        return groups
    }

    @Test(arguments: [true, false])
    func aKeyIsATimestampAndTheMarkerAHint_H24(marker: Bool) throws {
        let fed = try HandFedBridge()
        for (index, duration) in [160, 320, 480, 640, 640, 640].enumerated() {
            fed.feedTrunk(
                event(5, end: index >= 3, duration), type: 101, sequence: index, timestamp: 8000, marker: marker)
            fed.run(milliseconds: 20)
        }
        #expect(keys(fed.events, of: .trunk) == "5")
        #expect(fed.bridge.statistics.read().trunk.keysReceived == 1)
    }

    @Test func sentKeysAreWellFormed_H25() throws {
        let fed = try HandFedBridge()
        fed.run(milliseconds: 100)
        try fed.bridge.sendKeys("1#")
        fed.run(milliseconds: 800)
        let groups = sentKeys(fed.toTrunk)
        #expect(groups.count == 2)
        for group in groups {
            #expect(group.map(\.header.marker) == [true] + Array(repeating: false, count: group.count - 1))
            let payloads = group.compactMap { TelephoneEvent.parse($0.payload.span) }
            #expect(payloads.suffix(3).allSatisfy { $0.isEnd && $0.duration == 800 })
            #expect(payloads.dropLast(3).map(\.duration) == [160, 320, 480, 640])
        }
        #expect(isEvenSequence(fed.toTrunk))
        let gap = groups[0][0].header.timestamp.distance(to: groups[1][0].header.timestamp)
        #expect(gap >= 800 + 320)
    }

    @Test func eventClocksAreScaledAndKeysStayApart_H26() throws {
        var client = LegFormat.opus()
        client.receiveEvents = [EventFormat(payloadType: PayloadType(110), clockRate: 48_000)]
        let fed = try HandFedBridge(client: client)
        var sequence = 0
        var timestamp = 0
        for (key, length) in [(UInt8(4), 1920), (4, 4800), (2, 4800)] {
            for duration in [960, 1920, length, length, length] {
                fed.feedClient(
                    event(key, end: duration == length, duration), type: 110, sequence: sequence, timestamp: timestamp)
                sequence += 1
                fed.run(milliseconds: 20)
                if duration == length, duration == 1920 { break }
            }
            fed.run(milliseconds: 60)
            timestamp += length + 2880
        }
        fed.run(milliseconds: 1000)
        let groups = sentKeys(fed.toTrunk)
        let ends = groups.compactMap { $0.last }.compactMap { TelephoneEvent.parse($0.payload.span) }
        #expect(ends.map(\.event) == [4, 4, 2])
        // The first was 40 ms long: lengthened to the least length.
        #expect(ends.map(\.duration) == [640, 800, 800])
        #expect(keys(fed.events, of: .client) == "442")
    }

    @Test func bothEventClocksOfAnOfferAreHonoured_H27() throws {
        let fed = try HandFedBridge()
        for (index, type) in [UInt8(101), 110].enumerated() {
            let scale = type == 110 ? 6 : 1
            for step in 1...4 {
                fed.feedClient(
                    event(UInt8(7 + index), end: step == 4, step * 160 * scale), type: type, sequence: index * 10 + step,
                    timestamp: 100_000 * (index + 1))
                fed.run(milliseconds: 20)
            }
            fed.run(milliseconds: 400)
        }
        let ends = sentKeys(fed.toTrunk).compactMap { $0.last }.compactMap { TelephoneEvent.parse($0.payload.span) }
        #expect(ends.map(\.event) == [7, 8])
        #expect(ends.map(\.duration) == [640, 640])
    }

    @Test func elevenShortKeysArriveLengthenedAndInOrder_H29() throws {
        let fed = try HandFedBridge()
        let keys: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
        for (index, key) in keys.enumerated() {
            fed.feedClient(event(key, end: false, 160), type: 101, sequence: index * 2, timestamp: 1000 + index * 640)
            fed.run(milliseconds: 20)
            fed.feedClient(event(key, end: true, 320), type: 101, sequence: index * 2 + 1, timestamp: 1000 + index * 640)
            fed.run(milliseconds: 60)
        }
        fed.run(milliseconds: 3000)
        let ends = sentKeys(fed.toTrunk).compactMap { $0.last }.compactMap { TelephoneEvent.parse($0.payload.span) }
        #expect(ends.map(\.event) == keys)
        #expect(ends.allSatisfy { $0.duration >= 640 })
    }

    @Test func theTrunksKeysAreRelayedToTheClientOnItsOwnClock() throws {
        let fed = try HandFedBridge(client: .opus())
        for step in 1...5 {
            fed.feedTrunk(event(3, end: step == 5, step * 160), type: 101, sequence: step, timestamp: 8000)
            fed.run(milliseconds: 20)
        }
        fed.run(milliseconds: 500)
        let packets = fed.toClient.filter { $0.header.payloadType.rawValue == 110 }
        #expect(packets.last.flatMap { TelephoneEvent.parse($0.payload.span) }?.duration == 4800)
        #expect(keys(fed.events, of: .trunk) == "3")
    }

    func isEvenSequence(_ packets: [HandFedBridge.Sent]) -> Bool {
        zip(packets, packets.dropFirst()).allSatisfy {
            $0.header.sequenceNumber.distance(to: $1.header.sequenceNumber) == 1
        }
    }
}
