import Audio
import Foundation
import GatewayTesting
import MediaGraph
import Testing
import WCSProtocol

extension Wire {
    /// The gateway before SIPp, which follows its scripts to the letter: what may happen to a call, and what is told of it.
    @Suite("SIPp", .enabled(if: GatewayProcess.serves)) struct SIPpTests {
        @Test("A far end that refuses is told by status and words: busy as BUSY, all else as FAILED")
        func refusals() async throws {
            let gateway = try await GatewayProcess.start()
            for (status, told) in [(486, CallStatus.busy), (603, .failed), (404, .failed), (488, .failed), (500, .failed)] {
                let far = try await SIPp.start("uas-reject", keys: ["status": String(status), "reason": "No"])
                let client = try await WCSClient.connect(to: gateway, as: far.account)
                let call = await client.call("1000")
                let end = try await call.becomes(told)
                #expect(end.message == "finish")
                #expect(end.object.sipStatus == status)
                #expect(!end.object.info.isEmpty)
                #expect(await call.statuses == [.trying, .ring, told])
                try await far.finish()
                await client.stop()
            }
            #expect(await gateway.stop() == .status(0))
        }

        @Test("A far end that nobody answers is cancelled when our ring time is over")
        func ringTimeout() async throws {
            let gateway = try await GatewayProcess.start(["trunk": ["ringTimeoutSeconds": 2]])
            let far = try await SIPp.start("uas-no-answer")
            let client = try await WCSClient.connect(to: gateway, as: far.account)
            let call = await client.call("1000")
            try await call.becomes(.ring)
            let rang = ContinuousClock.now
            #expect(try await call.becomes(.failed).object.info == "Nobody answered")
            #expect(ContinuousClock.now - rang > .milliseconds(1500))
            try await far.finish()
            await client.stop()
            await gateway.stop()
        }

        @Test("A client that gives up while it rings: the far end sees CANCEL")
        func cancel() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-no-answer")
            let client = try await WCSClient.connect(to: gateway, as: far.account)
            let call = await client.call("1000")
            try await call.becomes(.ring)
            await call.hangUp()
            try await call.becomes(.finish)
            try await far.finish()
            #expect(await call.statuses == [.trying, .ring, .finish])
            await client.stop()
            await gateway.stop()
        }

        @Test("A socket that closes while it rings: the far end sees CANCEL")
        func lostClient() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-no-answer")
            let client = try await WCSClient.connect(to: gateway, as: far.account)
            let call = await client.call("1000")
            try await call.becomes(.ring)
            await client.disconnect()
            try await far.finish()
            await client.stop()
            await gateway.stop()
        }

        @Test("A 200 that crosses our CANCEL is acknowledged and hung up on; the client has one end (H38)")
        func crossedCancel() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-late-answer")
            let client = try await WCSClient.connect(to: gateway, as: far.account)
            let call = await client.call("1000")
            try await call.becomes(.ring)
            await call.hangUp()
            try await far.finish()
            #expect(await call.statuses == [.trying, .ring, .finish])
            await client.stop()
            await gateway.stop()
        }

        @Test("An answer in a codec that was not offered is acknowledged, hung up on and told as failed")
        func foreignCodec() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-other-codec")
            let client = try await WCSClient.connect(to: gateway, as: far.account)
            let call = await client.call("1000")
            let end = try await call.becomes(.failed)
            #expect(end.object.info == "No common codecs")
            try await far.finish()
            await client.stop()
            await gateway.stop()
        }

        @Test("Early media is told as RING_MEDIA and heard before the answer; nothing of the client's goes out before")
        func earlyMedia() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await PJSUAPeer.start("far")
            let client = try await WCSClient.connect(
                to: gateway, as: WCSClient.account("alice", port: far.port, registers: false), saying: tone(1000))
            let call = await client.call("far")
            let number = try await far.event("incoming").call
            let file = far.folder.file("early.wav")
            try await far.respond(number, 183, sound: .tone(600, level: -20, record: file))
            try await call.becomes(.ringMedia)
            try await judge(call, hears: 600, "before the answer")
            try await far.stopRecording(number)
            #expect(try Ear(file: file).level.rms < -60, "the far end hears the client before its answer")
            try await far.respond(number, 200)
            try await call.becomes(.established)
            #expect(await call.statuses == [.trying, .ring, .ringMedia, .established])
            await call.hangUp()
            try await far.call(number, becomes: "DISCONNECTED")
            await client.stop()
            await far.stop()
            await gateway.stop()
        }

        @Test("A far end that hangs up, and one that wants an offer within the call: the call ends once, or goes on (H33)")
        func farEndActs() async throws {
            let gateway = try await GatewayProcess.start()
            let leaving = try await SIPp.start("uas-hang-up", keys: ["stay": "300"])
            let client = try await WCSClient.connect(to: gateway, as: leaving.account)
            let call = await client.call("1000")
            try await call.becomes(.established)
            try await call.becomes(.finish)
            try await leaving.finish()

            let asking = try await SIPp.start("uas-empty-reinvite", keys: ["stay": "500"], echoes: true)
            let other = try await WCSClient.connect(to: gateway, as: asking.account, saying: tone(1000))
            let lasting = await other.call("1000")
            try await lasting.becomes(.established)
            let settled = await eventually(timeout: .seconds(5)) { asking.messages.contains("CSeq: 1 ACK") }
            #expect(settled, "our offer of the re-INVITE was answered: \(asking.messages)")
            try await judge(lasting, hears: 1000, "after the re-INVITE")
            #expect(await lasting.statuses == [.trying, .ring, .established])
            await lasting.hangUp()
            try await lasting.becomes(.finish)
            try await asking.finish()
            for client in [client, other] { await client.stop() }
            await gateway.stop()
        }

        @Test("Keys that the client wants as SIP INFO go out as such, in both forms, in order")
        func keysAsInfo() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-info", echoes: true)
            let client = try await WCSClient.connect(to: gateway, as: far.account)
            let call = await client.call("1000")
            try await call.becomes(.established)
            await call.press("8", method: .info)
            await call.press("#", method: .infoRelay)
            #expect(await eventually { far.messages.contains("dtmf-relay") }, "\(far.messages)")
            await call.hangUp()
            try await call.becomes(.finish)
            try await far.finish()
            await client.stop()
            await gateway.stop()
        }

        @Test("All forms of a far end's hold are answered in kind and told to nobody; the call goes on after them (H36)")
        func formsOfHold() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-holds", keys: ["stay": "200"], echoes: true)
            let client = try await WCSClient.connect(to: gateway, as: far.account, saying: tone(1000))
            let call = await client.call("1000")
            try await call.becomes(.established)
            #expect(await eventually(timeout: .seconds(10)) { far.messages.contains("CSeq: 4 ACK") }, "\(far.messages)")
            try await judge(call, hears: 1000, "after all forms of hold")
            #expect(await call.statuses == [.trying, .ring, .established])
            await call.hangUp()
            try await call.becomes(.finish)
            try await far.finish()
            await client.stop()
            await gateway.stop()
        }

        @Test("A hold that the far end refuses leaves the call as it was, and the client is told so (H36)")
        func refusedHold() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-refuses-hold", echoes: true)
            let client = try await WCSClient.connect(to: gateway, as: far.account, saying: tone(1000))
            let call = await client.call("1000")
            try await call.becomes(.established)
            await call.hold()
            #expect(try await call.becomes(.established).message == "talk")
            try await judge(call, hears: 1000, "after a refused hold")
            #expect(await call.statuses == [.trying, .ring, .established, .established])
            await call.hangUp()
            try await far.finish()
            await client.stop()
            await gateway.stop()
        }

        @Test("A hold that meets the far end's own re-INVITE is asked for again after two seconds (H34)")
        func glare() async throws {
            let gateway = try await GatewayProcess.start()
            let far = try await SIPp.start("uas-glare", echoes: true)
            let client = try await WCSClient.connect(to: gateway, as: far.account, saying: tone(1000))
            let call = await client.call("1000")
            try await call.becomes(.established)
            let asked = ContinuousClock.now
            await call.hold()
            try await call.becomes(.hold)
            #expect(ContinuousClock.now - asked > .seconds(2))
            await call.hangUp()
            try await far.finish()
            #expect(await call.statuses.prefix(4) == [.trying, .ring, .established, .hold])
            await client.stop()
            await gateway.stop()
        }

        @Test("SIPp calls a guest by name, and trunk.incoming by number; both hear it and are hung up on")
        func calledByName() async throws {
            let gateway = try await GatewayProcess.start(["trunk": ["incoming": "alice"]])
            let guest = try await WCSClient.connect(to: gateway, saying: tone(1000))
            let account = WCSClient.account("alice", port: gateway.ports.sip, registers: false)
            let client = try await WCSClient.connect(to: gateway, as: account, saying: tone(1000))
            for (called, number) in [(guest, await guest.login), (client, "5551234")] {
                let caller = try await SIPp.start(
                    "uac-call", target: gateway.sip, number: number, keys: ["caller": "0049301234", "stay": "2500"],
                    echoes: true)
                let call = try await called.incomingCall()
                try await call.becomes(.ring)
                #expect(await call.history.first?.object.caller == "0049301234")
                await call.answer()
                try await call.becomes(.established)
                try await judge(call, hears: 1000, "echoed by a caller of \(number)")
                try await call.becomes(.finish)
                try await caller.finish()
            }
            for client in [guest, client] { await client.stop() }
            await gateway.stop()
        }

        @Test("A caller that gives up: 487 for it, FINISH for the client; nobody there: 404; no common codec: 488")
        func callersWithoutLuck() async throws {
            let gateway = try await GatewayProcess.start()
            let client = try await WCSClient.connect(to: gateway)
            let guest = await client.login
            let impatient = try await SIPp.start(
                "uac-cancel", target: gateway.sip, number: guest, keys: ["caller": "0049301234", "stay": "300"])
            let call = try await client.incomingCall()
            try await call.becomes(.finish)
            #expect(await call.statuses == [.ring, .ring, .finish])
            try await impatient.finish()
            for (number, payload, codec, status) in [("nobody", "0", "PCMU", "404"), (guest, "18", "G729", "488")] {
                let caller = try await SIPp.start(
                    "uac-refused-codec", target: gateway.sip, number: number,
                    keys: ["caller": "0049301234", "payload": payload, "codec": codec, "status": status])
                try await caller.finish()
            }
            await client.stop()
            await gateway.stop()
        }

        @Test("Two calls at once, with two far ends, do not hear each other")
        func twoCalls() async throws {
            let gateway = try await GatewayProcess.start()
            let tones = [(said: 700, answered: 1300), (said: 1000, answered: 1900)]
            var pairs: [(client: WCSClient, call: WCSClientCall, far: PJSUAPeer)] = []
            for (number, pair) in tones.enumerated() {
                let far = try await PJSUAPeer.start("far\(number)")
                try await far.answersCalls(
                    sound: .tone(pair.answered, level: -20, record: far.folder.file("heard.wav")))
                let account = WCSClient.account("near\(number)", port: far.port, registers: false)
                let client = try await WCSClient.connect(to: gateway, as: account, saying: tone(pair.said))
                pairs.append((client, await client.call("far\(number)"), far))
            }
            for pair in pairs {
                try await pair.call.becomes(.established)
                try await pair.call.hears()
            }
            for (number, pair) in pairs.enumerated() {
                let heard = try await judge(pair.call, hears: tones[number].answered, "in call \(number) of two")
                for strange in [tones[1 - number].answered, tones[1 - number].said, tones[number].said] {
                    #expect(heard.level(of: Double(strange)) < -60, "call \(number) hears \(strange) Hz")
                }
            }
            for (number, pair) in pairs.enumerated() {
                await pair.call.hangUp()
                let incoming = try await pair.far.event("incoming").call
                try await pair.far.call(incoming, becomes: "DISCONNECTED")
                let heard = try Ear(file: pair.far.folder.file("heard.wav")).last(1500)
                #expect(abs(heard.level(of: Double(tones[number].said)) + 20) < 1.5)
                for strange in [tones[1 - number].answered, tones[1 - number].said, tones[number].answered] {
                    #expect(heard.level(of: Double(strange)) < -60, "far end \(number) hears \(strange) Hz")
                }
                await pair.client.stop()
                await pair.far.stop()
            }
            #expect(await gateway.stop() == .status(0))
        }

        /// A steady tone at the client: at its level and without a hole that a person would mind.
        @discardableResult
        private func judge(_ call: WCSClientCall, hears hertz: Int, _ what: String) async throws -> Ear {
            try await call.hears(hertz)
            var heard = try await call.listen(milliseconds: 1200).last(1000)
            // A machine that stalls makes holes, too; a fault of ours would make them again.
            for _ in 1...2 where !heard.isSteady(hertz) { heard = try await call.listen(milliseconds: 1200).last(1000) }
            let gaps = heard.gaps(inTone: Double(hertz))
            let figures = await call.figures
            let (lost, late, concealed) = (figures.packetsLost, figures.packetsLate, figures.concealedMilliseconds)
            let level = heard.level(of: Double(hertz))
            print("tone \(what): \(level) dB, gaps \(gaps), lost \(lost), late \(late), concealed \(concealed) ms")
            #expect(heard.isSteady(hertz), "\(what): \(level) dB, \(gaps)")
            return heard
        }

        private func tone(_ hertz: Int) -> AudioSource {
            .tone(ToneGenerator(rate: WCSClientCall.rate, frequency: Double(hertz), level: -20))
        }
    }
}

extension SIPp {
    /// An account without registration whose calls all go to this far end.
    fileprivate var account: WCSAccount { WCSClient.account("alice", port: port, registers: false) }
}

extension GatewayProcess {
    /// Where SIP callers find it.
    fileprivate var sip: String { "127.0.0.1:\(ports.sip)" }
}
