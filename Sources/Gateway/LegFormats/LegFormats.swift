public import MediaGraph
internal import RTP
public import SDP

/// What SDP settled, as the media graph reads it.
extension LegFormat {
    /// The client leg; nil if no coding is one that the graph knows.
    public init?(client audio: NegotiatedClientAudio) {
        let formats = audio.codecs.compactMap(PayloadFormat.init(negotiated:))
        guard let send = formats.first else { return nil }
        let events = audio.telephoneEvents
        self.init(
            receive: formats, send: send,
            receiveEvents: events.map { EventFormat(receiving: $0) },
            sendEvents: events.first { Int($0.clockRate) == send.coding.clockRate }.map { EventFormat(sending: $0) },
            packetMilliseconds: 20)
    }

    /// The trunk leg; nil if no coding is one that the graph knows.
    public init?(trunk audio: NegotiatedAudio) {
        let sending = audio.sendCodecs.compactMap(PayloadFormat.init(negotiated:))
        guard let send = sending.first else { return nil }
        self.init(
            receive: audio.receiveCodecs.compactMap(PayloadFormat.init(negotiated:)), send: send,
            receiveEvents: audio.telephoneEvents.map { EventFormat(receiving: $0) },
            sendEvents: audio.telephoneEvents.first { Int($0.clockRate) == send.coding.clockRate }
                .map { EventFormat(sending: $0) },
            comfortNoise: audio.comfortNoise.map { PayloadType($0) }, packetMilliseconds: audio.packetTime)
    }
}

extension PayloadFormat {
    fileprivate init?(negotiated codec: NegotiatedCodec) {
        let coding: AudioCoding
        switch codec.codec {
        case .opus: coding = .opus
        case .pcmu: coding = .pcmu
        case .pcma: coding = .pcma
        default: return nil
        }
        self.init(payloadType: PayloadType(codec.payloadType), coding: coding)
    }
}

extension EventFormat {
    fileprivate init(receiving format: TelephoneEventFormat) {
        self.init(payloadType: PayloadType(format.receivePayloadType), clockRate: Int(format.clockRate))
    }

    fileprivate init(sending format: TelephoneEventFormat) {
        self.init(payloadType: PayloadType(format.sendPayloadType), clockRate: Int(format.clockRate))
    }
}
