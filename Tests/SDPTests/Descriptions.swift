/// Descriptions in the shape that peers write them; all values are our own.
enum Descriptions {
    static let fingerprint =
        "sha-256 "
        + (0..<32).map { index in (index < 16 ? "0" : "") + String(index, radix: 16, uppercase: true) }
        .joined(separator: ":")

    /// A Chromium offer as it arrives through the client SDK: not gathered, one audio section.
    static let chromium = lines([
        "v=0", "o=- 5071183362098513917 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
        "a=extmap-allow-mixed", "a=msid-semantic: WMS 9f1c", "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126",
        "c=IN IP4 0.0.0.0", "a=rtcp:9 IN IP4 0.0.0.0", "a=ice-ufrag:Kx4u", "a=ice-pwd:q0w9e8r7t6y5u4i3o2p1asdf",
        "a=ice-options:trickle", "a=fingerprint:\(fingerprint)", "a=setup:actpass", "a=mid:0",
        "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level", "a=sendrecv", "a=msid:9f1c track-one", "a=rtcp-mux",
        "a=rtcp-rsize", "a=rtpmap:111 opus/48000/2", "a=rtcp-fb:111 transport-cc",
        "a=fmtp:111 minptime=10;useinbandfec=1", "a=rtpmap:63 red/48000/2", "a=fmtp:63 111/111",
        "a=rtpmap:9 G722/8000", "a=rtpmap:0 PCMU/8000", "a=rtpmap:8 PCMA/8000", "a=rtpmap:13 CN/8000",
        "a=rtpmap:110 telephone-event/48000", "a=rtpmap:126 telephone-event/8000",
        "a=ssrc:3735928559 cname:abcdefgh", "a=ssrc:3735928559 msid:9f1c track-one",
    ])

    /// A Firefox-like offer: values at session level, other numbers, .local candidates.
    static let firefox = lines([
        "v=0", "o=app-99 4 0 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=fingerprint:\(fingerprint)", "a=ice-ufrag:ff01",
        "a=ice-pwd:0123456789abcdef0123456789abcdef", "a=setup:actpass", "a=group:BUNDLE 0 1", "a=ice-options:trickle",
        "m=audio 50000 UDP/TLS/RTP/SAVPF 109 101", "c=IN IP4 0.0.0.0",
        "a=candidate:0 1 UDP 2122252543 6bd1c0aa-1111-4222-8333-944455556666.local 50000 typ host", "a=sendrecv",
        "a=end-of-candidates", "a=mid:0", "a=rtcp-mux", "a=rtpmap:109 opus/48000/2",
        "a=fmtp:109 useinbandfec=1;maxplaybackrate=16000;stereo=1", "a=rtpmap:101 telephone-event/48000",
        "a=fmtp:101 0-15", "m=video 9 UDP/TLS/RTP/SAVPF 120", "c=IN IP4 0.0.0.0", "a=mid:1", "a=rtcp-mux",
        "a=rtpmap:120 VP8/90000", "a=sendrecv",
    ])

    /// An answer as a browser writes it to our offer.
    static func browserAnswer(setup: String, formats: String = "111 9 0 8 110 126") -> String {
        lines([
            "v=0", "o=- 77 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
            "m=audio 9 UDP/TLS/RTP/SAVPF \(formats)", "c=IN IP4 0.0.0.0", "a=ice-ufrag:ansr",
            "a=ice-pwd:answeranswerpassword12", "a=fingerprint:\(fingerprint)",
            "a=setup:\(setup)", "a=mid:0", "a=sendrecv", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2",
            "a=fmtp:111 minptime=10;usedtx=1", "a=rtpmap:110 telephone-event/48000",
            "a=rtpmap:126 telephone-event/8000",
        ])
    }

    static func carrier(
        _ formats: String = "8 0 9 18 101", port: Int = 40100, connection: String = "IN IP4 192.0.2.11",
        version: Int = 1, more: [String] = []
    ) -> String {
        lines(
            [
                "v=0", "o=carrier 881 \(version) IN IP4 192.0.2.11", "s=session", "c=\(connection)", "t=0 0",
                "m=audio \(port) RTP/AVP \(formats)", "a=rtpmap:101 telephone-event/8000", "a=fmtp:101 0-15",
            ] + more)
    }

    static func lines(_ lines: [String]) -> String { lines.map { $0 + "\r\n" }.joined() }
}

/// A small generator whose seed a failing test can print (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
