import Audio
import Foundation
import GatewayTesting
import Testing

extension Wire {
    /// Chromium on one side, SIP programs that nobody here wrote on the other, Kamailio between them.
    @Suite("SIP peers", .enabled(if: GatewayProcess.serves)) struct SIPPeerTests {
        @Test("A registered account calls through the proxy: sound both ways, digits, hold and resume, remote hang-up")
        func outgoing() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder", "bob": "builder"])
            let bob = try await PJSUAPeer.start("bob")
            #expect(try await bob.register(at: kamailio.uri, as: "bob", password: "builder").isActive)
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser, wishes: .init(tone: (hertz: 1000, level: -20)))
            try await client.connect(
                to: gateway, WCSPage.account("alice", password: "wonder", port: kamailio.port, registers: true))
            try await client.waitForRegistration()

            let call = try await client.call("bob")
            let incoming = try await bob.event("incoming").call
            try await bob.respond(incoming, 180)
            try await client.call(call, becomes: "RING")
            let file = bob.folder.file("heard.wav")
            try await bob.respond(incoming, 200, sound: .tone(600, level: -20, record: file))
            try await client.call(call, becomes: "ESTABLISHED")
            try await client.page.wait(until: "__ear.seconds() > 1")
            try await client.page.clearEar()
            let heard = try await client.page.listen(seconds: 4).heard
            #expect(abs(heard.level(of: 600) + 20) < 2)
            #expect(heard.gaps(longerThan: 20) == [])

            try await client.dtmf(call, "1")
            try await client.dtmf(call, "9#")
            #expect(await bob.digits(of: incoming, count: 3) == "19#")

            try await client.hold(call)
            try await client.call(call, becomes: "HOLD")
            try await bob.media(of: incoming, becomes: "remote-hold")
            try await client.unhold(call)
            try await bob.media(of: incoming, becomes: "active")
            #expect(try await eventually { try await bob.statistics(incoming).received > 75 })
            try await bob.hold(incoming)
            try await bob.media(of: incoming, becomes: "local-hold")
            try await bob.resume(incoming)
            try await bob.media(of: incoming, becomes: "active")
            #expect(try await eventually { try await bob.statistics(incoming).received > 75 })

            try await bob.hangUp(incoming)
            try await client.call(call, becomes: "FINISH")
            try await bob.call(incoming, becomes: "DISCONNECTED")
            let bobHeard = try Ear(file: file).last(1000)
            #expect(abs(bobHeard.level(of: 1000) + 20) < 2)
            #expect(bobHeard.gaps(longerThan: 20) == [])
            for peer in [bob] { await peer.stop() }
            await browser.stop()
            #expect(await gateway.stop() == .status(0))
            await kamailio.stop()
        }

        @Test("A registered account is called through the proxy and answers; the browser hangs up")
        func incoming() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder", "bob": "builder"])
            let bob = try await PJSUAPeer.start("bob", codecs: ["PCMA"])
            #expect(try await bob.register(at: kamailio.uri, as: "bob", password: "builder").isActive)
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser, wishes: .init(tone: (hertz: 1000, level: -20)))
            try await client.connect(
                to: gateway, WCSPage.account("alice", password: "wonder", port: kamailio.port, registers: true))
            try await client.waitForRegistration()

            let file = bob.folder.file("heard.wav")
            let outgoing = try await bob.call(
                "sip:alice@127.0.0.1:\(kamailio.port)", sound: .tone(600, level: -20, record: file))
            let call = try await client.incoming()
            try await bob.call(outgoing, becomes: "EARLY")
            try await client.answer(call)
            try await client.call(call, becomes: "ESTABLISHED")
            try await bob.call(outgoing, becomes: "CONFIRMED")
            #expect(try await bob.media(of: outgoing, becomes: "active").codec == "PCMA")
            try await client.page.wait(until: "__ear.seconds() > 1")
            try await client.page.clearEar()
            let heard = try await client.page.listen(seconds: 3).heard
            #expect(abs(heard.level(of: 600) + 20) < 2)
            try await client.hangUp(call)
            try await bob.call(outgoing, becomes: "DISCONNECTED")
            #expect(abs(try Ear(file: file).last(1000).level(of: 1000) + 20) < 2)
            await bob.stop()
            await browser.stop()
            await gateway.stop()
            await kamailio.stop()
        }

        @Test("A client without an account calls through the gateway's own registered trunk, with digest")
        func ownTrunk() async throws {
            let kamailio = try await Kamailio.start(users: ["line": "wonder", "bob": "builder"])
            let bob = try await PJSUAPeer.start("bob")
            #expect(try await bob.register(at: kamailio.uri, as: "bob", password: "builder").isActive)
            try await bob.answersCalls(with: [180, 200], sound: .tone(600, level: -20))
            let gateway = try await GatewayProcess.start([
                "trunk": [
                    "host": "127.0.0.1:\(kamailio.port)", "user": "line", "password": "wonder", "register": true,
                ],
                "demo": ["enabled": false],
            ])
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser)
            try await client.connect(to: gateway)
            let call = try await client.call("bob")
            try await client.call(call, becomes: "ESTABLISHED")
            #expect(try await bob.event("incoming").remote.contains("line"))
            try await client.page.clearEar()
            #expect(abs(try await client.page.listen(seconds: 2).heard.last(1000).level(of: 600) + 20) < 2)
            try await client.hangUp(call)
            try await client.call(call, becomes: "FINISH")
            await bob.stop()
            await browser.stop()
            await gateway.stop()
            await kamailio.stop()
        }

        @Test("A wrong password is told as a failed registration")
        func wrongPassword() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder"])
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser)
            try await client.connect(
                to: gateway, WCSPage.account("alice", password: "wrong", port: kamailio.port, registers: true))
            try await client.page.wait(until: "wcs.messages.some(([name]) => name === 'fail')")
            await browser.stop()
            await gateway.stop()
            await kamailio.stop()
        }

        @Test(
            "A far end that refuses is told with its own status",
            arguments: [(486, "BUSY"), (600, "BUSY"), (603, "FAILED"), (404, "FAILED"), (500, "FAILED")])
        func refusals(status: Int, told: String) async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let far = try await SIPp.start("uas-reject", keys: ["status": String(status), "reason": "No"])
            let client = try await WCSPage.open(in: browser)
            try await client.connect(to: gateway, WCSPage.account("alice", port: far.port, registers: false))
            let call = try await client.call("1000")
            try await client.call(call, becomes: told)
            #expect(try await client.sipStatus(of: call) == status)
            try await far.finish()
            await browser.stop()
            await gateway.stop()
        }

        @Test("A call that is not answered is cancelled when the client gives up")
        func cancel() async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let far = try await SIPp.start("uas-no-answer")
            let client = try await WCSPage.open(in: browser)
            try await client.connect(to: gateway, WCSPage.account("alice", port: far.port, registers: false))
            let call = try await client.call("1000")
            try await client.call(call, becomes: "RING")
            try await client.hangUp(call)
            try await client.call(call, becomes: "FINISH")
            try await far.finish()
            await browser.stop()
            await gateway.stop()
        }

        @Test("Two calls at once do not hear each other")
        func twoCalls() async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let tones = [(said: 700, answered: 1300), (said: 1000, answered: 1900)]
            var pairs: [(client: WCSPage, peer: PJSUAPeer, call: String)] = []
            for (number, tone) in tones.enumerated() {
                let peer = try await PJSUAPeer.start("far\(number)")
                try await peer.answersCalls(sound: .tone(tone.answered, level: -20, record: peer.folder.file("heard.wav")))
                let client = try await WCSPage.open(in: browser, wishes: .init(tone: (hertz: tone.said, level: -20)))
                try await client.connect(to: gateway, WCSPage.account("near\(number)", port: peer.port, registers: false))
                let call = try await client.call("far\(number)")
                try await client.call(call, becomes: "ESTABLISHED")
                pairs.append((client, peer, call))
            }
            for pair in pairs { try await pair.client.page.clearEar() }
            for (number, pair) in pairs.enumerated() {
                let heard = try await pair.client.page.listen(seconds: 4).heard.last(2000, droppingEnd: 0)
                #expect(abs(heard.level(of: Double(tones[number].answered)) + 20) < 2)
                #expect(heard.level(of: Double(tones[1 - number].answered)) < -60)
                try await pair.client.hangUp(pair.call)
                let incoming = try await pair.peer.event("incoming").call
                try await pair.peer.call(incoming, becomes: "DISCONNECTED")
                let far = try Ear(file: pair.peer.folder.file("heard.wav")).last(2000)
                #expect(abs(far.level(of: Double(tones[number].said)) + 20) < 2)
                #expect(far.level(of: Double(tones[1 - number].said)) < -60)
                await pair.peer.stop()
            }
            await browser.stop()
            await gateway.stop()
        }
    }
}
