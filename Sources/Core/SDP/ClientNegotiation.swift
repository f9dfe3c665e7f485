/// The local values a client description needs from the transport that serves it.
public struct ClientTransportValues: Sendable, Hashable {
    /// Our ICE user fragment.
    public var iceUfrag: String
    /// Our ICE password.
    public var icePwd: String
    /// As in ``MediaDescription/candidates``; a `candidate:` or `a=candidate:` in front is dropped.
    public var candidates: [String]
    /// Of our DTLS certificate; SHA-256.
    public var fingerprint: Fingerprint
    /// Whether we are an ICE-lite agent.
    public var isICELite: Bool
    /// The default destination for `c=` and `m=`; 0.0.0.0 port 9 where only the candidates count.
    public var address: String
    /// 0 would refuse the m-line; 9 says that only the candidates count.
    public var port: UInt16

    /// Values of one transport.
    public init(
        iceUfrag: String, icePwd: String, candidates: [String], fingerprint: Fingerprint, isICELite: Bool = false,
        address: String = "0.0.0.0", port: UInt16 = 9
    ) {
        self.iceUfrag = iceUfrag
        self.icePwd = icePwd
        self.candidates = candidates
        self.fingerprint = fingerprint
        self.isICELite = isICELite
        self.address = address
        self.port = port
    }
}

/// The identity of the one stream we send a client. A remote track appears in the browser only if it is announced.
public struct ClientStream: Sendable, Hashable {
    /// The SSRC of every RTP packet we send the client.
    public var ssrc: UInt32
    /// The RTCP canonical name.
    public var cname: String
    /// Names the MediaStream in the browser.
    public var streamID: String
    /// Names its one track.
    public var trackID: String

    /// A stream to announce.
    public init(ssrc: UInt32, cname: String, streamID: String = "trunkline", trackID: String = "audio") {
        self.ssrc = ssrc
        self.cname = cname
        self.streamID = streamID
        self.trackID = trackID
    }
}

extension OfferAnswer {
    /// Decides what we take of a client's offer, before our own transport is known.
    ///
    /// - Parameters:
    ///   - codecs: what we can do; the first that the client has too is chosen.
    ///   - setup: our DTLS role where the client leaves the choice: `active` or `passive`.
    public static func acceptClientOffer(
        _ offer: SessionDescription, codecs: [AudioCodec] = [.opus, .pcmu, .pcma, .g722], setup: DTLSSetup = .active
    ) throws(NegotiationError) -> NegotiatedClientAudio {
        let audioLines = offer.media.indices.filter { offer.media[$0].kind == "audio" && offer.media[$0].port != 0 }
        guard let index = audioLines.first else { throw .noAudio }
        var accepted = try readClient(offer, at: index, codecs: codecs)
        let remote = TransportAttributes(of: offer.media[index], in: offer).setup
        // RFC 5763 section 5; an offer that says nothing means active (RFC 4145 section 4).
        accepted.localSetup =
            switch remote {
            case .actpass, .holdconn: setup == .passive ? .passive : .active
            case .passive: .active
            case .active, nil: .passive
            }
        return accepted
    }

    /// The answer to a client's offer.
    ///
    /// - Parameter accepted: the result of ``acceptClientOffer(_:codecs:setup:)`` for that very offer.
    public static func clientAnswer(
        to offer: SessionDescription, accepted: NegotiatedClientAudio, transport: ClientTransportValues,
        stream: ClientStream, sessionID: UInt64, version: UInt64 = 1
    ) -> SessionDescription {
        var answer = clientSession(transport, sessionID: sessionID, version: version)
        answer.media = offer.media.map { refusal(of: $0) }
        guard answer.media.indices.contains(accepted.mediaIndex) else { return answer }
        if let mid = accepted.mid, offer.bundleGroup != nil {
            answer.attributes.append(Attribute("group", "BUNDLE \(mid)"))
        }
        answer.media[accepted.mediaIndex] = clientMedia(
            accepted, profile: offer.media[accepted.mediaIndex].profile, transport: transport, stream: stream)
        return answer
    }

    /// An offer to a client: an incoming call.
    public static func clientOffer(
        codecs: [AudioCodec] = [.opus, .g722, .pcmu, .pcma], transport: ClientTransportValues, stream: ClientStream,
        sessionID: UInt64, version: UInt64 = 1
    ) -> SessionDescription {
        var session = clientSession(transport, sessionID: sessionID, version: version)
        session.attributes.append(Attribute("group", "BUNDLE 0"))
        var offered = NegotiatedClientAudio(
            codecs: codecs.map { NegotiatedCodec(codec: $0, payloadType: $0.staticPayloadType ?? 111) },
            opus: OpusHints(), telephoneEvents: [], packetTime: 20, maximumPacketTime: nil, mid: "0", iceUfrag: "",
            icePwd: "", candidates: [], fingerprints: [], localSetup: .actpass, direction: .sendrecv,
            remoteIsICELite: false, mediaIndex: 0)
        for (clock, number) in [(48000, 110), (8000, 126)] as [(UInt32, UInt8)]
        where codecs.contains(where: { $0.clockRate == clock }) {
            offered.telephoneEvents.append(
                TelephoneEventFormat(clockRate: clock, sendPayloadType: number, receivePayloadType: number))
        }
        session.media = [
            clientMedia(offered, profile: "UDP/TLS/RTP/SAVPF", transport: transport, stream: stream)
        ]
        return session
    }

    /// Takes a client's answer to our offer.
    public static func applyClientAnswer(
        _ answer: SessionDescription, to offer: SessionDescription
    ) throws(NegotiationError) -> NegotiatedClientAudio {
        guard let index = offer.media.firstIndex(where: { $0.kind == "audio" }), answer.media.indices.contains(index),
            answer.media[index].kind == "audio"
        else { throw .mediaMismatch }
        guard answer.media[index].port != 0 else { throw .noAudio }
        let ours = OfferedFormats(of: offer.media[index]).codecs.map(\.codec)
        var accepted = try readClient(answer, at: index, codecs: ours, followsWriter: true)
        let remote = TransportAttributes(of: answer.media[index], in: answer).setup
        accepted.localSetup = remote == .active ? .passive : .active
        return accepted
    }

    private static func readClient(
        _ session: SessionDescription, at index: Int, codecs: [AudioCodec], followsWriter: Bool = false
    ) throws(NegotiationError) -> NegotiatedClientAudio {
        let media = session.media[index]
        guard isClientProfile(media.profile) else { throw .unsupportedProfile(media.profile) }
        guard media.hasRTCPMux else { throw .missingRTCPMux }
        let transport = TransportAttributes(of: media, in: session)
        guard let ufrag = transport.iceUfrag, let pwd = transport.icePwd else { throw .missingICECredentials }
        let fingerprints = transport.fingerprints.filter { $0.algorithm == "sha-256" }
        guard !fingerprints.isEmpty else { throw .missingFingerprint }
        let formats = OfferedFormats(of: media)
        let common =
            followsWriter
            ? formats.codecs.filter { codecs.contains($0.codec) }
            : codecs.compactMap { wanted in formats.codecs.first { $0.codec == wanted } }
        guard !common.isEmpty else { throw .noCommonCodec }
        let opusNumber = common.first { $0.codec == .opus }?.payloadType
        return NegotiatedClientAudio(
            codecs: common, opus: OpusHints(opusNumber.flatMap { media.formatParameters(for: $0) }),
            telephoneEvents: formats.events.map { event in
                TelephoneEventFormat(
                    clockRate: event.clockRate, sendPayloadType: event.payloadType,
                    receivePayloadType: event.payloadType, events: event.events.intersection(.digits))
            },
            packetTime: media.packetTime ?? 20, maximumPacketTime: media.maximumPacketTime, mid: media.mid,
            iceUfrag: ufrag, icePwd: pwd, candidates: media.candidates, fingerprints: fingerprints,
            localSetup: .active, direction: session.direction(ofMediaAt: index).reversed,
            remoteIsICELite: session.isICELite, mediaIndex: index)
    }

    /// `UDP/TLS/RTP/SAVPF` and the other spellings in the field (WEB-1).
    private static func isClientProfile(_ profile: String) -> Bool {
        let upper = profile.uppercased()
        return upper.hasSuffix("RTP/SAVPF") || upper.hasSuffix("TLS/RTP/SAVP") || upper.hasSuffix("DTLS/RTP/SAVP")
    }

    private static func clientSession(
        _ transport: ClientTransportValues, sessionID: UInt64, version: UInt64
    ) -> SessionDescription {
        // The loopback address hides ours, as browsers do; nobody reads it.
        let origin = Origin(sessionID: "\(sessionID)", version: version, address: Connection(address: "127.0.0.1"))
        return SessionDescription(origin: origin, attributes: transport.isICELite ? [Attribute("ice-lite")] : [])
    }

    private static func clientMedia(
        _ audio: NegotiatedClientAudio, profile: String, transport: ClientTransportValues, stream: ClientStream
    ) -> MediaDescription {
        var media = MediaDescription(
            kind: "audio", port: transport.port, profile: profile, formats: [],
            connection: Connection(address: transport.address))
        if let mid = audio.mid { media.attributes.append(Attribute("mid", mid)) }
        media.attributes.append(Attribute(audio.direction.rawValue))
        media.attributes += [Attribute("rtcp-mux"), Attribute("ice-ufrag", transport.iceUfrag)]
        media.attributes.append(Attribute("ice-pwd", transport.icePwd))
        media.attributes += transport.candidates.map { Attribute("candidate", bareCandidate($0)) }
        media.attributes.append(Attribute("end-of-candidates"))
        media.attributes.append(Attribute("fingerprint", transport.fingerprint.text))
        media.attributes.append(Attribute("setup", audio.localSetup.rawValue))
        for codec in audio.codecs {
            media.formats.append("\(codec.payloadType)")
            media.attributes.append(rtpMapAttribute(codec.codec, codec.payloadType))
            if codec.codec == .opus {
                media.attributes.append(Attribute("fmtp", "\(codec.payloadType) minptime=10;useinbandfec=1"))
            }
        }
        for event in audio.telephoneEvents {
            media.formats.append("\(event.receivePayloadType)")
            media.attributes += eventAttributes(
                event.receivePayloadType, clockRate: event.clockRate, events: event.events)
        }
        media.attributes.append(Attribute("ptime", "20"))
        if audio.direction.sends {
            media.attributes.append(Attribute("msid", "\(stream.streamID) \(stream.trackID)"))
            media.attributes.append(Attribute("ssrc", "\(stream.ssrc) cname:\(stream.cname)"))
            media.attributes.append(Attribute("ssrc", "\(stream.ssrc) msid:\(stream.streamID) \(stream.trackID)"))
        }
        return media
    }

    private static func bareCandidate(_ text: String) -> String {
        var rest = Substring(text)
        for prefix in ["a=", "candidate:"] where rest.hasPrefix(prefix) { rest = rest.dropFirst(prefix.count) }
        return String(rest)
    }
}
