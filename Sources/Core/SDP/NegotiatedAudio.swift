/// Why an offer or answer, though readable, gives no audio. At a SIP face all of these are 488 (OA-4).
public enum NegotiationError: Error, Sendable, Hashable {
    /// No audio m-line with a port.
    case noAudio
    /// Audio, but no codec in common; key events alone are no codec.
    case noCommonCodec
    /// No `c=` holds for the audio m-line.
    case missingConnection
    /// A profile this side of the gateway does not speak.
    case unsupportedProfile(String)
    /// The answer's m-lines do not match those of the offer.
    case mediaMismatch
    /// A client's description without `a=rtcp-mux`.
    case missingRTCPMux
    /// A client's description without a SHA-256 fingerprint.
    case missingFingerprint
    /// A client's description without ICE user fragment or password.
    case missingICECredentials
}

/// Where a peer takes RTP or RTCP: an address as written in SDP, and a UDP port.
public struct MediaEndpoint: Sendable, Hashable {
    /// An address literal or host name, as written.
    public var address: String
    /// A UDP port.
    public var port: UInt16

    /// An endpoint of an address and a port.
    public init(address: String, port: UInt16) {
        self.address = address
        self.port = port
    }
}

/// A codec with the payload type it has in one direction of one call.
public struct NegotiatedCodec: Sendable, Hashable {
    /// The codec.
    public var codec: AudioCodec
    /// 0...127.
    public var payloadType: UInt8

    /// A codec at a payload type.
    public init(codec: AudioCodec, payloadType: UInt8) {
        self.codec = codec
        self.payloadType = payloadType
    }
}

/// A telephone-event format (RFC 4733) agreed for one clock.
public struct TelephoneEventFormat: Sendable, Hashable {
    /// In Hz: 8000 or 48000.
    public var clockRate: UInt32
    /// What we put on our packets.
    public var sendPayloadType: UInt8
    /// What the peer puts on its packets.
    public var receivePayloadType: UInt8
    /// The events the peer takes, bit n for event n; 0...15 when it did not say (section 2.4.1).
    public var events: EventSet

    /// A format for one clock.
    public init(
        clockRate: UInt32, sendPayloadType: UInt8, receivePayloadType: UInt8, events: EventSet = .digits
    ) {
        self.clockRate = clockRate
        self.sendPayloadType = sendPayloadType
        self.receivePayloadType = receivePayloadType
        self.events = events
    }
}

/// A set of telephone events 0...31.
public struct EventSet: Sendable, Hashable {
    /// Bit n stands for event n.
    public var bits: UInt32

    /// A set by its bits.
    public init(bits: UInt32) { self.bits = bits }

    /// The sixteen keys: 0-9, *, #, A-D.
    public static let digits = EventSet(bits: 0xFFFF)

    /// Reads `0-15,16`; parts it cannot read or hold are left out, and an empty result means the keys.
    public init(parsing text: String) {
        bits = 0
        for part in text.split(separator: ",") {
            let ends = part.split(separator: "-").map { UInt32($0.trimmed) }
            guard let low = ends.first ?? nil, let high = ends.last ?? nil, low <= high, low < 32 else { continue }
            for event in low...min(high, 31) { bits |= 1 << event }
        }
        if bits == 0 { self = .digits }
    }

    /// Whether an event is in the set.
    public func contains(_ event: UInt8) -> Bool { event < 32 && bits & (1 << UInt32(event)) != 0 }

    /// The events that are in both sets.
    public func intersection(_ other: EventSet) -> EventSet { EventSet(bits: bits & other.bits) }

    /// The set as an fmtp value.
    public var text: String {
        var parts: [String] = []
        var event = 0
        while event < 32 {
            guard contains(UInt8(event)) else {
                event += 1
                continue
            }
            var last = event
            while last + 1 < 32, contains(UInt8(last + 1)) { last += 1 }
            parts.append(last > event ? "\(event)-\(last)" : "\(event)")
            event = last + 1
        }
        return parts.joined(separator: ",")
    }
}

/// What one exchange with a trunk settled about audio. Directions are seen from the gateway.
public struct NegotiatedAudio: Sendable, Hashable {
    /// Where our RTP goes; `nil` when the peer gave 0.0.0.0 or `::`, to which nothing may be sent (HLD-3).
    public var remote: MediaEndpoint?
    /// Where our RTCP goes: the peer's `a=rtcp`, or the port above its RTP (LAT-8).
    public var remoteRTCP: MediaEndpoint?
    /// What we may send; the first is the one to send. Payload types are the peer's.
    public var sendCodecs: [NegotiatedCodec]
    /// What may arrive, in any packet (OA-3). Payload types are ours.
    public var receiveCodecs: [NegotiatedCodec]
    /// Agreed key events, one for each clock; empty when the peer takes none.
    public var telephoneEvents: [TelephoneEventFormat]
    /// The payload type of comfort noise (RFC 3389, 8000 Hz), when both sides named it.
    public var comfortNoise: UInt8?
    /// How much audio the peer wants in each packet we send: 10...60 ms.
    public var packetTime: Int
    /// Whether we send and receive.
    public var direction: MediaDirection
    /// Whether the peer has put us on hold: by `sendonly`, `inactive`, or the address 0.0.0.0.
    public var isHeldByPeer: Bool

    /// The key events on the clock of the codec being sent.
    public var telephoneEvent: TelephoneEventFormat? {
        let clock = sendCodecs.first?.codec.clockRate ?? 8000
        return telephoneEvents.first { $0.clockRate == clock }
    }
}

/// What one exchange with an app client settled about its audio. Directions are seen from the gateway.
public struct NegotiatedClientAudio: Sendable, Hashable {
    /// Common codecs, the chosen one first; Opus when the client has it. The same payload types hold both ways.
    public var codecs: [NegotiatedCodec]
    /// What the client asks of our Opus stream.
    public var opus: OpusHints
    /// Agreed key events, one for each clock the client offered; each is read by its own clock (case H27).
    public var telephoneEvents: [TelephoneEventFormat]
    /// What the client wants in each packet, in ms; 20 when it did not say.
    public var packetTime: Int
    /// `a=maxptime` in ms.
    public var maximumPacketTime: Int?
    /// The m-line's identification; `nil` when the client gives none.
    public var mid: String?
    /// The client's ICE user fragment.
    public var iceUfrag: String
    /// The client's ICE password.
    public var icePwd: String
    /// As written, without `candidate:` in front; often empty, as these clients do not gather first.
    public var candidates: [String]
    /// SHA-256 only; the client's certificate must match one.
    public var fingerprints: [Fingerprint]
    /// Our DTLS role: `active` (we send the ClientHello) or `passive`.
    public var localSetup: DTLSSetup
    /// Whether we send and receive.
    public var direction: MediaDirection
    /// Whether the client is an ICE-lite agent.
    public var remoteIsICELite: Bool
    /// Which m-line of the description is the audio.
    public var mediaIndex: Int

    /// The codec to send.
    public var chosen: NegotiatedCodec? { codecs.first }

    /// The payload type of Opus, if agreed.
    public var opusPayloadType: UInt8? { codecs.first { $0.codec == .opus }?.payloadType }

    /// The payload type of a codec, if agreed.
    public func payloadType(of codec: AudioCodec) -> UInt8? { codecs.first { $0.codec == codec }?.payloadType }

    /// The payload type of key events on a clock in Hz, if agreed.
    public func telephoneEvent(clockRate: UInt32) -> UInt8? {
        telephoneEvents.first { $0.clockRate == clockRate }?.sendPayloadType
    }
}
