import Foundation
import GLibLoop
import GatewayTesting
import Sockets
import Testing
import WCSProtocol
import WebServer

extension Wire {
    /// What a gateway says to bad input, and what it must not lose over it: a call that is up is judged by ear.
    @Suite("Robustness") @ControlActor struct RobustnessTests {
        @Test("A configuration that cannot be carried out ends the start with code 2 and one line: file and key path")
        func badConfigurations() async throws {
            let folder = try ScratchFolder("configuration")
            let ports = try GatewayProcess.Ports()
            let holder = try await GatewayProcess.start()
            let cases: [(GatewayProcess.Settings, String)] = [
                (["web": ["port": holder.ports.web]], "web.port"),
                (["sip": ["port": holder.ports.sip]], "sip.port"),
                (["demo": ["sipPort": holder.ports.demo]], "demo.sipPort"),
                (["web": ["host": "192.0.2.77"]], "web.port"),
                (["media": ["lanez": 2]], "media.lanez"),
                (["media": ["lanes": "two"]], "media.lanes"),
                (["media": ["trunkAddress": "192.0.2.77"]], "media.trunkAddress"),
                (["mediaa": ["lanes": 2]], "mediaa"),
                (
                    ["dtls": ["certificateFile": "/nowhere/certificate.pem", "privateKeyFile": "/nowhere/key.pem"]],
                    "dtls.certificateFile"
                ),
                (
                    ["dtls": ["certificateFile": "/etc/hostname", "privateKeyFile": "/etc/hostname"]],
                    "dtls.certificateFile"
                ),
            ]
            for (number, (settings, path)) in cases.enumerated() {
                let file = folder.file("bad-\(number).json5")
                try ports.configuration(settings).write(to: file)
                try await expectRefusal(of: file, naming: path)
            }
            let broken = folder.file("syntax.json5")
            try Data("{\n  web: {\n    port: 80 80\n  }\n}".utf8).write(to: broken)
            try await expectRefusal(of: broken, naming: "3")
            try Data([0x7B, 0xFF, 0xFE, 0x00]).write(to: broken)
            try await expectRefusal(of: broken, naming: "1")
            try await expectRefusal(of: folder.file("missing.json5"), naming: "missing.json5")
            #expect(await holder.stop() == .status(0))
        }

        private func expectRefusal(of file: URL, naming place: String) async throws {
            let run = try await GatewayProcess.run(["serve", "--config", file.path], within: .seconds(15))
            #expect(run.end == .status(2), "\(place): \(run.text)")
            let errors = run.text.split(separator: "\n").filter { $0.hasPrefix("trunkline: ") }
            #expect(errors.count == 1, "\(place): \(run.text)")
            #expect(errors.first?.contains(file.path) == true, "\(run.text)")
            #expect(errors.first?.contains(place) == true, "\(run.text)")
            #expect(!run.text.contains("is ready"))
        }

        @Test("Bad frames on WebSockets are refused in words, floods and giants are closed, and others do not notice")
        func badFrames() async throws {
            let gateway = try await GatewayProcess.start(["wcs": ["messagesPerSecond": 400]])
            let caller = try await ScriptedClient.signIn(gateway)
            let call = try await answeredCall(of: caller)

            let early = try await ScriptedClient.open(gateway)
            early.send(.hangup(callID: "x"))
            early.send(.call(CallRequest(callID: "too-early", callee: "100", sdp: ScriptedCall.canned())))
            _ = try await early.wait { if case .fail(let event) = $0 { event } else { nil } }

            let rude = try await ScriptedClient.signIn(gateway)
            for (text, isRefused) in Self.badTexts {
                let start = rude.messages.count
                rude.send(raw: text)
                rude.send(.ping)
                _ = try await rude.wait(from: start) { if case .pong = $0 { true } else { nil } }
                let fails = rude.messages[start...].filter { if case .fail = $0 { true } else { false } }
                #expect(fails.isEmpty != isRefused, "\(text.prefix(80)): \(rude.messages[start...])")
                #expect(rude.closure == nil)
            }
            for _ in 0..<3000 { rude.send(raw: #"{"message":"pong","data":[]}"#) }
            #expect(await eventually { rude.closure?.code == 1008 }, "\(String(describing: rude.closure))")

            await rawFrames(UInt16(gateway.ports.web))
            try await judge(call)
            caller.leave()
            #expect(await gateway.stop() == .status(0))
        }

        private static let badTexts: [(String, isRefused: Bool)] = {
            let deep = String(repeating: "[", count: 20_000)
            return [
                ("{", true), ("null", true), ("[]", true), ("", true), ("7", true), (#"{"message":7}"#, true),
                (#"{"message":"call"}"#, true), (#"{"message":"call","data":{}}"#, true),
                (#"{"message":"call","data":[{"callId":{},"callee":[],"sdp":7}]}"#, true),
                (#"{"message":"hangup","data":[{"callId":null}]}"#, true),
                (#"{"message":"sendDtmf","data":[{"callId":"x","dtmf":"quack"}]}"#, true),
                (#"{"message":"connection","data":[{"sipPort":"x"}]}"#, true),
                (#"{"message":"nonsense","data":[{}]}"#, false),
                (deep, true), (#"{"message":"pong","data":"# + deep, true),
                (#"{"message":"pushLogs","data":[{"logs":""# + String(repeating: "z", count: 500_000) + #""}]}"#, false),
            ]
        }()

        /// What libsoup's client would not send: runs off the control loop, for it blocks.
        nonisolated private func rawFrames(_ port: UInt16) async {
            let half = (0..<100).compactMap { _ in RawClient(port: port) }
            #expect(half.count == 100)
            for (index, client) in half.enumerated() where index % 2 == 0 { client.send("GET / HT") }

            let binary = RawClient(port: port)
            binary?.upgrade()
            for _ in 0..<10 { binary?.send(RawClient.frame(opcode: 2, payload: [0, 1, 2, 255])) }
            binary?.send(RawClient.frame(opcode: 1, payload: Array(#"{"message":"ping","data":[]}"#.utf8)))
            #expect(binary?.read { $0.contains("pong") }.contains("pong") == true)

            for frame in [
                RawClient.frame(opcode: 1, payload: [], claimedLength: 1 << 62),
                RawClient.frame(opcode: 1, payload: [], claimedLength: .max),
                RawClient.frame(opcode: 1, payload: [UInt8](repeating: 0x20, count: (1 << 20) + 1)),
                RawClient.frame(opcode: 1, payload: [0xC3, 0x28, 0xFF]),
                RawClient.frame(opcode: 11, payload: []),
                RawClient.frame(opcode: 9, payload: [UInt8](repeating: 1, count: 200)),
                [0xF1, 0x80, 0, 0, 0, 0], [0x81, 0x05] + Array("naked".utf8),
            ] {
                let client = RawClient(port: port)
                client?.upgrade()
                client?.send(frame)
                // The gateway closes: otherwise this read would last until its time limit.
                let begun = ContinuousClock.now
                _ = client?.read()
                #expect(ContinuousClock.now - begun < .seconds(9), "not closed after \(frame.prefix(10))")
            }
            RawClient(port: port)?.send("GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\n\r\n")
            RawClient(port: port)?.send("\u{0}\u{1}\u{2}\r\n\r\n")
            #expect(RawClient.request(port: port, "GET /healthz HTTP/1.0\r\n\r\n").contains("ok"))
        }

        @Test("Bad offers end their own call in words; odd ones are taken; bad answers refuse the trunk's call")
        func badDescriptions() async throws {
            let gateway = try await GatewayProcess.start(["wcs": ["messagesPerSecond": 400]])
            let caller = try await ScriptedClient.signIn(gateway)
            let call = try await answeredCall(of: caller)
            let rude = try await ScriptedClient.signIn(gateway)
            for (number, bad) in BadDescriptions.all(from: ScriptedCall.canned()).enumerated() {
                let id = "bad-offer-\(number)"
                rude.send(.call(CallRequest(callID: id, callee: "100", sdp: bad.text)))
                do {
                    let end = try await rude.end(of: id)
                    #expect(end.status == .failed, "\(bad.flaw)")
                    #expect(!end.info.isEmpty)
                } catch { Issue.record("\(bad.flaw): \(error)") }
            }
            for (number, odd) in BadDescriptions.usable(from: ScriptedCall.canned()).enumerated() {
                let id = "odd-offer-\(number)"
                rude.send(.call(CallRequest(callID: id, callee: "105", sdp: odd.text)))
                do {
                    _ = try await rude.wait { if case .ring(let call) = $0, call.callID == id { true } else { nil } }
                } catch { Issue.record("\(odd.oddity): \(error)") }
                rude.send(.hangup(callID: id))
                _ = try await rude.end(of: id)
            }
            try await badAnswers(gateway, rude)
            try await badTrunkOffers(gateway, rude)
            try await judge(call)
            #expect(try await answeredCall(of: rude).status == .established)
            #expect(await gateway.stop() == .status(0))
        }

        private func badAnswers(_ gateway: GatewayProcess, _ client: ScriptedClient) async throws {
            let trunk = try RawSIP(target: gateway.ports.sip)
            for bad in BadDescriptions.all(from: ScriptedCall.canned().replacing("actpass", with: "active")) {
                let start = client.messages.count
                let callID = trunk.invite(client.login, description: RawSIP.offer)
                do {
                    let call = try await client.wait(from: start) {
                        if case .notifyIncomingCall(let call) = $0 { call } else { nil }
                    }
                    client.send(.answer(AnswerRequest(callID: call.callID, sdp: bad.text)))
                    let end = try await client.end(of: call.callID)
                    #expect(end.status == .failed, "\(bad.flaw)")
                    #expect(!end.info.isEmpty)
                } catch { Issue.record("\(bad.flaw): \(error)") }
                let response = await trunk.finalResponse(to: callID)
                #expect(response?.hasPrefix("SIP/2.0 488") == true, "\(bad.flaw): \(response?.prefix(40) ?? "silence")")
                if let response { trunk.acknowledge(client.login, callID: callID, response: response) }
            }
        }

        private func badTrunkOffers(_ gateway: GatewayProcess, _ client: ScriptedClient) async throws {
            let trunk = try RawSIP(target: gateway.ports.sip)
            let long = String(repeating: "x", count: 55_000)
            for media in [
                "", "m=video 9 RTP/AVP 96\r\n", "m=audio 0 RTP/AVP 0\r\n", "m=audio 99999999 RTP/AVP 0\r\n",
                "m=audio 9 RTP/AVP 18\r\n", "m=audio 9 RTP/AVP \(long)\r\n", "m=\(long)\r\n",
                "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n",
            ] {
                let callID = trunk.invite(client.login, description: RawSIP.description(media))
                let response = await trunk.finalResponse(to: callID)
                #expect(
                    response?.hasPrefix("SIP/2.0 488") == true, "\(media.prefix(40)): \(response?.prefix(40) ?? "silence")")
                if let response { trunk.acknowledge(client.login, callID: callID, response: response) }
            }
        }

        @Test("A call's name taken twice, and names of nobody's or somebody else's call, harm no call")
        func callNames() async throws {
            let gateway = try await GatewayProcess.start()
            let caller = try await ScriptedClient.signIn(gateway)
            let call = try await answeredCall(of: caller)
            caller.send(.call(CallRequest(callID: call.id, callee: "100", sdp: ScriptedCall.canned())))
            let refusal = try await caller.wait { if case .fail(let event) = $0 { event } else { nil } }
            #expect(refusal.id == call.id)

            let other = try await ScriptedClient.signIn(gateway)
            other.send(.hangup(callID: call.id))
            other.send(.hold(callID: call.id, forTransfer: false))
            other.send(.answer(AnswerRequest(callID: call.id, sdp: ScriptedCall.canned())))
            other.send(.sendDtmf(DTMFRequest(callID: call.id, digits: "123")))
            #expect(try await other.end(of: call.id).status == .finish)
            // The same name is no conflict in another session.
            other.send(.call(CallRequest(callID: call.id, callee: "104", sdp: ScriptedCall.canned())))
            _ = try await other.wait {
                if case .finish(let object) = $0, object.callID == call.id, object.status == .busy { true } else { nil }
            }
            caller.send(.hangup(callID: "never-heard-of"))
            #expect(try await caller.end(of: "never-heard-of").status == .finish)
            for id in ["", String(repeating: "i", count: 100_000), "../../etc", "a b\u{0}c"] {
                caller.send(.call(CallRequest(callID: id, callee: "100", sdp: ScriptedCall.canned())))
            }
            for callee in ["", "sip:", "sip:x@", "100\r\nRoute: <sip:evil>", "sip:100@127.0.0.1;lr\r\n\r\nINVITE", "\u{0}"]
            {
                let id = ScriptedCall.freshID()
                caller.send(.call(CallRequest(callID: id, callee: callee, sdp: ScriptedCall.canned())))
                #expect(try await caller.end(of: id).status == .failed, "\(callee)")
            }
            #expect(caller.closure == nil)
            try await judge(call)
            #expect(await gateway.stop() == .status(0))
        }
    }
}

// MARK: - The call that must not suffer

extension Wire.RobustnessTests {
    /// A call to the echo that says a tone and hears it again.
    func answeredCall(of client: ScriptedClient) async throws -> ScriptedCall {
        let call = client.call("100")
        try await call.becomes(.established)
        try await call.hears(packets: 25)
        _ = await call.heard()
        return call
    }

    /// Judges what the call has heard while it was under attack, and that it still hears.
    func judge(_ call: ScriptedCall, name: String = #function) async throws {
        // All since before the attack, and enough after it to hear a late effect.
        let attacked = await call.heard()
        let rest = await call.listen(milliseconds: 700, afresh: false)
        let heard = Ear(attacked.samples + rest.samples, rate: attacked.rate)
        // What was sent before the tone began lies in the first moments.
        let settled = heard.part(200..<heard.milliseconds + 1)
        let gaps = settled.gaps(inTone: 1000, windowMilliseconds: 20)
        let missing = gaps.reduce(0) { $0 + $1.length }
        print("\(name): \(heard.milliseconds) ms heard, \(missing) ms of the tone missing: \(gaps)")
        #expect(abs(settled.level(of: 1000) + 20) < 2.5)
        #expect(settled.level(of: 3000) < -50)
        // A loaded machine may swallow a moment; a call that suffers loses more.
        #expect(missing * 50 <= max(2000, heard.milliseconds))
        #expect(call.status == .established)
        let after = await call.listen(milliseconds: 500)
        #expect(abs(after.level(of: 1000) + 20) < 2.5)
    }
}
