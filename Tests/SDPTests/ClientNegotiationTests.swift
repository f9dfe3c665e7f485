import SDP
import Testing

@Suite("Offers and answers with an app client")
struct ClientNegotiationTests {
    let transport = ClientTransportValues(
        iceUfrag: "q7Lm", icePwd: "0p9o8i7u6y5t4r3e2w1qAZ",
        candidates: ["a=candidate:1 1 udp 2130706431 203.0.113.9 40000 typ host"],
        fingerprint: Fingerprint(algorithm: "sha-256", bytes: [UInt8](repeating: 0xAB, count: 32)))
    let stream = ClientStream(ssrc: 1234, cname: "c1")

    func accept(_ text: String) throws -> (SessionDescription, NegotiatedClientAudio) {
        let offer = try SessionDescription(parsing: text)
        return (offer, try OfferAnswer.acceptClientOffer(offer))
    }

    @Test("a browser's offer is answered with opus first and its own numbers")
    func chromium() throws {
        let (offer, accepted) = try accept(Descriptions.chromium)
        #expect(accepted.opusPayloadType == 111)
        #expect(accepted.opus.wantsInBandFEC)
        #expect(accepted.candidates.isEmpty)
        #expect(accepted.localSetup == .active)
        let answer = OfferAnswer.clientAnswer(
            to: offer, accepted: accepted, transport: transport, stream: stream, sessionID: 771200)
        let audio = answer.media[0]
        #expect(audio.formats == ["111", "0", "8", "9", "110", "126"])
        #expect(audio.profile == "UDP/TLS/RTP/SAVPF")
        #expect(answer.bundleGroup == ["0"])
        #expect(audio.hasRTCPMux)
        #expect(audio.direction == .sendrecv)
        #expect(audio.value(of: "setup") == "active")
        #expect(audio.candidates == ["1 1 udp 2130706431 203.0.113.9 40000 typ host"])
        #expect(audio.ssrcs == [1234])
        #expect(audio.msid == "trunkline audio")
        #expect(audio.formatParameters(for: 111)?.text == "minptime=10;useinbandfec=1")
        #expect(!audio.has("extmap") && !audio.has("rtcp-fb"))
        #expect(try SessionDescription(parsing: answer.text) == answer)
    }

    @Test("H04 H05 opus and 48 kHz events only; video is refused outside the bundle")
    func firefox() throws {
        let (offer, accepted) = try accept(Descriptions.firefox)
        #expect(accepted.codecs == [NegotiatedCodec(codec: .opus, payloadType: 109)])
        #expect(accepted.opus.maximumPlaybackRate == 16000)
        #expect(accepted.opus.wantsStereo)
        #expect(accepted.telephoneEvent(clockRate: 48000) == 101)
        #expect(accepted.telephoneEvent(clockRate: 8000) == nil)
        let answer = OfferAnswer.clientAnswer(
            to: offer, accepted: accepted, transport: transport, stream: stream, sessionID: 1)
        #expect(answer.media.count == 2)
        #expect(answer.media[0].formats == ["109", "101"])
        #expect(answer.media[1].port == 0)
        #expect(answer.media[1].mid == "1")
        #expect(answer.bundleGroup == ["0"])
        #expect(answer.media[0].formatParameters(for: 109)?["stereo"] == nil)
    }

    @Test("H07 opus without a channel count is opus")
    func opusWithoutChannels() throws {
        let text = Descriptions.chromium.replacing("a=rtpmap:111 opus/48000/2", with: "a=rtpmap:111 opus/48000")
        #expect(try accept(text).1.opusPayloadType == 111)
    }

    @Test("H27 both event clocks are agreed, or the one that is offered")
    func eventClocks() throws {
        let (_, both) = try accept(Descriptions.chromium)
        #expect(both.telephoneEvents.map(\.clockRate) == [48000, 8000])
        let text = Descriptions.chromium.replacing(" 13 110 126", with: " 13 126")
        let (_, one) = try accept(text)
        #expect(one.telephoneEvents.map(\.sendPayloadType) == [126])
    }

    @Test("H08 comfort noise is not answered to a client")
    func noComfortNoise() throws {
        let (offer, accepted) = try accept(Descriptions.chromium)
        let answer = OfferAnswer.clientAnswer(
            to: offer, accepted: accepted, transport: transport, stream: stream, sessionID: 1)
        #expect(!answer.text.contains("CN/"))
    }

    @Test("H41 H43 odd candidates are passed on untouched and are no error")
    func oddCandidates() throws {
        let lines =
            "a=candidate:1 1 tcp 1 192.0.2.1 9 typ host tcptype active\r\na=candidate:2 1 zzz 1 x 0 typ odd foo bar\r\n"
        let (_, accepted) = try accept(Descriptions.chromium + lines)
        #expect(accepted.candidates.count == 2)
        #expect(try accept(Descriptions.firefox).1.candidates.first?.contains(".local") == true)
    }

    @Test(
        "H44 one decision about the DTLS role",
        arguments: [
            ("a=setup:actpass", DTLSSetup.active), ("a=setup:active", .passive), ("a=setup:passive", .active),
            ("a=x", .passive),
        ])
    func roles(line: String, expected: DTLSSetup) throws {
        let text = Descriptions.chromium.replacing("a=setup:actpass", with: line)
        #expect(try accept(text).1.localSetup == expected)
    }

    @Test("H44 the configured role is taken where the client leaves the choice")
    func configuredRole() throws {
        let offer = try SessionDescription(parsing: Descriptions.chromium)
        #expect(try OfferAnswer.acceptClientOffer(offer, setup: .passive).localSetup == .passive)
    }

    @Test("our offer to a client, and its answer")
    func incomingCall() throws {
        let offer = OfferAnswer.clientOffer(transport: transport, stream: stream, sessionID: 5)
        #expect(offer.media[0].formats == ["111", "9", "0", "8", "110", "126"])
        #expect(offer.media[0].value(of: "setup") == "actpass")
        #expect(offer.media[0].msid != nil)
        #expect(offer.bundleGroup == ["0"])
        let answer = try SessionDescription(parsing: Descriptions.browserAnswer(setup: "active"))
        let audio = try OfferAnswer.applyClientAnswer(answer, to: offer)
        #expect(audio.localSetup == .passive)
        #expect(audio.chosen?.codec == .opus)
        #expect(audio.opus.allowsDTX && !audio.opus.wantsInBandFEC)
        #expect(audio.iceUfrag == "ansr")
        #expect(audio.direction == .sendrecv)
        let only = try SessionDescription(parsing: Descriptions.browserAnswer(setup: "passive", formats: "0 126"))
        let plain = try OfferAnswer.applyClientAnswer(only, to: offer)
        #expect(plain.chosen?.codec == .pcmu)
        #expect(plain.localSetup == .active)
    }

    @Test("H09 an offer without rtcp-mux, ICE or fingerprint is refused clearly")
    func refusals() throws {
        func without(_ line: String) -> String { Descriptions.chromium.replacing(line + "\r\n", with: "") }
        #expect(throws: NegotiationError.missingRTCPMux) { try accept(without("a=rtcp-mux")) }
        #expect(throws: NegotiationError.missingFingerprint) {
            try accept(without("a=fingerprint:\(Descriptions.fingerprint)"))
        }
        #expect(throws: NegotiationError.missingICECredentials) { try accept(without("a=ice-ufrag:Kx4u")) }
        #expect(throws: NegotiationError.unsupportedProfile("RTP/AVP")) { try accept(Descriptions.carrier("8")) }
        #expect(throws: NegotiationError.noCommonCodec) {
            try accept(Descriptions.chromium.replacing(" 111 63 9 0 8 13 110 126", with: " 63 110 126"))
        }
    }

    @Test("a client that only listens is answered sendonly")
    func recvonly() throws {
        let (_, accepted) = try accept(Descriptions.chromium.replacing("a=sendrecv", with: "a=recvonly"))
        #expect(accepted.direction == .sendonly)
    }
}
