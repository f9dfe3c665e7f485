import Audio
import Foundation
import GatewayTesting
import Testing

extension Wire {
    /// The peers among themselves, so that they can be believed when they judge the gateway.
    @Suite("Peers") struct PeerTests {
        @Test("Two PJSIP telephones register with digest at Kamailio, call, hear each other, hold, and send digits")
        func telephonesThroughProxy() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder", "bob": "builder"])
            let alice = try await PJSUAPeer.start("alice")
            let bob = try await PJSUAPeer.start("bob", codecs: ["PCMA"])
            let refused = try await alice.register(at: kamailio.uri, as: "alice", password: "wrong")
            #expect(!refused.isActive)
            #expect(try await alice.register(at: kamailio.uri, as: "alice", password: "wonder").isActive)
            #expect(try await bob.register(at: kamailio.uri, as: "bob", password: "builder").isActive)

            let call = try await alice.call(
                "sip:bob@127.0.0.1:\(kamailio.port)", sound: .tone(400, record: alice.folder.file("heard.wav")))
            let incoming = try await bob.event("incoming").call
            try await bob.respond(incoming, 180)
            try await alice.call(call, becomes: "EARLY")
            try await bob.respond(incoming, 200, sound: .tone(700, level: -20, record: bob.folder.file("heard.wav")))
            try await alice.call(call, becomes: "CONFIRMED")
            #expect(try await alice.media(of: call, becomes: "active").codec == "PCMA")

            try await alice.dtmf(call, "19#")
            #expect(await bob.digits(of: incoming, count: 3) == "19#")
            try await bob.dtmf(incoming, "5", method: "info")
            let digit = try await alice.event("dtmf")
            #expect(digit.digit == "5")
            #expect(digit.method == "info")

            try await alice.hold(call)
            try await bob.media(of: incoming, becomes: "remote-hold")
            try await alice.resume(call)
            try await bob.media(of: incoming, becomes: "active")
            for (peer, number) in [(alice, call), (bob, incoming)] {
                let hears = try await eventually(timeout: .seconds(5)) { try await peer.statistics(number).received > 75 }
                #expect(hears, "packets are received again after the hold")
            }
            try await bob.hangUp(incoming)
            try await alice.call(call, becomes: "DISCONNECTED")
            try await bob.call(incoming, becomes: "DISCONNECTED")

            let aliceHeard = try Ear(file: alice.folder.file("heard.wav")).last(900)
            let bobHeard = try Ear(file: bob.folder.file("heard.wav")).last(900)
            #expect(abs(aliceHeard.level(of: 700) + 20) < 1)
            #expect(aliceHeard.level(of: 400) < -55)
            #expect(aliceHeard.gaps(longerThan: 60) == [])
            #expect(abs(bobHeard.level(of: 400) + 15) < 1)
            #expect(bobHeard.level(of: 700) < -55)
            #expect(bobHeard.gaps(longerThan: 60) == [])

            await alice.stop()
            await bob.stop()
            await kamailio.stop()
        }

        @Test("Kamailio asks a caller in its table for the password and knows who is not there")
        func proxyRefusals() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder"])
            let alice = try await PJSUAPeer.start("alice")
            _ = try await alice.register(at: kamailio.uri, as: "alice", password: "wonder")
            let nobody = try await alice.call("sip:nobody@127.0.0.1:\(kamailio.port)")
            #expect(try await alice.call(nobody, becomes: "DISCONNECTED").status == 404)
            let thief = try await PJSUAPeer.start("alice")
            try await thief.callThrough(kamailio.uri)
            let call = try await thief.call("sip:alice@127.0.0.1:\(kamailio.port)")
            #expect(try await thief.call(call, becomes: "DISCONNECTED").status == 407)
            await alice.stop()
            await thief.stop()
            await kamailio.stop()
        }

        @Test("SIPp is busy, refuses, is cancelled, hangs up and is hung up on, as its scenarios say")
        func scriptedFarEnds() async throws {
            let peer = try await PJSUAPeer.start("alice")

            let busy = try await SIPp.start("uas-busy")
            #expect(try await peer.call(peer.call(busy.uri), becomes: "DISCONNECTED").status == 486)
            try await busy.finish()

            let refusing = try await SIPp.start("uas-reject", keys: ["status": "603", "reason": "Decline"])
            #expect(try await peer.call(peer.call(refusing.uri), becomes: "DISCONNECTED").status == 603)
            try await refusing.finish()

            let silent = try await SIPp.start("uas-no-answer")
            let unanswered = try await peer.call(silent.uri)
            try await peer.call(unanswered, becomes: "EARLY")
            try await peer.hangUp(unanswered)
            #expect(try await peer.call(unanswered, becomes: "DISCONNECTED").status == 487)
            try await silent.finish()

            let leaving = try await SIPp.start("uas-hang-up", keys: ["stay": "300"])
            let left = try await peer.call(leaving.uri)
            try await peer.call(left, becomes: "CONFIRMED")
            try await peer.call(left, becomes: "DISCONNECTED")
            try await leaving.finish()

            let echo = try await SIPp.start("uas-answer", echoes: true)
            let file = peer.folder.file("echo.wav")
            let call = try await peer.call(echo.uri, sound: .tone(500, record: file))
            try await peer.call(call, becomes: "CONFIRMED")
            #expect(try await eventually(timeout: .seconds(5)) { try await peer.statistics(call).received > 60 })
            try await peer.hangUp(call)
            try await echo.finish()
            try await peer.call(call, becomes: "DISCONNECTED")
            #expect(abs(try Ear(file: file).last(800).level(of: 500) + 15) < 1)
            await peer.stop()
        }

        @Test("SIPp calls, stays and hangs up, and gives up while it rings")
        func scriptedCallers() async throws {
            let peer = try await PJSUAPeer.start("alice")
            try await peer.answersCalls(with: [180, 200])
            let caller = try await SIPp.start(
                "uac-call", target: "127.0.0.1:\(peer.port)", keys: ["caller": "5551", "stay": "200"])
            #expect(try await peer.event("incoming").remote.contains("5551"))
            try await caller.finish()

            try await peer.answersCalls(with: [180])
            let impatient = try await SIPp.start(
                "uac-cancel", target: "127.0.0.1:\(peer.port)", keys: ["caller": "5552", "stay": "200"])
            try await impatient.finish()
            await peer.stop()
        }

        @Test("Chromium hears through a call of its own what its microphone file says, and its tone")
        func browserLoopback() async throws {
            let folder = try ScratchFolder("speech")
            let speech = try await Speech.file(["demo-congrats"], in: folder)
            let browser = try await Chromium.start(microphone: speech)
            let address = try Fixtures.file("loopback.html").absoluteString

            let speaking = try await browser.open(address, wishes: .init(rawMicrophone: true))
            try await speaking.run("call()")
            let talk = try await speaking.listen(seconds: 4)
            let found = Hearing(of: talk.said.part(0..<3000), in: talk.heard)
            let hearing = try #require(found)
            print("browser loopback: speech heard at \(talk.heard.level.rms) dB, \(hearing)")
            #expect(talk.heard.part(1000..<4000).level.rms > -45)
            #expect(hearing.similarity > 0.9)
            #expect(hearing.delays.allSatisfy { $0 < 500 })
            #expect(speaking.console.contains("log: in a call"))
            try await speaking.close()

            let humming = try await browser.open(address, wishes: .init(tone: (hertz: 800, level: -20)))
            try await humming.run("call()")
            let heard = try await humming.listen(seconds: 2).heard.last(1000, droppingEnd: 0)
            #expect(abs(heard.level(of: 800) + 20) < 2)
            #expect(heard.gaps() == [])
            let picture = folder.file("page.png")
            try await humming.screenshot(to: picture)
            #expect(try Data(contentsOf: picture).starts(with: [0x89, 0x50, 0x4e, 0x47]))
            await browser.stop()
        }

        @Test("The WCS client calls and is called, with a gateway played within its page")
        func wcsClient() async throws {
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser, wishes: .init(tone: (hertz: 800, level: -20)))
            try await client.page.run(String(contentsOf: Fixtures.file("wcs_mock.js"), encoding: .utf8))
            try await client.page.run("wcs.connect('ws://nowhere/', {})")
            let call = try await client.call("100")
            try await client.call(call, becomes: "ESTABLISHED")
            try await client.page.wait(until: "__ear.seconds() > 1")
            try await client.page.clearEar()
            #expect(try await client.page.listen(seconds: 1).heard.level(of: 800) > -26)
            try await client.hangUp(call)
            try await client.call(call, becomes: "FINISH")
            #expect(try await client.history(of: call) == ["TRYING", "RING", "ESTABLISHED", "FINISH"])

            try await client.page.run("mock.callClient('incoming', 1500)")
            let incoming = try await client.incoming()
            try await client.answer(incoming)
            try await client.call(incoming, becomes: "ESTABLISHED")
            try await client.page.clearEar()
            #expect(try await client.page.listen(seconds: 1.5).heard.last(500).level(of: 1500) > -20)
            await browser.stop()
        }

        @Test("A process's threads, descriptors, ports and memory are read from /proc")
        func resourceWatch() async throws {
            let far = try await SIPp.start("uas-busy")
            let watch = far.resources
            #expect(watch.isAlive)
            #expect(watch.udpPorts.contains(far.port))
            #expect(watch.now.threads >= 1)
            #expect(watch.now.descriptors >= 3)
            #expect(watch.now.residentKilobytes > 1000)
            await far.stop()
            #expect(!watch.isAlive)
        }
    }
}
