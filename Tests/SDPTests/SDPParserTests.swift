import SDP
import Testing

@Suite("Reading and writing descriptions")
struct SDPParserTests {
    @Test("a browser's offer is read with all its attributes")
    func chromium() throws {
        let session = try SessionDescription(parsing: Descriptions.chromium)
        #expect(session.origin.sessionID == "5071183362098513917")
        #expect(session.bundleGroup == ["0"])
        let audio = try #require(session.media.first)
        #expect(audio.payloadTypes == [111, 63, 9, 0, 8, 13, 110, 126])
        #expect(audio.rtpMap(for: 111)?.text == "111 opus/48000/2")
        #expect(audio.formatParameters(for: 111)?["useinbandfec"] == "1")
        #expect(audio.mid == "0")
        #expect(audio.hasRTCPMux)
        #expect(audio.rtcp?.port == 9)
        #expect(audio.ssrcs == [3_735_928_559])
        #expect(audio.msid == "9f1c track-one")
        #expect(audio.candidates.isEmpty)
    }

    @Test("printing gives back the lines that were read, with CRLF")
    func roundTrip() throws {
        let session = try SessionDescription(parsing: Descriptions.chromium)
        // The one blank after a colon that some writers put is not kept.
        #expect(session.text == Descriptions.chromium.replacing("semantic: WMS", with: "semantic:WMS"))
        #expect(try SessionDescription(parsing: session.text) == session)
    }

    @Test("bare LF, blanks at line ends, empty lines and dangling fmtp are read")
    func lenient() throws {
        let text =
            "v=0\no=- 1 1 IN IP4 127.0.0.1 \ns=-\n\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111 \na=mid:0\t\n"
            + "a=fmtp:96 mode=20\na=rtpmap:111 opus/48000/2  \n\0"
        let session = try SessionDescription(parsing: text)
        #expect(session.media[0].formats == ["111"])
        #expect(session.media[0].mid == "0")
        #expect(session.media[0].rtpMap(for: 111)?.channels == 2)
        #expect(session.media[0].rtpMap(for: 96) == nil)
    }

    @Test("H02 static payload types are known by number alone")
    func staticTypes() throws {
        let session = try SessionDescription(
            parsing: "v=0\r\nc=IN IP4 192.0.2.1\r\nm=audio 40102 RTP/AVP 0 8 96\r\na=fmtp:0 vad=no\r\na=sendrecv\r\n")
        let audio = session.media[0]
        #expect(audio.rtpMap(for: 0)?.encoding == "PCMU")
        #expect(audio.rtpMap(for: 8)?.encoding == "PCMA")
        #expect(audio.rtpMap(for: 96) == nil)
    }

    @Test(
        "errors name the line",
        arguments: [
            ("", SDPParseError.Reason.notSDP, 0), ("hello", .notSDP, 1), ("v=0\r\nrubbish\r\n", .malformedLine, 2),
            ("v=0\nm=audio 99999 RTP/AVP 8\n", .malformedMedia, 2),
            ("v=0\ns=-\nm=audio 5000 RTP/AVP\n", .malformedMedia, 3),
            ("v=0\nm=audio -1 RTP/AVP 8\n", .malformedMedia, 2), ("v=0\nc=IN IP4\n", .malformedConnection, 2),
        ] as [(String, SDPParseError.Reason, Int)])
    func errors(text: String, reason: SDPParseError.Reason, line: Int) {
        #expect(throws: SDPParseError(reason: reason, line: line)) { try SessionDescription(parsing: text) }
    }

    @Test("H65 absurd sizes are refused and absurd values say nothing")
    func absurd() throws {
        let long = "v=0\r\ns=" + String(repeating: "x", count: 60000) + "\r\n"
        #expect(throws: SDPParseError(reason: .tooLarge, line: 0)) { try SessionDescription(parsing: long) }
        let many = "v=0\n" + String(repeating: "m=audio 1 RTP/AVP 0\n", count: 33)
        #expect(throws: SDPParseError(reason: .tooManyMedia, line: 34)) { try SessionDescription(parsing: many) }

        let maps = (0..<300).map { "a=rtpmap:\($0) X/8000\n" }.joined()
        let session = try SessionDescription(parsing: "v=0\nm=audio 1 RTP/AVP 8 300\n" + maps)
        #expect(session.media[0].payloadTypes == [8])

        for value in ["0", "-20", "4000000000", "twenty", ""] {
            let session = try SessionDescription(parsing: "v=0\nm=audio 1 RTP/AVP 8\na=ptime:\(value)\na=rtpmap:8 PCMA/0\n")
            #expect(session.media[0].packetTime == nil)
            #expect(session.media[0].rtpMap(for: 8) == nil)
        }
    }

    @Test("fingerprints are compared as bytes, whatever their case")
    func fingerprints() throws {
        let upper = try #require(Fingerprint(parsing: Descriptions.fingerprint))
        let lower = try #require(Fingerprint(parsing: Descriptions.fingerprint.lowercased().replacing("sha", with: "SHA")))
        #expect(upper == lower)
        #expect(upper.text == Descriptions.fingerprint)
        #expect(Fingerprint(parsing: "sha-256 AB:CD") == nil)
        #expect(Fingerprint(parsing: "sha-256 GG") == nil)
    }

    @Test("sets of events are read and written")
    func events() {
        #expect(EventSet(parsing: "0-15") == .digits)
        #expect(EventSet(parsing: "0-11,16").text == "0-11,16")
        #expect(EventSet(parsing: "nonsense") == .digits)
        #expect(EventSet(parsing: "5-4000000000").contains(31))
    }

    @Test("H65 hostile texts never trap", arguments: [1, 2, 3, 4] as [UInt64])
    func hostile(seed: UInt64) {
        var random = SeededGenerator(state: seed)
        let models = [Descriptions.chromium, Descriptions.firefox, Descriptions.carrier()].map { Array($0.utf8) }
        for round in 0..<400 {
            var bytes = models[round % models.count]
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch UInt8.random(in: 0...3, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                case 2: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: at)
                default: bytes.removeSubrange(at..<min(bytes.count, at + 40))
                }
                if bytes.isEmpty { bytes = [10] }
            }
            guard let session = try? SessionDescription(parsing: String(decoding: bytes, as: UTF8.self)) else { continue }
            _ = session.text
            var trunk = TrunkNegotiation(local: TrunkAudio(address: "127.0.0.1", port: 40000), sessionID: 1)
            _ = try? trunk.answer(to: session)
            _ = trunk.offer()
            _ = try? trunk.apply(answer: session)
            _ = try? OfferAnswer.acceptClientOffer(session)
        }
    }
}
