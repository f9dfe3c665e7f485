import RTP

/// One entry per parser: any bytes in, nothing out. A fuzz driver calls these; a trap or a hang is the finding.
enum FuzzTarget: CaseIterable {
    case rtpHeader, rtcp, reducedSizeRTCP, telephoneEvents, statistics, packetKind

    func run(_ bytes: [UInt8]) {
        switch self {
        case .rtpHeader: Self.runHeader(bytes)
        case .rtcp: Self.runRTCP(bytes, allowsReducedSize: false)
        case .reducedSizeRTCP: Self.runRTCP(bytes, allowsReducedSize: true)
        case .telephoneEvents: Self.runEvents(bytes)
        case .statistics: Self.runStatistics(bytes)
        case .packetKind: _ = PacketKind.classify(bytes.span)
        }
    }

    private static func runHeader(_ bytes: [UInt8]) {
        guard let header = try? RTPHeader.parse(bytes.span) else { return }
        precondition(header.payloadRange.upperBound <= bytes.count && header.payloadRange.lowerBound >= 12)
        precondition(header.extensionRange.upperBound <= header.payloadRange.lowerBound)
        var copy = [UInt8](repeating: 0, count: bytes.count)
        var storage = copy.mutableSpan
        let payload = Array(bytes[header.payloadRange])
        guard let length = try? RTPWriter.write(header, payload: payload.span, into: &storage) else { return }
        let again = try? RTPHeader.parse(Array(copy[..<length]).span)
        precondition(again?.timestamp == header.timestamp && again?.payloadRange.count == payload.count)
    }

    private static func runRTCP(_ bytes: [UInt8], allowsReducedSize: Bool) {
        var visited = 0
        do {
            try RTCPReader.read(bytes.span, allowsReducedSize: allowsReducedSize) { item in
                visited += 1
                guard case .canonicalName(_, let range) = item else { return }
                precondition(range.upperBound <= bytes.count)
            }
        } catch {
            precondition(visited == 0)
        }
        precondition(visited <= bytes.count)
    }

    /// Eight bytes a step: timestamp and payload. Whatever comes, no key ends more often than it began.
    private static func runEvents(_ bytes: [UInt8]) {
        var receiver = TelephoneEventReceiver(clockRate: 8000)
        var open = 0
        for start in stride(from: 0, to: bytes.count - 7, by: 8) {
            let timestamp = RTPTimestamp(word(bytes, start))
            let arrival = Int64(start) * 2_000_000
            guard let event = TelephoneEvent.parse(bytes.span, at: start + 4) else { continue }
            let change = receiver.receive(
                event, ssrc: SSRC(UInt32(event.volume / 32)), timestamp: timestamp, arrival: arrival)
            open += (change.began == nil ? 0 : 1) - (change.ended == nil ? 0 : 1) - (change.interrupted == nil ? 0 : 1)
            open -= receiver.receiveAudio(ssrc: SSRC(0), timestamp: timestamp.advanced(by: 400)) == nil ? 0 : 1
            open -= receiver.advance(to: arrival) == nil ? 0 : 1
            precondition(open == (receiver.keyDown == nil ? 0 : 1))
        }
    }

    /// Twelve bytes a step: source and sequence number, timestamp, arrival.
    private static func runStatistics(_ bytes: [UInt8]) {
        var statistics = ReceptionStatistics(clockRate: 48000)
        var sequences = SequenceUnwrapper()
        var timestamps = TimestampUnwrapper()
        for start in stride(from: 0, to: bytes.count - 11, by: 12) {
            let first = word(bytes, start)
            let number = SequenceNumber(UInt16(truncatingIfNeeded: first))
            let timestamp = RTPTimestamp(word(bytes, start + 4))
            let arrival = Int64(bitPattern: UInt64(word(bytes, start + 8)) << 32 | UInt64(first))
            _ = statistics.receive(
                ssrc: SSRC(first >> 31), sequenceNumber: number, timestamp: timestamp, arrival: arrival)
            statistics.receiveSenderReport(
                from: SSRC(first >> 31), ntp: NTPTimestamp(unixNanoseconds: arrival), arrival: arrival)
            _ = statistics.takeReportBlock(now: Int64(bitPattern: UInt64(first) << 33))
            precondition(UInt16(truncatingIfNeeded: sequences.unwrap(number)) == number.rawValue)
            _ = timestamps.unwrap(timestamp)
        }
    }

    private static func word(_ bytes: [UInt8], _ start: Int) -> UInt32 {
        bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
