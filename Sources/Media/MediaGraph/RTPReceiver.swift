import RTP

/// The receiving half of a leg, the same for client and trunk: tells what each datagram is, keeps the leg's statistics and
/// takes telephone events out of the stream.
struct RTPReceiver {
    /// One packet of sound.
    struct Audio {
        var coding: AudioCoding
        /// Bytes of the payload in the datagram.
        var payload: Range<Int>
        /// Extended sequence number.
        var place: Int64
        var timestamp: RTPTimestamp
        var ssrc: SSRC
        var marker: Bool
        /// First packet of a source or of a stream taken anew (RTP-6): forget what came before.
        var isNewStream: Bool
    }

    enum Content {
        case audio(Audio)
        /// Comfort noise (RFC 3389) and its level as a drop below full scale, in dB.
        case comfortNoise(level: UInt8, place: Int64)
        /// A telephone event; `place` is its sequence number's.
        case key(KeyChange, place: Int64)
        case dropped
    }

    private enum Meaning {
        case unknown
        case audio(AudioCoding)
        case event(Int)
        case comfortNoise
    }

    var statistics = ReceptionStatistics(clockRate: 8000)
    /// Datagrams that were no RTP, or of a payload number that was not agreed (RTP-7).
    private(set) var malformed = 0
    private(set) var unknownPayloads = 0
    private(set) var octets = 0
    private(set) var keysHeard = 0
    private var meanings: [Meaning] = Array(repeating: .unknown, count: 128)
    private var eventReceivers = (TelephoneEventReceiver(clockRate: 8000), TelephoneEventReceiver(clockRate: 48_000))
    private var newStreamIsPending = false

    init(format: LegFormat?) {
        if let format { adopt(format) }
    }

    /// Takes up what was (re)negotiated. The stream goes on; only the meaning of payload numbers changes.
    mutating func adopt(_ format: LegFormat) {
        for index in 0..<128 { meanings[index] = .unknown }
        if let number = format.comfortNoise { meanings[Int(number.rawValue)] = .comfortNoise }
        for (index, event) in format.receiveEvents.prefix(2).enumerated() {
            meanings[Int(event.payloadType.rawValue)] = .event(index)
            let receiver = TelephoneEventReceiver(clockRate: event.clockRate)
            if index == 0 { eventReceivers.0 = receiver } else { eventReceivers.1 = receiver }
        }
        for item in format.receive { meanings[Int(item.payloadType.rawValue)] = .audio(item.coding) }
    }

    /// Whether a payload number has a meaning here.
    func isAgreed(_ number: UInt8) -> Bool {
        if case .unknown = meanings[Int(number & 0x7F)] { return false }
        return true
    }

    /// Forgets the source: the next packet starts one. For a new media address.
    mutating func expectNewSource() { statistics.reset() }

    mutating func receive(_ datagram: Span<UInt8>, at now: MediaTime) -> Content {
        let header: RTPHeader
        do {
            header = try RTPHeader.parse(datagram)
        } catch {
            malformed += 1
            return .dropped
        }
        let meaning = meanings[Int(header.payloadType.rawValue)]
        if case .unknown = meaning {
            unknownPayloads += 1
            return .dropped
        }
        if case .audio(let coding) = meaning, coding.clockRate != statistics.clockRate {
            statistics.clockRate = coding.clockRate
        }
        guard let place = file(header, meaning, at: now) else { return .dropped }
        octets += header.payloadRange.count
        switch meaning {
        case .unknown: return .dropped
        case .comfortNoise:
            let level = header.payloadRange.isEmpty ? 127 : datagram[header.payloadRange.lowerBound] & 0x7F
            return .comfortNoise(level: level, place: place)
        case .event(let index): return key(datagram, header, index, place, at: now)
        case .audio(let coding):
            guard !header.payloadRange.isEmpty else { return .dropped }
            let isNew = newStreamIsPending
            newStreamIsPending = false
            return .audio(
                Audio(
                    coding: coding, payload: header.payloadRange, place: place, timestamp: header.timestamp,
                    ssrc: header.ssrc, marker: header.marker, isNewStream: isNew))
        }
    }

    /// A key whose end was lost, ended by sound that is clearly later (DTM-7).
    mutating func keyEnded(by audio: Audio) -> ReceivedKey? {
        eventReceivers.0.receiveAudio(ssrc: audio.ssrc, timestamp: audio.timestamp)
            ?? eventReceivers.1.receiveAudio(ssrc: audio.ssrc, timestamp: audio.timestamp)
    }

    /// A key whose end was lost, ended by time.
    mutating func keyEnded(at now: MediaTime) -> ReceivedKey? {
        eventReceivers.0.advance(to: now.nanoseconds) ?? eventReceivers.1.advance(to: now.nanoseconds)
    }

    /// Whether a key is held down: the sound is absent, not lost.
    var isKeyDown: Bool { eventReceivers.0.keyDown != nil || eventReceivers.1.keyDown != nil }

    private mutating func file(_ header: RTPHeader, _ meaning: Meaning, at now: MediaTime) -> Int64? {
        var measures = false
        if case .audio = meaning { measures = true }
        let arrival = statistics.receive(
            ssrc: header.ssrc, sequenceNumber: header.sequenceNumber, timestamp: header.timestamp,
            arrival: now.nanoseconds, measuresJitter: measures)
        switch arrival {
        case .started(let place):
            newStreamIsPending = true
            return place
        case .inOrder(let place), .reordered(let place): return place
        case .duplicate, .onProbation: return nil
        }
    }

    private mutating func key(
        _ datagram: Span<UInt8>, _ header: RTPHeader, _ index: Int, _ place: Int64, at now: MediaTime
    ) -> Content {
        guard
            let event = TelephoneEvent.parse(datagram, at: header.payloadRange.lowerBound), header.payloadRange.count >= 4
        else {
            malformed += 1
            return .dropped
        }
        let change: KeyChange
        if index == 0 {
            change = eventReceivers.0.receive(
                event, ssrc: header.ssrc, timestamp: header.timestamp, arrival: now.nanoseconds)
        } else {
            change = eventReceivers.1.receive(
                event, ssrc: header.ssrc, timestamp: header.timestamp, arrival: now.nanoseconds)
        }
        if change.began != nil { keysHeard += 1 }
        return .key(change, place: place)
    }
}
