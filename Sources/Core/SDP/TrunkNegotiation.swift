/// What the gateway can do on one trunk leg.
public struct TrunkAudio: Sendable, Hashable {
    /// The codecs to offer or accept, favourite first.
    public var codecs: [AudioCodec]
    /// Our media address, as it shall stand in `c=`.
    public var address: String
    /// Our RTP port; RTCP is the port above.
    public var port: UInt16
    /// The audio we ask to get in each packet, in ms.
    public var packetTime: Int
    /// Whether key events are offered and accepted.
    public var telephoneEvents: Bool
    /// Whether comfort noise (payload type 13) is offered and accepted.
    public var comfortNoise: Bool

    /// A trunk leg at `address` and `port`.
    public init(
        codecs: [AudioCodec] = [.pcma, .pcmu], address: String, port: UInt16, packetTime: Int = 20,
        telephoneEvents: Bool = true, comfortNoise: Bool = false
    ) {
        self.codecs = codecs
        self.address = address
        self.port = port
        self.packetTime = packetTime
        self.telephoneEvents = telephoneEvents
        self.comfortNoise = comfortNoise
    }
}

/// The offers and answers of one dialog with a trunk, ours and theirs, in the order they happen.
///
/// It keeps what later exchanges depend on: the session id, the version that rises only with a change, the number and
/// order of m-lines, the dynamic payload types once agreed (RFC 3264 section 8), and whether we hold the peer.
public struct TrunkNegotiation: Sendable {
    /// What was given at the start.
    public private(set) var local: TrunkAudio
    /// The outcome of the last complete exchange.
    public private(set) var negotiated: NegotiatedAudio?
    /// What we want of the call: `sendrecv`, or `sendonly`/`inactive` while we hold the peer.
    public private(set) var wanted: MediaDirection = .sendrecv

    private var wantedBefore: MediaDirection = .sendrecv
    private let sessionID: UInt64
    private var version: UInt64 = 1
    private var lastSent: SessionDescription?
    private var numbers: PayloadNumbers
    /// The m-lines of the dialog so far; those that are not ours to use are repeated with port 0.
    private var layout: [MediaDescription] = []
    private var audioIndex = 0
    private var offered: [NegotiatedCodec] = []

    /// A negotiation before its first exchange.
    ///
    /// - Parameter sessionID: the number for our `o=` lines; one for each dialog.
    public init(local: TrunkAudio, sessionID: UInt64) {
        self.local = local
        self.sessionID = sessionID
        numbers = PayloadNumbers()
    }

    /// An offer of ours: first INVITE, late offer, hold, resume or refresh.
    ///
    /// - Parameter direction: `sendrecv` to talk, `sendonly` or `inactive` to hold. It also bounds later answers.
    public mutating func offer(direction: MediaDirection = .sendrecv) -> SessionDescription {
        wantedBefore = wanted
        wanted = direction
        var audio = MediaDescription(kind: "audio", port: local.port, profile: "RTP/AVP", formats: [])
        if layout.indices.contains(audioIndex) { audio.profile = layout[audioIndex].profile }
        offered = local.codecs.map { NegotiatedCodec(codec: $0, payloadType: numbers.number(of: $0)) }
        write(offered, into: &audio)
        if local.comfortNoise, local.codecs.contains(where: { $0.clockRate == 8000 }) {
            audio.formats.append("13")
            audio.attributes.append(Attribute("rtpmap", "13 CN/8000"))
        }
        if local.telephoneEvents {
            for clock in [8000, 48000] as [UInt32] where local.codecs.contains(where: { $0.clockRate == clock }) {
                let number = numbers.events(clockRate: clock)
                audio.formats.append("\(number)")
                audio.attributes += OfferAnswer.eventAttributes(number, clockRate: clock, events: .digits)
            }
        }
        finish(&audio, direction: direction)
        return send(audio)
    }

    /// Takes back the last offer, which the peer refused: the call is as it was (case H36).
    public mutating func offerWasRefused() {
        wanted = wantedBefore
    }

    /// Takes the answer to the last offer.
    ///
    /// - Throws: what is wrong with the answer; the state stays as before, so that a later one may be tried.
    @discardableResult
    public mutating func apply(answer: SessionDescription) throws(NegotiationError) -> NegotiatedAudio {
        guard answer.media.indices.contains(audioIndex) else { throw .mediaMismatch }
        let media = answer.media[audioIndex]
        guard media.kind == "audio" else { throw .mediaMismatch }
        guard media.port != 0 else { throw .noAudio }
        let formats = OfferAnswer.OfferedFormats(of: media)
        let sendCodecs = formats.codecs.filter { codec in local.codecs.contains(codec.codec) }
        guard !sendCodecs.isEmpty else { throw .noCommonCodec }
        var audio = try endpoint(of: media, at: audioIndex, in: answer)
        audio.sendCodecs = sendCodecs
        audio.receiveCodecs = offered
        if local.telephoneEvents {
            audio.telephoneEvents = formats.events.map { event in
                TelephoneEventFormat(
                    clockRate: event.clockRate, sendPayloadType: event.payloadType,
                    receivePayloadType: numbers.events(clockRate: event.clockRate), events: event.events)
            }
        }
        audio.comfortNoise = local.comfortNoise ? formats.comfortNoise : nil
        audio.direction = wanted.limited(to: peerDirection(audio, in: answer, at: audioIndex).reversed)
        negotiated = audio
        if layout.isEmpty { layout = answer.media }
        return audio
    }

    /// Answers an offer of the peer: incoming INVITE, re-INVITE or UPDATE.
    ///
    /// - Returns: the answer, and what it settles. Extra m-lines get port 0 (OA-5).
    /// - Throws: why it must be refused; the call stays as it was.
    public mutating func answer(
        to offer: SessionDescription
    ) throws(NegotiationError) -> (description: SessionDescription, audio: NegotiatedAudio) {
        let index = try audioMedia(of: offer)
        let media = offer.media[index]
        let formats = OfferAnswer.OfferedFormats(of: media)
        let codecs = formats.codecs.filter { local.codecs.contains($0.codec) }
        guard !codecs.isEmpty else { throw .noCommonCodec }
        var audio = try endpoint(of: media, at: index, in: offer)
        audio.sendCodecs = codecs
        audio.receiveCodecs = codecs
        audio.comfortNoise = local.comfortNoise ? formats.comfortNoise : nil
        if local.telephoneEvents {
            audio.telephoneEvents = formats.events.compactMap { event in
                guard codecs.contains(where: { $0.codec.clockRate == event.clockRate }) else { return nil }
                return TelephoneEventFormat(
                    clockRate: event.clockRate, sendPayloadType: event.payloadType,
                    receivePayloadType: event.payloadType, events: event.events.intersection(.digits))
            }
        }
        audio.direction = wanted.limited(to: peerDirection(audio, in: offer, at: index).reversed)

        for codec in codecs { numbers.fix(codec.codec, to: codec.payloadType) }
        for event in audio.telephoneEvents { numbers.fixEvents(event.clockRate, to: event.sendPayloadType) }
        layout = offer.media
        audioIndex = index
        negotiated = audio
        return (send(answerMedia(for: audio, profile: media.profile)), audio)
    }

    private func answerMedia(for audio: NegotiatedAudio, profile: String) -> MediaDescription {
        var answer = MediaDescription(kind: "audio", port: local.port, profile: profile, formats: [])
        write(audio.receiveCodecs, into: &answer)
        if let number = audio.comfortNoise {
            answer.formats.append("\(number)")
            answer.attributes.append(Attribute("rtpmap", "\(number) CN/8000"))
        }
        for event in audio.telephoneEvents {
            answer.formats.append("\(event.receivePayloadType)")
            answer.attributes += OfferAnswer.eventAttributes(
                event.receivePayloadType, clockRate: event.clockRate, events: event.events)
        }
        finish(&answer, direction: audio.direction)
        return answer
    }

    private func write(_ codecs: [NegotiatedCodec], into media: inout MediaDescription) {
        for codec in codecs {
            media.formats.append("\(codec.payloadType)")
            media.attributes.append(OfferAnswer.rtpMapAttribute(codec.codec, codec.payloadType))
            if codec.codec == .opus {
                media.attributes.append(Attribute("fmtp", "\(codec.payloadType) minptime=10;useinbandfec=1"))
            }
        }
    }

    private func finish(_ media: inout MediaDescription, direction: MediaDirection) {
        media.attributes.append(Attribute("ptime", "\(local.packetTime)"))
        media.attributes.append(Attribute("maxptime", "60"))
        media.attributes.append(Attribute(direction.rawValue))
    }

    /// Builds the description around our audio m-line and counts its version.
    private mutating func send(_ audio: MediaDescription) -> SessionDescription {
        let address = Connection(address: local.address)
        var description = SessionDescription(
            origin: Origin(sessionID: "\(sessionID)", version: version, address: address), connection: address)
        if layout.isEmpty {
            description.media = [audio]
        } else {
            description.media = layout.map { OfferAnswer.refusal(of: $0) }
            description.media[audioIndex] = audio
        }
        if let mid = layout.indices.contains(audioIndex) ? layout[audioIndex].mid : nil {
            description.media[audioIndex].attributes.insert(Attribute("mid", mid), at: 0)
        }
        if let lastSent, lastSent != description {
            version += 1
            description.origin.version = version
        }
        lastSent = description
        return description
    }

    private func audioMedia(of offer: SessionDescription) throws(NegotiationError) -> Int {
        let candidates = offer.media.indices.filter { offer.media[$0].kind == "audio" && offer.media[$0].port != 0 }
        guard let first = candidates.first else { throw .noAudio }
        guard let plain = candidates.first(where: { Self.isPlain(offer.media[$0].profile) }) else {
            throw .unsupportedProfile(offer.media[first].profile)
        }
        return plain
    }

    private static func isPlain(_ profile: String) -> Bool {
        ["RTP/AVP", "RTP/AVPF"].contains(profile.uppercased())
    }

    /// Address, ports and packet time of the peer's m-line; codecs and direction are the caller's to fill in.
    private func endpoint(
        of media: MediaDescription, at index: Int, in session: SessionDescription
    ) throws(NegotiationError) -> NegotiatedAudio {
        guard let connection = session.connection(ofMediaAt: index) else { throw .missingConnection }
        var audio = NegotiatedAudio(
            remote: nil, remoteRTCP: nil, sendCodecs: [], receiveCodecs: [], telephoneEvents: [], comfortNoise: nil,
            packetTime: min(max(media.packetTime ?? 20, 10), 60), direction: .inactive, isHeldByPeer: false)
        // Whole frames of 10 ms only; G.711 could do any, but peers could not.
        audio.packetTime -= audio.packetTime % 10
        if let most = media.maximumPacketTime, most >= 10 {
            audio.packetTime = min(audio.packetTime, most - most % 10)
        }
        if !connection.isUnspecified {
            audio.remote = MediaEndpoint(address: connection.address, port: media.port)
            if let rtcp = media.rtcp {
                let address = rtcp.connection ?? connection
                audio.remoteRTCP =
                    address.isUnspecified || rtcp.port == 0
                    ? nil : MediaEndpoint(address: address.address, port: rtcp.port)
            } else if media.port < UInt16.max {
                audio.remoteRTCP = MediaEndpoint(address: connection.address, port: media.port + 1)
            }
        }
        let direction = session.direction(ofMediaAt: index)
        audio.isHeldByPeer = connection.isUnspecified || !direction.receives
        return audio
    }

    /// The peer's direction; an address of 0.0.0.0 counts as `sendonly` (HLD-3).
    private func peerDirection(
        _ audio: NegotiatedAudio, in session: SessionDescription, at index: Int
    ) -> MediaDirection {
        let written = session.direction(ofMediaAt: index)
        return audio.remote == nil ? written.limited(to: .sendonly) : written
    }
}

/// The payload types of one dialog: fixed once agreed.
private struct PayloadNumbers: Sendable {
    private var codecs: [AudioCodec: UInt8] = [:]
    private var events: [UInt32: UInt8] = [:]

    func number(of codec: AudioCodec) -> UInt8 {
        codecs[codec] ?? codec.staticPayloadType ?? free(from: 107)
    }

    func events(clockRate: UInt32) -> UInt8 {
        events[clockRate] ?? free(from: clockRate == 8000 ? 101 : 102)
    }

    mutating func fix(_ codec: AudioCodec, to number: UInt8) { codecs[codec] = number }
    mutating func fixEvents(_ clockRate: UInt32, to number: UInt8) { events[clockRate] = number }

    private func free(from first: UInt8) -> UInt8 {
        (first...127).first { number in !codecs.values.contains(number) && !events.values.contains(number) } ?? first
    }
}
