import Foundation
import Testing

/// The peers among themselves, so that they can be believed when they judge the gateway.
@Suite("Peers", .serialized) struct PeerTests {
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
            let hears = try await eventually(within: .seconds(5)) { try await peer.statistics(number).received > 75 }
            #expect(hears, "packets are received again after the hold")
        }
        try await bob.hangUp(incoming)
        try await alice.call(call, becomes: "DISCONNECTED")
        try await bob.call(incoming, becomes: "DISCONNECTED")

        let aliceHeard = try Recording(file: alice.folder.file("heard.wav")).part(-1, -0.1)
        let bobHeard = try Recording(file: bob.folder.file("heard.wav")).part(-1, -0.1)
        #expect(abs(aliceHeard.level(ofTone: 700) + 20) < 1)
        #expect(aliceHeard.level(ofTone: 400) < -55)
        #expect(aliceHeard.gaps(atLeast: 60) == [])
        #expect(abs(bobHeard.level(ofTone: 400) + 15) < 1)
        #expect(bobHeard.level(ofTone: 700) < -55)
        #expect(bobHeard.gaps(atLeast: 60) == [])

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
        #expect(try await eventually(within: .seconds(5)) { try await peer.statistics(call).received > 60 })
        try await peer.hangUp(call)
        try await echo.finish()
        try await peer.call(call, becomes: "DISCONNECTED")
        #expect(abs(try Recording(file: file).part(-0.9, -0.1).level(ofTone: 500) + 15) < 1)
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
        let speechEar = try await speaking.listen(seconds: 4)
        let passage = try #require(speechEar.said.passage(to: speechEar.heard))
        print("browser loopback: speech at \(speechEar.heard.level) dB, \(passage)")
        #expect(speechEar.heard.part(1).level > -45)
        #expect(passage.likeness > 0.7)
        #expect(passage.seconds < 0.3)
        #expect(speaking.console.contains("log: in a call"))
        try await speaking.close()

        let humming = try await browser.open(address, wishes: .init(tone: (hertz: 800, level: -20)))
        try await humming.run("call()")
        let ear = try await humming.listen(seconds: 2)
        #expect(abs(ear.heard.part(-1).level(ofTone: 800) + 20) < 2)
        #expect(ear.heard.part(-1).gaps() == [])
        let picture = folder.file("page.png")
        try await humming.screenshot(to: picture)
        #expect(try Data(contentsOf: picture).starts(with: [0x89, 0x50, 0x4e, 0x47]))
        await browser.stop()
    }

    @Test("A child is watched from /proc and leaves nothing behind")
    func childProcesses() async throws {
        let child = try PeerProcess.start(["sh", "-c", "sleep 60 & echo $!; read line; echo got $line; exit 3"])
        let grandchild = try await child.line(within: .seconds(5)) { !$0.isEmpty }
        let watch = ResourceWatch(pid: child.pid)
        #expect(watch.isAlive)
        #expect(watch.threads == 1)
        #expect(watch.descriptors.count == 3)
        #expect(watch.residentKilobytes > 100)
        try child.send("word")
        _ = try await child.line(within: .seconds(5)) { $0 == "got word" }
        #expect(await child.end(within: .seconds(5)) == .exited(3))
        #expect(!watch.isAlive)
        let isGone = await eventually(within: .seconds(5)) {
            !FileManager.default.fileExists(atPath: "/proc/\(grandchild)")
        }
        #expect(isGone)
        #expect(throws: PeerFailure.self) { try PeerProcess.start(["/no/such/command"]) }
    }
}
