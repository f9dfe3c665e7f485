import ICE
import Testing

@Suite struct ICECandidateTests {
    @Test func aCandidateComesBackAsItWasWritten() throws {
        let line = "candidate:1 1 udp 2130706431 192.0.2.1 40000 typ host"
        let candidate = try #require(ICECandidate(sdp: line))
        #expect(candidate.description == line)
        #expect(ICECandidate(sdp: "a=" + line) == candidate)
        #expect(ICECandidate(sdp: line + " generation 0 ufrag x network-cost 999") == candidate)
        #expect(candidate.isUsable)
    }

    @Test(
        "H43 odd candidates are skipped singly",
        arguments: [
            ("candidate:1 1 UDP 1 192.0.2.1 40000 typ relay raddr 0.0.0.0 rport 0", true),
            ("candidate:1 1 udp 1 2001:db8::1 40000 typ srflx raddr :: rport 9", true),
            ("candidate:1 1 tcp 1 192.0.2.1 9 typ host tcptype active", false),
            ("candidate:1 1 tcp 1 192.0.2.1 4000 typ host tcptype passive", false),
            ("candidate:1 1 sctp 1 192.0.2.1 4000 typ host", false),
            ("candidate:1 1 udp 1 192.0.2.1 9 typ host", false),
            ("candidate:1 1 udp 1 abc.local 4000 typ host", false),
            ("candidate:1 1 udp 1 fe80::1%eth0 4000 typ host", false),
            ("candidate:1 1 udp 1 1.2.3 4000 typ host", false),
            ("candidate:1 2 udp 1 192.0.2.1 4000 typ host", false),
        ])
    func usability(line: String, usable: Bool) throws {
        #expect(try #require(ICECandidate(sdp: line)).isUsable == usable)
    }

    @Test(arguments: [
        "", "candidate:", "candidate:1 1 udp 1 192.0.2.1 40000", "candidate:1 1 udp 1 192.0.2.1 99999 typ host",
        "candidate:1 1 udp 99999999999 192.0.2.1 1 typ host", "candidate:1 1 udp 1 192.0.2.1 1 typ moon",
        "candidate:\(String(repeating: "f", count: 33)) 1 udp 1 192.0.2.1 1 typ host",
        "candidate:1 -1 udp 1 1.2.3.4 1 typ host",
    ])
    func brokenLinesAreRefused(line: String) {
        #expect(ICECandidate(sdp: line) == nil)
    }
}
