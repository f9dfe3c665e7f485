import RTP

/// The sending half of a leg, the same for client and trunk: one SSRC whose sequence and timestamp only move forward
/// (case H47), telephone events in the place of sound, and the counters of a sender report.
struct RTPSender {
    let ssrc: SSRC
    private(set) var packets = 0
    private(set) var octets = 0
    private(set) var keysSent = 0
    private(set) var timestamp: RTPTimestamp
    private(set) var lastSent = MediaTime(nanoseconds: 0)
    private var sequence: SequenceNumber
    private var markerIsDue = true
    private var format: PayloadFormat
    private var eventType: PayloadType?
    private var events: TelephoneEventSender

    init(format: LegFormat, keys: KeySettings, using random: inout SplitMix) {
        ssrc = SSRC(UInt32(truncatingIfNeeded: random.next()))
        sequence = SequenceNumber(UInt16(truncatingIfNeeded: random.next() & 0x7FFF))
        timestamp = RTPTimestamp(UInt32(truncatingIfNeeded: random.next()))
        self.format = format.send
        eventType = format.sendEvents?.payloadType
        events = TelephoneEventSender(
            clockRate: format.send.coding.clockRate, minimumToneMilliseconds: keys.minimumMilliseconds,
            gapMilliseconds: keys.gapMilliseconds)
    }

    /// Takes up a renegotiated coding. Source and sequence go on; a coding with another clock begins a talk spurt.
    mutating func adopt(_ newFormat: LegFormat, keys: KeySettings) {
        if newFormat.send.coding.clockRate != format.coding.clockRate {
            events = TelephoneEventSender(
                clockRate: newFormat.send.coding.clockRate, minimumToneMilliseconds: keys.minimumMilliseconds,
                gapMilliseconds: keys.gapMilliseconds)
            markerIsDue = true
        }
        format = newFormat.send
        eventType = newFormat.sendEvents?.payloadType
    }

    var coding: AudioCoding { format.coding }
    /// Whether the peer takes telephone events.
    var sendsKeys: Bool { eventType != nil }
    var isKeyPlaying: Bool { !events.isIdle }

    mutating func enqueue(_ key: DTMFKey, milliseconds: Int) -> Bool {
        guard sendsKeys, events.enqueue(key, milliseconds: milliseconds) else { return false }
        keysSent += 1
        return true
    }

    mutating func enqueue(_ digits: String, milliseconds: Int) throws(DTMFStringError) {
        try events.enqueue(digits, milliseconds: milliseconds)
        for digit in digits where DTMFKey(digit) != nil { keysSent += 1 }
    }

    /// The key packet that is due in this place of the stream, written whole into `datagram`; 0 if sound is due.
    mutating func writeKey(samples: Int, into datagram: inout MutableSpan<UInt8>, at now: MediaTime) -> Int {
        guard let eventType, !events.isIdle else { return 0 }
        let units = samples * format.coding.unitsPerLineSample
        guard let packet = events.nextPacket(at: timestamp, interval: units) else { return 0 }
        let header = RTPHeader(
            marker: packet.marker, payloadType: eventType, sequenceNumber: sequence, timestamp: packet.timestamp,
            ssrc: ssrc)
        do {
            let start = try RTPWriter.write(header, into: &datagram)
            try packet.event.write(into: &datagram, at: start)
        } catch { return 0 }
        count(TelephoneEvent.length, units, at: now)
        return RTPHeader.fixedLength + TelephoneEvent.length
    }

    /// Writes the header of a packet of `samples` line samples and moves on; the payload lies at byte 12.
    /// - Returns: the packet's length.
    mutating func writeAudioHeader(
        payloadLength: Int, samples: Int, into datagram: inout MutableSpan<UInt8>, at now: MediaTime
    ) -> Int {
        let header = RTPHeader(
            marker: markerIsDue, payloadType: format.payloadType, sequenceNumber: sequence, timestamp: timestamp,
            ssrc: ssrc)
        do { try RTPWriter.write(header, into: &datagram) } catch { return 0 }
        markerIsDue = false
        count(payloadLength, samples * format.coding.unitsPerLineSample, at: now)
        return RTPHeader.fixedLength + payloadLength
    }

    /// Lets `samples` line samples of the stream pass without a packet: a real gap moves the timestamp, and the next packet
    /// is marked (case H12).
    mutating func skip(samples: Int) {
        timestamp = timestamp.advanced(by: samples * format.coding.unitsPerLineSample)
        markerIsDue = true
    }

    /// What a sender report says now.
    func senderInfo(ntp: NTPTimestamp) -> SenderInfo {
        SenderInfo(
            ntp: ntp, rtpTimestamp: timestamp, packetCount: UInt32(truncatingIfNeeded: packets),
            octetCount: UInt32(truncatingIfNeeded: octets))
    }

    private mutating func count(_ payload: Int, _ units: Int, at now: MediaTime) {
        sequence = sequence.next
        timestamp = timestamp.advanced(by: units)
        packets += 1
        octets += payload
        lastSent = now
    }
}
