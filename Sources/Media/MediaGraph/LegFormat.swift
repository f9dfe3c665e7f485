public import RTP

/// A coding of sound that a leg can carry.
public enum AudioCoding: UInt8, Sendable, Hashable {
    /// Opus on a clock of 48 000 whatever its bandwidth (RFC 7587, 4.1).
    case opus
    /// G.711 mu-law, 8 000.
    case pcmu
    /// G.711 A-law, 8 000.
    case pcma

    /// RTP timestamp units a second.
    public var clockRate: Int { self == .opus ? 48_000 : 8_000 }
    /// RTP timestamp units in one sample of the 8 kHz line.
    var unitsPerLineSample: Int { self == .opus ? 6 : 1 }
}

/// A coding under its payload number.
public struct PayloadFormat: Sendable, Hashable {
    /// The number on the wire.
    public var payloadType: PayloadType
    /// What it stands for.
    public var coding: AudioCoding

    /// A coding under the number that was negotiated for it.
    public init(payloadType: PayloadType, coding: AudioCoding) {
        self.payloadType = payloadType
        self.coding = coding
    }

    /// G.711 mu-law under its static number.
    public static let pcmu = PayloadFormat(payloadType: .pcmu, coding: .pcmu)
    /// G.711 A-law under its static number.
    public static let pcma = PayloadFormat(payloadType: .pcma, coding: .pcma)
}

/// Telephone events under one payload number, with that number's own clock (RFC 4733; case H27).
public struct EventFormat: Sendable, Hashable {
    /// The number on the wire.
    public var payloadType: PayloadType
    /// Timestamp and duration units a second: 8 000 or 48 000.
    public var clockRate: Int

    /// Events under the number that was negotiated for them.
    public init(payloadType: PayloadType, clockRate: Int) {
        self.payloadType = payloadType
        self.clockRate = clockRate
    }
}

/// What one leg negotiated: how to read each payload number, and what to send.
public struct LegFormat: Sendable, Hashable {
    /// Every coding that may come; any of them at any packet (case H03).
    public var receive: [PayloadFormat]
    /// The coding we send.
    public var send: PayloadFormat
    /// Event numbers that may come; the first two are heard.
    public var receiveEvents: [EventFormat]
    /// Events we may send; nil if the peer takes none. Its clock must be that of `send`.
    public var sendEvents: EventFormat?
    /// The number of comfort noise, if agreed (RFC 3389).
    public var comfortNoise: PayloadType?
    /// Length of the packets we send, 10 to 60 ms in steps of 10; anything else becomes 20.
    public var packetMilliseconds: Int

    /// What an answer says.
    public init(
        receive: [PayloadFormat], send: PayloadFormat, receiveEvents: [EventFormat] = [], sendEvents: EventFormat? = nil,
        comfortNoise: PayloadType? = nil, packetMilliseconds: Int = 20
    ) {
        self.receive = receive
        self.send = send
        self.receiveEvents = receiveEvents
        self.sendEvents = sendEvents
        self.comfortNoise = comfortNoise
        self.packetMilliseconds = packetMilliseconds
    }

    /// A client leg of Opus with events at 48 kHz.
    public static func opus(
        payloadType: UInt8 = 111, eventPayloadType: UInt8? = 110, packetMilliseconds: Int = 20
    ) -> LegFormat {
        let format = PayloadFormat(payloadType: PayloadType(payloadType), coding: .opus)
        let events = eventPayloadType.map { EventFormat(payloadType: PayloadType($0), clockRate: 48_000) }
        return LegFormat(
            receive: [format], send: format, receiveEvents: events.map { [$0] } ?? [], sendEvents: events,
            packetMilliseconds: packetMilliseconds)
    }

    /// A trunk leg of G.711, both laws heard, with events at 8 kHz.
    public static func g711(
        send: PayloadFormat = .pcmu, eventPayloadType: UInt8? = 101, packetMilliseconds: Int = 20
    ) -> LegFormat {
        let events = eventPayloadType.map { EventFormat(payloadType: PayloadType($0), clockRate: 8_000) }
        return LegFormat(
            receive: [.pcmu, .pcma], send: send, receiveEvents: events.map { [$0] } ?? [], sendEvents: events,
            comfortNoise: .comfortNoise, packetMilliseconds: packetMilliseconds)
    }

    /// Line samples (8 kHz) in a packet that we send.
    var packetSamples: Int {
        let valid = [10, 20, 30, 40, 50, 60].contains(packetMilliseconds)
        // Opus knows no frame of 30 or 50 ms; two frames in one packet are not worth the trouble.
        let length = valid && !(send.coding == .opus && [30, 50].contains(packetMilliseconds)) ? packetMilliseconds : 20
        return length * LineUnits.perMillisecond
    }
}
