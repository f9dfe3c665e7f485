import GLibLoop
import SIPStack
import Synchronization
import Testing

@Suite("Dialogs with a scripted peer", .serialized)
struct DialogTests {
    @ControlActor func agent() throws -> UserAgent {
        try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: 0, timers: Bench.quick))
    }

    @ControlActor func call(
        _ agent: UserAgent, _ peer: ScriptedPeer, credentials: SIPCredentials? = nil
    ) throws -> (Dialog, Events<DialogEvent>) {
        let events = Events<DialogEvent>()
        let dialog = try agent.invite(
            OutgoingCall(
                target: SIPAddress(user: "100", host: "127.0.0.1", port: peer.port),
                from: SIPAddress(user: "me", host: "127.0.0.1"), credentials: credentials, sdp: "v=0\r\noffer\r\n"),
            onEvent: { events.append($0) })
        return (dialog, events)
    }

    static func contact(_ request: SIPText) -> [String] { ["Contact: <\(request.requestURI)>"] }

    @Test("an INVITE is challenged, answered once, and put through")
    @ControlActor func digest() async throws {
        let peer = ScriptedPeer { request in
            guard request.start == "INVITE" || request.start == "BYE" else { return [] }
            if request.start == "BYE" || request.header("Proxy-Authorization")?.contains("username=\"gw01\"") == true {
                return [request.response("200 OK", tag: "a", Self.contact(request), body: "v=0\r\n")]
            }
            return [
                request.response(
                    "407 Proxy Authentication Required", tag: "p",
                    ["Proxy-Authenticate: Digest realm=\"trunk\", nonce=\"n1\", qop=\"auth\", algorithm=MD5"])
            ]
        }
        let agent = try agent()
        let (dialog, events) = try call(agent, peer, credentials: SIPCredentials(user: "gw01", password: "pw"))
        #expect(await events.next { $0.isAnswered } != nil)
        dialog.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await agent.shutdown()
        peer.close()
    }

    @Test("AUTH-7 wrong credentials end the call after a few tries", arguments: [true, false])
    @ControlActor func wrongCredentials(hasCredentials: Bool) async throws {
        let peer = ScriptedPeer { request in
            guard request.start == "INVITE" else { return [] }
            let nonce = UInt64.random(in: 0...UInt64.max)
            return [
                request.response(
                    "407 Proxy Authentication Required", tag: "p",
                    ["Proxy-Authenticate: Digest realm=\"trunk\", nonce=\"\(nonce)\", algorithm=MD5"])
            ]
        }
        let agent = try agent()
        let (_, events) = try call(
            agent, peer, credentials: hasCredentials ? SIPCredentials(user: "gw01", password: "no") : nil)
        guard case .refused(let status, _, _)? = await events.next({ $0.isEnded })?.end else {
            Issue.record("not refused")
            return
        }
        #expect(status.code == 407)
        #expect(agent.liveCount == 0)
        #expect(peer.received.all.filter { $0.start == "INVITE" }.count <= 6)
        await agent.shutdown()
        peer.close()
    }

    @Test("H31 a second 200 of a fork gets its own ACK and a BYE; the first stays")
    @ControlActor func fork() async throws {
        let peer = ScriptedPeer { request in
            switch request.start {
            case "INVITE":
                return [
                    request.response("180 Ringing", tag: "a", Self.contact(request)),
                    request.response("200 OK", tag: "b", Self.contact(request), body: "v=0\r\nb\r\n"),
                    request.response("200 OK", tag: "c", Self.contact(request), body: "v=0\r\nc\r\n"),
                ]
            case "BYE": return [request.response("200 OK")]
            default: return []
            }
        }
        let agent = try agent()
        let (dialog, events) = try call(agent, peer)
        guard case .answered(let message)? = await events.next({ $0.isAnswered }) else {
            Issue.record("no answer")
            return
        }
        #expect(message.sdp == "v=0\r\nb\r\n")
        #expect(await peer.received.next { $0.start == "ACK" && $0.header("To")?.contains("tag=b") == true } != nil)
        #expect(await peer.received.next { $0.start == "ACK" && $0.header("To")?.contains("tag=c") == true } != nil)
        #expect(await peer.received.next { $0.start == "BYE" && $0.header("To")?.contains("tag=c") == true } != nil)
        #expect(dialog.state == .confirmed)
        dialog.hangUp()
        #expect(await peer.received.next { $0.start == "BYE" && $0.header("To")?.contains("tag=b") == true } != nil)
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await agent.shutdown()
        peer.close()
    }

    @Test("H38 a CANCEL waits for a provisional")
    @ControlActor func cancelWaits() async throws {
        let invites = Mutex(0)
        let peer = ScriptedPeer { request in
            switch request.start {
            case "INVITE":
                // Silent until the third transmission.
                let count = invites.withLock { value in
                    value += 1
                    return value
                }
                return count == 3 ? [request.response("180 Ringing", tag: "a", Self.contact(request))] : []
            case "CANCEL":
                let invite = SIPText(request.text.replacing("CANCEL", with: "INVITE"))
                return [request.response("200 OK"), invite.response("487 Request Terminated", tag: "a")]
            default: return []
            }
        }
        let agent = try agent()
        let (dialog, events) = try call(agent, peer)
        dialog.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .cancelled)
        let methods = peer.received.all.map(\.start)
        #expect(methods.prefix(3) == ["INVITE", "INVITE", "INVITE"])
        #expect(methods.contains("CANCEL"))
        await agent.shutdown()
        peer.close()
    }

    @Test("a peer that never answers ends the call with 408, also when it was hung up")
    @ControlActor func silence() async throws {
        let peer = ScriptedPeer { _ in [] }
        let agent = try agent()
        let (_, events) = try call(agent, peer)
        guard case .refused(let status, _, _)? = await events.next({ $0.isEnded })?.end else {
            Issue.record("not refused")
            return
        }
        #expect(status.code == 408)
        let (dialog, more) = try call(agent, peer)
        dialog.hangUp()
        #expect(await more.next { $0.isEnded }?.end == .cancelled)
        #expect(!peer.received.all.contains { $0.start == "CANCEL" })
        #expect(agent.liveCount == 0)
        await agent.shutdown()
        peer.close()
    }

    @Test("H32 a reliable provisional is acknowledged by PRACK, its early media heard")
    @ControlActor func reliable() async throws {
        let peer = ScriptedPeer { request in
            switch request.start {
            case "INVITE":
                return [
                    request.response(
                        "183 Session Progress", tag: "a", Self.contact(request) + ["Require: 100rel", "RSeq: 7"],
                        body: "v=0\r\nearly\r\n")
                ]
            case "PRACK", "BYE": return [request.response("200 OK")]
            default: return []
            }
        }
        let agent = try agent()
        let (dialog, events) = try call(agent, peer)
        #expect(await events.next { $0.provisional?.code == 183 }?.provisional?.sdp == "v=0\r\nearly\r\n")
        let prack = try #require(await peer.received.next { $0.start == "PRACK" })
        #expect(prack.header("RAck")?.hasPrefix("7 ") == true)
        let invite = try #require(peer.received.all.first { $0.start == "INVITE" })
        #expect(invite.header("Supported")?.contains("100rel") == true)
        peer.send(invite.response("200 OK", tag: "a", Self.contact(invite), body: "v=0\r\nearly\r\n"), to: agent.port)
        #expect(await events.next { $0.isAnswered } != nil)
        dialog.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await agent.shutdown()
        peer.close()
    }

    @ControlActor func incoming(
        _ agent: UserAgent, _ peer: ScriptedPeer, body: String = "v=0\r\noffer\r\n", _ more: [String] = []
    ) async -> (Dialog?, Events<DialogEvent>) {
        let events = Events<DialogEvent>()
        let calls = Events<Dialog>()
        agent.onIncomingCall = { dialog in
            dialog.onEvent = { events.append($0) }
            calls.append(dialog)
        }
        peer.send(ScriptText.request("INVITE", to: agent.port, from: peer.port, more, body: body), to: agent.port)
        return (await calls.next { _ in true }, events)
    }

    @Test("MSG-9 a 200 without ACK is repeated, then the call is ended")
    @ControlActor func noAcknowledgement() async throws {
        let peer = ScriptedPeer { request in request.start == "BYE" ? [request.response("200 OK")] : [] }
        let agent = try agent()
        let (dialog, events) = await incoming(agent, peer)
        #expect(await peer.received.next { $0.start == "100" } != nil)
        try #require(dialog).answer(sdp: "v=0\r\n")
        _ = await peer.received.next { $0.start == "200" }
        #expect(await peer.received.next { $0.start == "200" } != nil)
        guard case .lost? = await events.next({ $0.isEnded })?.end else {
            Issue.record("not lost")
            return
        }
        #expect(peer.received.all.contains { $0.start == "BYE" })
        #expect(agent.liveCount == 0)
        await agent.shutdown()
        peer.close()
    }

    @Test("H33 a late offer: our offer in the 200, the answer read from the ACK; the same in mid-call")
    @ControlActor func lateOffer() async throws {
        let agent = try agent()
        let port = agent.port
        let myPort = Mutex(UInt16(0))
        let peer = ScriptedPeer { response in
            if response.start == "BYE" { return [response.response("200 OK")] }
            guard response.start == "200", let sequence = response.header("CSeq"), sequence.hasSuffix("INVITE") else {
                return []
            }
            let tag = response.toTag ?? ""
            let number = Int(sequence.prefix { $0.isNumber }) ?? 0
            return [
                ScriptText.request(
                    "ACK", to: port, from: myPort.withLock { $0 }, sequence: number, toTag: tag,
                    body: "v=0\r\nanswer\(number)\r\n")
            ]
        }
        myPort.withLock { $0 = peer.port }
        let (dialog, events) = await incoming(agent, peer, body: "")
        #expect(dialog?.invitation?.sdp == nil)
        try #require(dialog).answer(sdp: "v=0\r\noffer\r\n")
        #expect(await events.next { $0 == .lateAnswer(sdp: "v=0\r\nanswer1\r\n") } != nil)
        let tag = peer.received.all.first { $0.start == "200" }?.toTag
        peer.send(ScriptText.request("INVITE", to: port, from: peer.port, sequence: 2, toTag: tag), to: port)
        #expect(await events.next { $0 == .offered(sdp: nil) } != nil)
        try dialog?.acceptOffer(sdp: "v=0\r\nagain\r\n")
        #expect(await events.next { $0 == .lateAnswer(sdp: "v=0\r\nanswer2\r\n") } != nil)
        // UPDATE with and without an offer.
        peer.send(
            ScriptText.request("UPDATE", to: port, from: peer.port, sequence: 3, toTag: tag, body: "v=0\r\nupdate\r\n"),
            to: port)
        #expect(await events.next { $0 == .offered(sdp: "v=0\r\nupdate\r\n") } != nil)
        try dialog?.acceptOffer(sdp: "v=0\r\nupdated\r\n")
        let updated = await peer.received.next { $0.start == "200" && $0.header("CSeq") == "3 UPDATE" }
        #expect(updated?.text.hasSuffix("v=0\r\nupdated\r\n") == true)
        peer.send(ScriptText.request("UPDATE", to: port, from: peer.port, sequence: 4, toTag: tag), to: port)
        #expect(await peer.received.next { $0.start == "200" && $0.header("CSeq") == "4 UPDATE" } != nil)
        dialog?.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await agent.shutdown()
        peer.close()
    }

    @Test("MSG-15 the session description is found in a multipart body")
    @ControlActor func multipart() async throws {
        let peer = ScriptedPeer { _ in [] }
        let agent = try agent()
        let body =
            "--x\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x\r\nContent-Type: application/sdp\r\n\r\n"
            + "v=0\r\ns=-\r\n--x--\r\n"
        let (dialog, events) = await incoming(agent, peer, body: body, ["Content-Type: multipart/mixed;boundary=x"])
        #expect(dialog?.invitation?.sdp == "v=0\r\ns=-\r\n")
        dialog?.reject(488, "Not Acceptable Here")
        peer.send(
            ScriptText.request(
                "ACK", to: agent.port, from: peer.port, toTag: "x", branch: "z9hG4bKINVITE1c1"), to: agent.port)
        #expect(await events.next { $0.isEnded } != nil)
        await agent.shutdown()
        peer.close()
    }

    @Test("H34 offers that cross get 491 each and are tried again")
    @ControlActor func glare() async throws {
        let bench = try Bench()
        let (near, far, events) = try await bench.talk()
        near.onEvent = { event in
            events.append(event)
            if case .offered = event { try? near.acceptOffer(sdp: "v=0\r\nnear\r\n") }
        }
        far.onEvent = { event in
            bench.farEvents.append(event)
            if case .offered = event { try? far.acceptOffer(sdp: "v=0\r\nfar\r\n") }
        }
        try near.reoffer(sdp: "v=0\r\none\r\n")
        try far.reoffer(sdp: "v=0\r\ntwo\r\n")
        #expect(await bench.farEvents.next { $0 == .reofferAnswered(sdp: "v=0\r\nnear\r\n") } != nil)
        #expect(await events.next { $0 == .reofferAnswered(sdp: "v=0\r\nfar\r\n") } != nil)
        near.hangUp()
        #expect(await bench.farEvents.next { $0.isEnded } != nil)
        await bench.close()
    }

    @Test("a proxy takes the INVITE; ACK and BYE go where the Contact says")
    @ControlActor func proxy() async throws {
        let far = ScriptedPeer { $0.start == "BYE" ? [$0.response("200 OK")] : [] }
        let farPort = far.port
        let proxy = ScriptedPeer { request in
            guard request.start == "INVITE" else { return [] }
            return [request.response("200 OK", tag: "a", ["Contact: <sip:x@127.0.0.1:\(farPort)>"], body: "v=0\r\n")]
        }
        let agent = try agent()
        let events = Events<DialogEvent>()
        let dialog = try agent.invite(
            OutgoingCall(
                target: SIPAddress(user: "+15550100", host: "trunk.example"),
                from: SIPAddress(user: "me", host: "trunk.example"),
                contactUser: "line-7", proxy: SIPAddress(user: "", host: "127.0.0.1", port: proxy.port), sdp: "v=0\r\n"),
            onEvent: { events.append($0) })
        let invite = try #require(await proxy.received.next { $0.start == "INVITE" })
        #expect(invite.requestURI == "sip:+15550100@trunk.example")
        #expect(invite.header("Contact")?.contains("line-7@127.0.0.1:\(agent.port)") == true)
        #expect(invite.header("Max-Forwards") == "70")
        #expect(await events.next { $0.isAnswered } != nil)
        #expect(await far.received.next { $0.start == "ACK" } != nil)
        dialog.hangUp()
        #expect(await far.received.next { $0.start == "BYE" } != nil)
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await agent.shutdown()
        proxy.close()
        far.close()
    }

    @Test("END-5 a redirection is not followed; 503 keeps its Retry-After", arguments: ["302 Moved", "503 Full"])
    @ControlActor func redirection(status: String) async throws {
        let peer = ScriptedPeer { request in
            request.start == "INVITE"
                ? [request.response(status, tag: "a", ["Contact: <sip:other@127.0.0.1:9>", "Retry-After: 1"])] : []
        }
        let agent = try agent()
        let (_, events) = try call(agent, peer)
        guard case .refused(let refusal, _, let retryAfter)? = await events.next({ $0.isEnded })?.end else {
            Issue.record("not refused")
            return
        }
        #expect("\(refusal.code) \(refusal.phrase)" == status)
        #expect(retryAfter == 1)
        #expect(agent.liveCount == 0)
        await agent.shutdown()
        peer.close()
    }

    @Test(
        "AUTH-3 of several challenges the topmost one we can do is answered",
        arguments: [("SHA-512-256", "MD5", "n2", 32), ("SHA-256", "MD5", "n1", 64), ("MD5", "SHA-256", "n1", 32)])
    @ControlActor func severalChallenges(first: String, second: String, nonce: String, digits: Int) async throws {
        let peer = ScriptedPeer { request in
            guard request.start == "INVITE" else { return request.start == "BYE" ? [request.response("200 OK")] : [] }
            if request.header("Authorization") != nil {
                return [request.response("200 OK", tag: "a", Self.contact(request), body: "v=0\r\n")]
            }
            return [
                request.response(
                    "401 Unauthorized", tag: "p",
                    [
                        "WWW-Authenticate: Digest realm=\"t\", nonce=\"n1\", qop=\"auth\", algorithm=\(first)",
                        "WWW-Authenticate: Digest realm=\"t\", nonce=\"n2\", qop=\"auth\", algorithm=\(second)",
                    ])
            ]
        }
        let agent = try agent()
        let (dialog, events) = try call(agent, peer, credentials: SIPCredentials(user: "gw01", password: "pw"))
        #expect(await events.next { $0.isAnswered || $0.isEnded }?.isAnswered == true)
        let authorized = peer.received.all.first { $0.header("Authorization") != nil }
        let header = authorized?.header("Authorization")
        #expect(header?.contains("nonce=\"\(nonce)\"") == true)
        #expect(
            header?.firstRange(of: "response=\"").map { header?[$0.upperBound...].prefix { $0 != "\"" }.count } == digits)
        dialog.hangUp()
        _ = await events.next { $0.isEnded }
        await agent.shutdown()
        peer.close()
    }

    @Test("H37 a session interval that is too small is raised and the call goes on")
    @ControlActor func sessionInterval() async throws {
        let peer = ScriptedPeer { request in
            switch request.start {
            case "INVITE":
                let asked = request.header("Session-Expires")?.prefix { $0.isNumber }
                guard asked == "1800" else {
                    return [request.response("422 Session Interval Too Small", tag: "a", ["Min-SE: 1800"])]
                }
                return [
                    request.response(
                        "200 OK", tag: "a",
                        Self.contact(request) + ["Session-Expires: 1800;refresher=uas", "Require: timer"],
                        body: "v=0\r\n")
                ]
            case "BYE": return [request.response("200 OK")]
            default: return []
            }
        }
        let agent = try UserAgent(
            configuration: SIPConfiguration(address: "127.0.0.1", port: 0, timers: Bench.quick, sessionInterval: 120))
        let (dialog, events) = try call(agent, peer)
        #expect(await events.next { $0.isAnswered || $0.isEnded }?.isAnswered == true)
        dialog.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await agent.shutdown()
        peer.close()
    }

    @Test("shutting down ends the calls of both sides")
    @ControlActor func shutdown() async throws {
        let bench = try Bench()
        let (near, _, events) = try await bench.talk()
        let (ringing, more) = try bench.call()
        let incoming = try #require(await bench.calls.next { _ in true })
        incoming.ring()
        _ = await more.next { $0.provisional != nil }
        #expect(near.state == .confirmed && ringing.state == .early)
        await bench.near.shutdown()
        #expect(events.all.last?.isEnded == true)
        #expect(more.all.last?.isEnded == true)
        _ = await bench.farEvents.next { $0.isEnded }
        _ = await bench.farEvents.next { $0.isEnded }
        await bench.far.shutdown()
        #expect(bench.near.liveCount == 0 && bench.far.liveCount == 0)
    }

    @Test("draining waits for ends that come, refuses new calls, and gives up on ends that do not come")
    @ControlActor func drain() async throws {
        let bench = try Bench()
        let (near, _, events) = try await bench.talk()
        near.hangUp()
        await bench.near.drain(within: .seconds(10))
        #expect(events.all.last?.isEnded == true)
        #expect(bench.near.liveCount == 0)

        let (_, ringing) = try bench.call()
        let incoming = try #require(await bench.calls.next { _ in true })
        incoming.ring()
        _ = await ringing.next { $0.provisional != nil }
        let begun = ContinuousClock.now
        await bench.near.drain(within: .milliseconds(200))
        #expect(ContinuousClock.now - begun < .seconds(5))
        #expect(bench.near.liveCount == 1)
        await bench.far.shutdown()
        await bench.near.shutdown()
    }

    @Test("a call hung up between our 200 and its ACK ends cleanly")
    @ControlActor func earlyBye() async throws {
        let bench = try Bench()
        let (_, events) = try bench.call()
        let incoming = try #require(await bench.calls.next { _ in true })
        try incoming.answer(sdp: "v=0\r\n")
        incoming.hangUp()
        #expect(await events.next { $0.isEnded } != nil)
        #expect(await bench.farEvents.next { $0.isEnded } != nil)
        await bench.close()
        #expect(bench.near.liveCount == 0 && bench.far.liveCount == 0)
    }

    @Test("MSG-4 a large INVITE reaches a peer that has no TCP")
    @ControlActor func largeInvite() async throws {
        let peer = ScriptedPeer { request in
            request.start == "INVITE" ? [request.response("486 Busy Here", tag: "a")] : []
        }
        let agent = try agent()
        let events = Events<DialogEvent>()
        _ = try agent.invite(
            OutgoingCall(
                target: SIPAddress(user: "100", host: "127.0.0.1", port: peer.port),
                from: SIPAddress(user: "me", host: "127.0.0.1"), sdp: "v=0\r\n" + String(repeating: "a=x\r\n", count: 400)),
            onEvent: { events.append($0) })
        #expect(await events.next { $0.isEnded }?.end?.status == 486)
        await agent.shutdown()
        peer.close()
    }

    @Test("H63 a stream in single bytes, two messages in one segment, and a stream of nonsense")
    @ControlActor func streams() async throws {
        let agent = try agent()
        func options(_ call: String) -> [UInt8] {
            let text = ScriptText.request("OPTIONS", to: agent.port, from: 5060, call: call)
            return Array(text.replacing("SIP/2.0/UDP", with: "SIP/2.0/TCP").utf8)
        }
        let slow = await TCPProbe.exchange(port: agent.port, pieces: options("slow").map { [$0] }, responses: 1)
        #expect(slow.hasPrefix("SIP/2.0 200"))
        let two = await TCPProbe.exchange(port: agent.port, pieces: [options("a") + options("b")], responses: 2)
        #expect(two.contains("a@peer") && two.contains("b@peer"))
        let nonsense = [UInt8](repeating: 0x7A, count: 20000)
        _ = await TCPProbe.exchange(port: agent.port, pieces: [nonsense, Array("\r\n\r\n\r\n\r\n".utf8)], responses: 1)
        let after = await TCPProbe.exchange(port: agent.port, pieces: [options("after")], responses: 1)
        #expect(after.hasPrefix("SIP/2.0 200"))
        await agent.shutdown()
    }

    @Test("H32 a caller that requires reliable provisionals gets them, and the answer after its PRACK")
    @ControlActor func requiredReliability() async throws {
        let bench = try Bench()
        let (dialog, events) = try bench.call(headers: [SIPHeader("Require", "100rel")])
        let incoming = try #require(await bench.calls.next { _ in true })
        incoming.progress(sdp: "v=0\r\nearly\r\n")
        try incoming.answer(sdp: "v=0\r\nearly\r\n")
        #expect(await events.next { $0.provisional?.code == 183 }?.provisional?.sdp == "v=0\r\nearly\r\n")
        #expect(await events.next { $0.isAnswered } != nil)
        #expect(await bench.farEvents.next { $0 == .confirmed } != nil)
        dialog.hangUp()
        #expect(await bench.farEvents.next { $0.isEnded } != nil)
        await bench.close()
        #expect(bench.near.liveCount == 0 && bench.far.liveCount == 0)
    }

    @Test("a call over IPv6")
    @ControlActor func ipv6() async throws {
        let near = try UserAgent(configuration: SIPConfiguration(address: "::1", port: 0))
        let far = try UserAgent(configuration: SIPConfiguration(address: "::1", port: 0))
        let calls = Events<Dialog>()
        far.onIncomingCall = { calls.append($0) }
        let events = Events<DialogEvent>()
        let dialog = try near.invite(
            OutgoingCall(
                target: SIPAddress(user: "6", host: "[::1]", port: far.port), from: SIPAddress(user: "me", host: "[::1]"),
                sdp: "v=0\r\n"), onEvent: { events.append($0) })
        let incoming = try #require(await calls.next { _ in true })
        #expect(incoming.invitation?.sourceAddress == "::1")
        try incoming.answer(sdp: "v=0\r\n")
        #expect(await events.next { $0.isAnswered } != nil)
        dialog.hangUp()
        #expect(await events.next { $0.isEnded }?.end == .hungUp)
        await near.shutdown()
        await far.shutdown()
    }

    @Test("H53 requests outside dialogs are answered and leave nothing")
    @ControlActor func strays() async throws {
        let peer = ScriptedPeer { _ in [] }
        let agent = try agent()
        for (method, tag, status) in [
            ("OPTIONS", nil, "200"), ("MESSAGE", nil, "405"), ("NOTIFY", nil, "405"), ("SUBSCRIBE", nil, "405"),
            ("REFER", nil, "405"), ("REGISTER", nil, "405"), ("BYE", "gone", "481"), ("INFO", "gone", "481"),
            ("UPDATE", "gone", "481"), ("PUBLISH", nil, "405"),
        ] as [(String, String?, String)] {
            peer.send(
                ScriptText.request(method, to: agent.port, from: peer.port, call: "s" + method, toTag: tag), to: agent.port)
            let answer = await peer.received.next { $0.header("CSeq") == "1 \(method)" }
            #expect(answer?.start == status, "\(method) got \(answer?.start ?? "nothing")")
        }
        // In portions that fit the socket's buffer.
        for portion in 0..<100 {
            for number in 0..<20 {
                let call = "o\(portion)-\(number)"
                peer.send(ScriptText.request("OPTIONS", to: agent.port, from: peer.port, call: call), to: agent.port)
            }
            #expect(await peer.received.next { $0.header("Call-ID") == "o\(portion)-19@peer" }?.start == "200")
        }
        #expect(agent.liveCount == 0)
        await agent.shutdown()
        peer.close()
    }

    @Test("H63 garbage on the port harms nobody", arguments: [11, 12, 13] as [UInt64])
    @ControlActor func garbage(seed: UInt64) async throws {
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let peer = ScriptedPeer { _ in [] }
        let agent = try agent()
        agent.onIncomingCall = { $0.reject(404, "Not Found") }
        let model = Array(
            ScriptText.request("INVITE", to: agent.port, from: peer.port, call: "g", body: "v=0\r\no=x\r\n").utf8)
        for round in 0..<300 {
            var bytes = model
            for _ in 0..<(1 + random(20)) {
                let at = random(bytes.count)
                switch random(3) {
                case 0: bytes[at] = UInt8(random(128))
                case 1: bytes.removeSubrange(at..<min(bytes.count, at + random(30)))
                default: bytes.insert(contentsOf: [UInt8](repeating: UInt8(random(128)), count: random(60)), at: at)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            if round % 10 == 0 { bytes = (0..<random(200)).map { _ in UInt8(random(128)) } }
            peer.send(String(decoding: bytes, as: UTF8.self), to: agent.port)
            guard round % 20 == 19 else { continue }
            let call = "good\(round)"
            peer.send(ScriptText.request("OPTIONS", to: agent.port, from: peer.port, call: call), to: agent.port)
            #expect(await peer.received.next { $0.header("Call-ID") == "\(call)@peer" }?.start == "200", "seed \(seed)")
        }
        await agent.shutdown()
        #expect(agent.liveCount == 0)
        peer.close()
    }
}
