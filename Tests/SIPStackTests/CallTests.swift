import GLibLoop
import Glibc
import SIPStack
import Testing

@Suite("Calls between two user agents", .serialized)
struct CallTests {
    @Test("H30 a call rings, has early media, is answered, and the caller hangs up")
    @ControlActor func outgoing() async throws {
        let bench = try Bench()
        let (dialog, events) = try bench.call("200")
        let incoming = try #require(await bench.calls.next { _ in true })
        #expect(incoming.invitation?.requestURI?.user == "200")
        #expect(incoming.invitation?.from.user == "caller")
        #expect(incoming.invitation?.sdp == "v=0\r\noffer\r\n")
        #expect(incoming.invitation?.sourceAddress == "127.0.0.1")
        #expect(incoming.invitation?.sourcePort == bench.near.port)
        incoming.ring()
        #expect(await events.next { $0.provisional?.code == 180 }?.provisional?.sdp == nil)
        incoming.progress(sdp: "v=0\r\nearly\r\n")
        #expect(await events.next { $0.provisional?.code == 183 }?.provisional?.sdp == "v=0\r\nearly\r\n")
        try incoming.answer(sdp: "v=0\r\nanswer\r\n")
        guard case .answered(let message)? = await events.next({ $0.isAnswered }) else {
            Issue.record("no answer")
            return
        }
        #expect(message.sdp == "v=0\r\nanswer\r\n")
        #expect(await bench.farEvents.next { $0 == .confirmed } != nil)
        dialog.hangUp(reason: SIPReason(protocol: "Q.850", cause: 16, text: "Normal"))
        #expect(
            await bench.farEvents.next { $0.isEnded }?.end
                == .hungUpByPeer(SIPReason(protocol: "Q.850", cause: 16, text: "Normal")))
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await bench.close()
        #expect(bench.near.liveCount == 0 && bench.far.liveCount == 0)
    }

    @Test("the called side hangs up")
    @ControlActor func farHangsUp() async throws {
        let bench = try Bench()
        let (_, far, events) = try await bench.talk()
        far.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .hungUpByPeer(nil))
        #expect(await bench.farEvents.next { $0.isEnded }?.end == .hungUp)
        await bench.close()
    }

    @Test("a refusal keeps its status, phrase and cause")
    @ControlActor func reject() async throws {
        let bench = try Bench()
        let (_, events) = try bench.call()
        let incoming = try #require(await bench.calls.next { _ in true })
        incoming.reject(486, "Busy Here", headers: [SIPHeader("Reason", "Q.850;cause=17;text=\"busy\"")])
        #expect(
            await events.next { $0.isEnded }?.end
                == .refused(
                    SIPStatus(code: 486, phrase: "Busy Here"),
                    reason: SIPReason(protocol: "Q.850", cause: 17, text: "busy"),
                    retryAfter: nil))
        #expect(await bench.farEvents.next { $0.isEnded }?.end == .rejected(SIPStatus(code: 486, phrase: "Busy Here")))
        await bench.close()
    }

    @Test("H38 cancel after ringing")
    @ControlActor func cancel() async throws {
        let bench = try Bench()
        let (dialog, events) = try bench.call()
        let incoming = try #require(await bench.calls.next { _ in true })
        incoming.ring()
        _ = await events.next { $0.provisional?.code == 180 }
        dialog.hangUp()
        #expect(await bench.farEvents.next { $0.isEnded }?.end == .cancelledByPeer(nil))
        #expect(await events.next { $0.isEnded }?.end == .cancelled)
        await bench.close()
        #expect(bench.near.liveCount == 0 && bench.far.liveCount == 0)
    }

    @Test("H38 cancel at once, before anything was heard")
    @ControlActor func cancelAtOnce() async throws {
        let bench = try Bench()
        let (dialog, events) = try bench.call()
        dialog.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .cancelled)
        if bench.calls.all.count > 0 { _ = await bench.farEvents.next { $0.isEnded } }
        await bench.close()
        #expect(bench.near.liveCount == 0 && bench.far.liveCount == 0)
    }

    @Test("H38 a 200 that crosses the cancel is acknowledged and ended")
    @ControlActor func cancelCrossesAnswer() async throws {
        let bench = try Bench()
        let (dialog, events) = try bench.call()
        let incoming = try #require(await bench.calls.next { _ in true })
        incoming.ring()
        _ = await events.next { $0.provisional?.code == 180 }
        try incoming.answer(sdp: "v=0\r\n")
        dialog.hangUp()
        let end = await events.next { $0.isEnded }?.end
        #expect(end == .cancelled || end == .hungUp)
        #expect(await bench.farEvents.next { $0.isEnded } != nil)
        await bench.close()
    }

    @Test("hold and resume, both ways")
    @ControlActor func hold() async throws {
        let bench = try Bench()
        let (near, far, events) = try await bench.talk()
        try near.reoffer(sdp: "v=0\r\nhold\r\n")
        #expect(throws: SIPStackError.offerIsOpen) { try near.reoffer(sdp: "v=0\r\n") }
        #expect(await bench.farEvents.next { $0 == .offered(sdp: "v=0\r\nhold\r\n") } != nil)
        try far.acceptOffer(sdp: "v=0\r\nheld\r\n")
        #expect(await events.next { $0 == .reofferAnswered(sdp: "v=0\r\nheld\r\n") } != nil)
        try far.reoffer(sdp: "v=0\r\nback\r\n")
        #expect(await events.next { $0 == .offered(sdp: "v=0\r\nback\r\n") } != nil)
        near.refuseOffer(488, "Not Acceptable Here")
        #expect(
            await bench.farEvents.next { $0 == .reofferRefused(SIPStatus(code: 488, phrase: "Not Acceptable Here")) } != nil
        )
        #expect(near.state == .confirmed && far.state == .confirmed)
        near.hangUp()
        #expect(await bench.farEvents.next { $0.isEnded } != nil)
        await bench.close()
    }

    @Test("H33 a call without an offer gets ours in the 200, and its answer from the ACK is missing")
    @ControlActor func lateOffer() async throws {
        let bench = try Bench()
        let (_, events) = try bench.call(sdp: nil)
        let incoming = try #require(await bench.calls.next { _ in true })
        #expect(incoming.invitation?.sdp == nil)
        try incoming.answer(sdp: "v=0\r\noffer\r\n")
        #expect(await events.next { $0.isAnswered } != nil)
        #expect(await bench.farEvents.next { $0 == .lateAnswer(sdp: nil) } != nil)
        incoming.hangUp(reason: SIPReason(protocol: "SIP", cause: 488))
        #expect(await events.next { $0.isEnded }?.end == .hungUpByPeer(SIPReason(protocol: "SIP", cause: 488)))
        await bench.close()
    }

    @Test("H28 keys in INFO bodies, both ways")
    @ControlActor func info() async throws {
        let bench = try Bench()
        let (near, far, events) = try await bench.talk()
        try near.send(digit: InfoDigit(key: "5", duration: 160))
        #expect(await bench.farEvents.next { $0 == .digit(InfoDigit(key: "5", duration: 160)) } != nil)
        #expect(await events.next { $0 == .infoAnswered(SIPStatus(code: 200, phrase: "OK")) } != nil)
        for (type, body, key) in [
            ("application/dtmf-relay", "Signal= *\r\nDuration= 160\r\n", Character("*")),
            ("application/dtmf", "11", "#"), ("application/dtmf-relay", "Signal=7", "7"),
        ] {
            try far.sendInfo(contentType: type, body: body)
            let event = await events.next { if case .digit(let digit) = $0 { digit.key == key } else { false } }
            #expect(event != nil, "\(type) \(body)")
        }
        try far.sendInfo(contentType: "text/plain", body: "hello")
        #expect(
            await bench.farEvents.next { $0 == .infoAnswered(SIPStatus(code: 415, phrase: "Unsupported Media Type")) }
                != nil)
        near.hangUp()
        _ = await bench.farEvents.next { $0.isEnded }
        await bench.close()
    }

    @Test("calls over TCP")
    @ControlActor func tcp() async throws {
        let bench = try Bench()
        let (dialog, events) = try bench.call(transport: "transport=tcp")
        let incoming = try #require(await bench.calls.next { _ in true })
        try incoming.answer(sdp: "v=0\r\n")
        #expect(await events.next { $0.isAnswered } != nil)
        dialog.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await bench.close()
    }

    @Test("H10 names with quotes and other letters arrive as written, and headers cannot be split")
    @ControlActor func names() async throws {
        let bench = try Bench()
        let name = "Zoë \"Z\" \\ 大"
        let events = Events<DialogEvent>()
        var from = bench.address("caller;x=1@h", bench.near)
        from.displayName = name
        _ = try bench.near.invite(
            OutgoingCall(
                target: bench.address("100", bench.far), from: from, sdp: "v=0\r\n",
                headers: [
                    SIPHeader("P-Asserted-Identity", "\"Desk\" <sip:+15550100@example.net>"),
                    SIPHeader("X-One", "a\r\nX-Two: b"),
                ]), onEvent: { events.append($0) })
        let invitation = try #require(await bench.calls.next { _ in true }?.invitation)
        #expect(invitation.from.displayName == name)
        #expect(invitation.from.user == "caller;x=1@h")
        #expect(invitation.assertedIdentity == SIPAddress(displayName: "Desk", user: "+15550100", host: "example.net"))
        #expect(invitation.headers.contains { $0.name == "X-One" && $0.value == "aX-Two: b" })
        #expect(!invitation.headers.contains { $0.name == "X-Two" })
        bench.calls.all.first?.reject(404, "Not Found")
        #expect(await events.next { $0.isEnded } != nil)
        await bench.close()
    }

    @Test("a taken port is a typed error, and a free one works after it")
    @ControlActor func takenPort() async throws {
        let bench = try Bench()
        let taken = bench.near.port
        #expect {
            _ = try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: taken))
        } throws: { error in
            if case SIPStackError.cannotBind("127.0.0.1", taken, EADDRINUSE, _) = error { true } else { false }
        }
        #expect(throws: (any Error).self) {
            _ = try UserAgent(configuration: SIPConfiguration(address: "192.0.2.1", port: 0))
        }
        await bench.close()
        #expect(bench.near.liveCount == 0)
        let again = try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: taken))
        #expect(again.port == taken)
        await again.shutdown()
        #expect(throws: SIPStackError.isShutDown) {
            _ = try again.invite(
                OutgoingCall(target: bench.address("1", again), from: bench.address("2", again), sdp: nil))
        }
    }

    @Test("H54 200 calls in a row leave nothing")
    @ControlActor func manyCalls() async throws {
        let bench = try Bench()
        for round in 0..<200 {
            let (dialog, events) = try bench.call()
            let incoming = try #require(await bench.calls.next { _ in true })
            switch round % 4 {
            case 0:
                try incoming.answer(sdp: "v=0\r\n")
                _ = await events.next { $0.isAnswered }
                dialog.hangUp()
            case 1:
                try incoming.answer(sdp: "v=0\r\n")
                _ = await bench.farEvents.next { $0 == .confirmed }
                incoming.hangUp()
            case 2: incoming.reject(486, "Busy Here")
            default:
                incoming.ring()
                _ = await events.next { $0.provisional != nil }
                dialog.hangUp()
            }
            #expect(await events.next { $0.isEnded } != nil, "round \(round)")
            #expect(await bench.farEvents.next { $0.isEnded } != nil, "round \(round)")
        }
        await bench.close()
        #expect(bench.near.liveCount == 0 && bench.far.liveCount == 0)
    }
}
