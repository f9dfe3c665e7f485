import SDP
import Testing

@Suite("Offers and answers with a trunk")
struct TrunkNegotiationTests {
    func negotiation(_ codecs: [AudioCodec] = [.pcma, .pcmu]) -> TrunkNegotiation {
        TrunkNegotiation(
            local: TrunkAudio(codecs: codecs, address: "203.0.113.9", port: 31000), sessionID: 4102)
    }

    @Test("our offer is written line for line as wanted")
    func offer() {
        var trunk = TrunkNegotiation(
            local: TrunkAudio(address: "203.0.113.9", port: 31000, comfortNoise: true), sessionID: 4102)
        #expect(
            trunk.offer().text
                == Descriptions.lines([
                    "v=0", "o=- 4102 1 IN IP4 203.0.113.9", "s=-", "c=IN IP4 203.0.113.9", "t=0 0",
                    "m=audio 31000 RTP/AVP 8 0 13 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:0 PCMU/8000",
                    "a=rtpmap:13 CN/8000", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15", "a=ptime:20",
                    "a=maxptime:60", "a=sendrecv",
                ]))
    }

    @Test("H01 the answer names only payload types of its m-line, and the media follow it")
    func answerAgrees() throws {
        var trunk = negotiation()
        let (answer, audio) = try trunk.answer(to: SessionDescription(parsing: Descriptions.carrier()))
        #expect(answer.media[0].formats == ["8", "0", "101"])
        for name in ["rtpmap", "fmtp"] {
            for value in answer.media[0].values(of: name) {
                #expect(answer.media[0].formats.contains(String(value.split(separator: " ")[0])))
            }
        }
        #expect(audio.sendCodecs.first == NegotiatedCodec(codec: .pcma, payloadType: 8))
        #expect(audio.remote == MediaEndpoint(address: "192.0.2.11", port: 40100))
        #expect(audio.remoteRTCP == MediaEndpoint(address: "192.0.2.11", port: 40101))
        #expect(audio.telephoneEvent?.sendPayloadType == 101)
        #expect(audio.direction == .sendrecv)
    }

    @Test("H02 an offer without any rtpmap is answered with G.711")
    func bareOffer() throws {
        let offer = try SessionDescription(
            parsing: "v=0\r\nc=IN IP4 192.0.2.1\r\nm=audio 40102 RTP/AVP 0 8 96\r\na=sendrecv\r\n")
        var trunk = negotiation()
        let (answer, audio) = try trunk.answer(to: offer)
        #expect(answer.media[0].formats == ["0", "8"])
        #expect(audio.sendCodecs.map(\.codec) == [.pcmu, .pcma])
        #expect(audio.telephoneEvents.isEmpty)
    }

    @Test("H03 every codec we listed may arrive, and the first of the answer is sent")
    func receiveAll() throws {
        var trunk = negotiation([.pcma, .pcmu, .g722])
        _ = trunk.offer()
        let audio = try trunk.apply(answer: SessionDescription(parsing: Descriptions.carrier("0 8 101")))
        #expect(audio.sendCodecs.map(\.payloadType) == [0, 8])
        #expect(audio.receiveCodecs.map(\.payloadType) == [8, 0, 9])
    }

    @Test("H06 the packet time of the peer is taken", arguments: [10, 20, 30, 40, 60])
    func packetTime(ptime: Int) throws {
        var trunk = negotiation()
        _ = trunk.offer()
        let audio = try trunk.apply(
            answer: SessionDescription(parsing: Descriptions.carrier("8 101", more: ["a=ptime:\(ptime)"])))
        #expect(audio.packetTime == ptime)
    }

    @Test("H08 comfort noise is used only where both sides named it")
    func comfortNoise() throws {
        var silent = negotiation()
        _ = silent.offer()
        #expect(try silent.apply(answer: SessionDescription(parsing: Descriptions.carrier("0 13"))).comfortNoise == nil)
        var noisy = TrunkNegotiation(
            local: TrunkAudio(address: "203.0.113.9", port: 31000, comfortNoise: true), sessionID: 1)
        _ = noisy.offer()
        #expect(try noisy.apply(answer: SessionDescription(parsing: Descriptions.carrier("0 13"))).comfortNoise == 13)
    }

    @Test("H09 the peer's a=rtcp line is followed")
    func rtcpLine() throws {
        var trunk = negotiation()
        _ = trunk.offer()
        let audio = try trunk.apply(
            answer: SessionDescription(
                parsing: Descriptions.carrier("8", port: 40000, more: ["a=rtcp:40011 IN IP4 192.0.2.44"])))
        #expect(audio.remoteRTCP == MediaEndpoint(address: "192.0.2.44", port: 40011))
    }

    @Test("extra m-lines are refused in place and stay in later offers")
    func extraMedia() throws {
        let offer = try SessionDescription(
            parsing: "v=0\r\nc=IN IP4 192.0.2.1\r\nm=video 5 RTP/AVP 96\r\nm=audio 6 RTP/AVP 8 96\r\n"
                + "a=rtpmap:96 telephone-event/8000\r\nm=image 8 udptl t38\r\n")
        var trunk = negotiation()
        let (answer, _) = try trunk.answer(to: offer)
        #expect(answer.media.map(\.port) == [0, 31000, 0])
        #expect(answer.media.map(\.kind) == ["video", "audio", "image"])
        let hold = trunk.offer(direction: .sendonly)
        #expect(hold.media.map(\.port) == [0, 31000, 0])
        // Payload numbers once agreed stay (RFC 3264 section 8.3.2).
        #expect(hold.media[1].formats == ["8", "0", "96"])
    }

    @Test("OA-1 the version rises with a change and only then")
    func versions() throws {
        var trunk = negotiation()
        #expect(trunk.offer().origin.version == 1)
        try trunk.apply(answer: SessionDescription(parsing: Descriptions.carrier()))
        #expect(trunk.offer().origin.version == 1)
        #expect(trunk.offer(direction: .sendonly).origin.version == 2)
        #expect(trunk.offer(direction: .sendonly).origin.version == 2)
        #expect(trunk.offer().origin.version == 3)
    }

    @Test(
        "H36 every form of hold is answered with the matching direction",
        arguments: [
            ("IN IP4 192.0.2.11", "a=sendonly", "recvonly", true), ("IN IP4 192.0.2.11", "a=inactive", "inactive", true),
            ("IN IP4 0.0.0.0", "a=x", "recvonly", false), ("IN IP6 ::", "a=x", "recvonly", false),
            ("IN IP4 192.0.2.11", "a=recvonly", "sendonly", true),
        ])
    func holds(connection: String, attribute: String, expected: String, hasRemote: Bool) throws {
        var trunk = negotiation()
        _ = try trunk.answer(to: SessionDescription(parsing: Descriptions.carrier()))
        let (answer, audio) = try trunk.answer(
            to: SessionDescription(parsing: Descriptions.carrier(connection: connection, version: 2, more: [attribute])))
        #expect(answer.media[0].direction?.rawValue == expected)
        #expect((audio.remote != nil) == hasRemote)
        #expect(audio.isHeldByPeer == (attribute != "a=recvonly"))
        let (_, resumed) = try trunk.answer(to: SessionDescription(parsing: Descriptions.carrier(version: 3)))
        #expect(resumed.direction == .sendrecv)
        #expect(!resumed.isHeldByPeer)
    }

    @Test("HLD-4 hold by both sides ends one side at a time")
    func doubleHold() throws {
        var trunk = negotiation()
        _ = trunk.offer()
        try trunk.apply(answer: SessionDescription(parsing: Descriptions.carrier()))
        _ = trunk.offer(direction: .sendonly)
        var audio = try trunk.apply(answer: SessionDescription(parsing: Descriptions.carrier(more: ["a=recvonly"])))
        #expect(audio.direction == .sendonly)
        // The peer holds too.
        (_, audio) = try trunk.answer(to: SessionDescription(parsing: Descriptions.carrier(more: ["a=sendonly"])))
        #expect(audio.direction == .inactive)
        // The peer resumes; our own hold stays.
        (_, audio) = try trunk.answer(to: SessionDescription(parsing: Descriptions.carrier(more: ["a=sendrecv"])))
        #expect(audio.direction == .sendonly)
        _ = trunk.offer()
        audio = try trunk.apply(answer: SessionDescription(parsing: Descriptions.carrier()))
        #expect(audio.direction == .sendrecv)
    }

    @Test("H36 a refused hold leaves the call as it was")
    func refusedHold() throws {
        var trunk = negotiation()
        _ = trunk.offer()
        try trunk.apply(answer: SessionDescription(parsing: Descriptions.carrier()))
        _ = trunk.offer(direction: .sendonly)
        trunk.offerWasRefused()
        #expect(trunk.wanted == .sendrecv)
        #expect(trunk.negotiated?.direction == .sendrecv)
    }

    @Test("what cannot be served is a typed error")
    func errors() throws {
        var trunk = negotiation()
        func offered(_ text: String) throws -> SessionDescription { try SessionDescription(parsing: text) }
        #expect(throws: NegotiationError.noCommonCodec) { try trunk.answer(to: offered(Descriptions.carrier("18 101"))) }
        #expect(throws: NegotiationError.noAudio) { try trunk.answer(to: offered(Descriptions.carrier(port: 0))) }
        #expect(throws: NegotiationError.missingConnection) {
            try trunk.answer(to: offered("v=0\nm=audio 5 RTP/AVP 8\nm=video 6 RTP/AVP 96\nc=IN IP4 192.0.2.1\n"))
        }
        #expect(throws: NegotiationError.unsupportedProfile("RTP/SAVP")) {
            try trunk.answer(to: offered("v=0\nc=IN IP4 192.0.2.1\nm=audio 5 RTP/SAVP 8\na=crypto:1 X inline:Y\n"))
        }
        #expect(throws: NegotiationError.noCommonCodec) {
            try trunk.answer(to: offered("v=0\nc=IN IP4 192.0.2.1\nm=audio 5 RTP/AVP 8\na=rtpmap:8 PCMA/0\n"))
        }
        #expect(throws: NegotiationError.mediaMismatch) { try trunk.apply(answer: offered("v=0\n")) }
        #expect(trunk.negotiated == nil)
    }

    @Test("Opus on a trunk brings its own event clock")
    func opusTrunk() throws {
        var caller = negotiation([.opus, .pcma])
        var callee = negotiation([.pcma, .opus])
        let (answer, theirs) = try callee.answer(to: caller.offer())
        let ours = try caller.apply(answer: answer)
        #expect(ours.sendCodecs.first?.codec == .opus)
        #expect(ours.telephoneEvent?.clockRate == 48000)
        #expect(theirs.telephoneEvents.count == 2)
    }
}
