import Audio
import Foundation
import GatewayTesting
import MediaGraph
import Testing
import WCSProtocol

extension Wire {
    /// The gateway between a WCS client and PJSIP behind Kamailio: both ends are driven step by step and heard.
    @Suite("Foreign peers", .enabled(if: GatewayProcess.serves)) struct ForeignPeerTests {
        @Test("An account is registered with digest by way of a proxy, can be reached, and is gone when its socket closes")
        func registration() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder"])
            let gateway = try await GatewayProcess.start()
            #expect(!kamailio.knows("alice"))
            let client = try await WCSClient.connect(to: gateway, as: alice(at: kamailio))
            _ = try await client.message("registered")
            #expect(kamailio.knows("alice"))
            await client.disconnect()
            #expect(await eventually { !kamailio.knows("alice") }, "the binding is taken back")
            #expect(await gateway.stop() == .status(0))
            await kamailio.stop()
        }

        @Test("A wrong password is told as AUTHENTICATION_FAIL, then the socket is closed")
        func wrongPassword() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder"])
            let gateway = try await GatewayProcess.start()
            let client = try await WCSClient.connect(to: gateway, as: alice(at: kamailio, password: "wrong"))
            guard case .fail(let failure) = try await client.message("fail") else { return }
            #expect(failure.method == .registration)
            #expect(failure.info == "AUTHENTICATION_FAIL")
            #expect(try await client.closed() == 1000)
            #expect(client.messages.letters.allSatisfy { $0.name != "registered" })
            #expect(!kamailio.knows("alice"))
            await gateway.stop()
            await kamailio.stop()
        }

        @Test("A call to PJSIP: speech both ways, keys both ways, hold from either side, remote hang-up")
        func outgoing() async throws {
            let line = try await Line.outgoing()
            try await judgeSpeech(line)
            try await judgeTones(line, "after the answer")

            await line.call.press("1")
            await line.call.press("9#")
            #expect(await line.bob.digits(of: line.number, count: 3) == "19#")
            try await line.bob.dtmf(line.number, "5*")
            #expect(await line.call.keys(count: 2) == "5*")
            await line.call.press("8", method: .infoRelay)
            let digit = try await line.bob.event("dtmf")
            #expect((digit.digit, digit.method) == ("8", "info"))

            try await holdFromClient(line)
            try await judgeTones(line, "after the client's hold")
            try await holdFromFarEnd(line)
            try await judgeTones(line, "after the far end's hold")

            try await line.bob.hangUp(line.number)
            let end = try await line.call.becomes(.finish)
            #expect(end.message == "finish")
            #expect(end.object.sipStatus == 200)
            try await line.bob.call(line.number, becomes: "DISCONNECTED")
            #expect(await line.call.troubles == [])
            try await line.end()
        }

        @Test("A call from PJSIP: who calls is told, sound comes back in time, the client's hang-up is a BYE")
        func incoming() async throws {
            let line = try await Line.incoming()
            let told = try #require(await line.call.history.first)
            #expect(told.message == "notifyIncomingCall")
            #expect((told.object.caller, told.object.callee, told.object.incoming) == ("bob", "alice", true))
            #expect(try await line.bob.media(of: line.number, becomes: "active").codec == "PCMA")
            try await judgeTones(line, "of an incoming call")

            try await line.bob.silence(line.number)
            try await line.bob.sound(line.number, PJSUAPeer.Sound(echoes: true))
            let said = try Ear(file: try Speech.sentence("auth-incorrect"))
            let heard = try await line.call.listen(
                milliseconds: 5500, saying: .samples(said.samples, loops: false))
            let hearing = try #require(Hearing(of: said, in: heard))
            let figures = await line.call.figures
            print(
                "client to PJSIP and back: \(hearing), lost \(figures.packetsLost), "
                    + "concealed \(figures.concealedMilliseconds) ms")
            #expect(hearing.similarity > 0.85)
            #expect(hearing.delays.allSatisfy { 0 < $0 && $0 < 600 })

            await line.call.hangUp()
            #expect(try await line.call.becomes(.finish).message == "finish")
            #expect(try await line.bob.call(line.number, becomes: "DISCONNECTED").status == 200)
            try await line.end()
        }

        @Test("A guest calls through the gateway's own registered trunk, with digest, as the trunk's user")
        func ownTrunk() async throws {
            let kamailio = try await Kamailio.start(users: ["line": "wonder", "bob": "builder"])
            let bob = try await PJSUAPeer.start("bob")
            #expect(try await bob.register(at: kamailio.uri, as: "bob", password: "builder").isActive)
            let gateway = try await GatewayProcess.start([
                "trunk": [
                    "host": "127.0.0.1:\(kamailio.port)", "user": "line", "password": "wonder", "register": true,
                ],
                "demo": ["enabled": false],
            ])
            #expect(await eventually { kamailio.knows("line") })
            let client = try await WCSClient.connect(to: gateway)
            let call = await client.call("bob")
            let incoming = try await bob.event("incoming")
            #expect(incoming.remote.contains("line"))
            try await bob.respond(incoming.call, 200, sound: .tone(Line.bobTone, level: -20))
            try await call.becomes(.established)
            try await call.hears(Line.bobTone)
            await call.hangUp()
            try await call.becomes(.finish)
            try await bob.call(incoming.call, becomes: "DISCONNECTED")
            await client.stop()
            await bob.stop()
            #expect(await gateway.stop() == .status(0))
            #expect(await eventually { !kamailio.knows("line") }, "the trunk's binding is taken back")
            await kamailio.stop()
        }

        @Test("A client's refusal of a call from PJSIP reaches the caller as busy")
        func refused() async throws {
            let kamailio = try await Kamailio.start(users: ["alice": "wonder", "bob": "builder"])
            let gateway = try await GatewayProcess.start()
            let bob = try await PJSUAPeer.start("bob")
            _ = try await bob.register(at: kamailio.uri, as: "bob", password: "builder")
            let client = try await WCSClient.connect(to: gateway, as: alice(at: kamailio))
            _ = try await client.message("registered")
            let number = try await bob.call("sip:alice@127.0.0.1:\(kamailio.port)")
            let call = try await client.incomingCall()
            try await bob.call(number, becomes: "EARLY")
            await call.hangUp()
            try await call.becomes(.finish)
            #expect(try await bob.call(number, becomes: "DISCONNECTED").status == 486)
            await client.stop()
            await bob.stop()
            await gateway.stop()
            await kamailio.stop()
        }
    }
}

private func alice(at kamailio: Kamailio, password: String = "wonder") -> WCSAccount {
    WCSClient.account("alice", password: password, domain: Kamailio.realm, port: kamailio.port, registers: true)
}

// MARK: - A call that is up

/// Alice at a WCS client and Bob at PJSIP, joined by the gateway and Kamailio: a call that has been answered.
private struct Line {
    let kamailio: Kamailio
    let gateway: GatewayProcess
    let bob: PJSUAPeer
    let client: WCSClient
    let call: WCSClientCall
    /// The call's number at Bob.
    let number: Int

    /// The tones that the sides say where nothing else is asked for.
    static let aliceTone = 1000
    static let bobTone = 600

    static func outgoing() async throws -> Line {
        let (kamailio, gateway, bob, client) = try await parties(codecs: ["PCMU", "PCMA"])
        let call = await client.call("bob")
        let number = try await bob.event("incoming").call
        #expect(try await call.becomes(.trying).message == "notifyTryingResponse")
        try await bob.respond(number, 180)
        #expect(try await call.becomes(.ring).message == "ring")
        try await bob.respond(number, 200, sound: .tone(bobTone, level: -20))
        #expect(try await call.becomes(.established).message == "talk")
        try await bob.call(number, becomes: "CONFIRMED")
        try await bob.media(of: number, becomes: "active")
        try await call.hears()
        return Line(kamailio: kamailio, gateway: gateway, bob: bob, client: client, call: call, number: number)
    }

    static func incoming() async throws -> Line {
        let (kamailio, gateway, bob, client) = try await parties(codecs: ["PCMA"])
        let number = try await bob.call("sip:alice@127.0.0.1:\(kamailio.port)", sound: .tone(bobTone, level: -20))
        let call = try await client.incomingCall()
        try await bob.call(number, becomes: "EARLY")
        try await call.becomes(.ring)
        await call.answer()
        try await call.becomes(.established)
        try await bob.call(number, becomes: "CONFIRMED")
        try await call.hears()
        return Line(kamailio: kamailio, gateway: gateway, bob: bob, client: client, call: call, number: number)
    }

    private static func parties(
        codecs: [String]
    ) async throws -> (Kamailio, GatewayProcess, PJSUAPeer, WCSClient) {
        let kamailio = try await Kamailio.start(users: ["alice": "wonder", "bob": "builder"])
        let gateway = try await GatewayProcess.start()
        let bob = try await PJSUAPeer.start("bob", codecs: codecs)
        #expect(try await bob.register(at: kamailio.uri, as: "bob", password: "builder").isActive)
        let tone = ToneGenerator(rate: WCSClientCall.rate, frequency: Double(aliceTone), level: -20)
        let client = try await WCSClient.connect(to: gateway, as: alice(at: kamailio), saying: .tone(tone))
        _ = try await client.message("registered")
        return (kamailio, gateway, bob, client)
    }

    func end() async throws {
        await client.stop()
        await bob.stop()
        #expect(await gateway.stop() == .status(0))
        await kamailio.stop()
    }

    /// What both sides hear during the same time; the client's listening is the clock.
    func bothHear(
        milliseconds: Int, client source: AudioSource? = nil, bob sound: PJSUAPeer.Sound = .none
    ) async throws -> (client: Ear, bob: Ear) {
        let file = bob.folder.file("\(UUID().uuidString).wav")
        var sound = sound
        sound.record = file
        try await bob.sound(number, sound)
        let heard = try await call.listen(milliseconds: milliseconds, saying: source)
        try await bob.stopRecording(number)
        return (heard, try Ear(file: file))
    }
}

/// Different sentences each way at once: each side hears the other's, whole and at its level, and not its own.
private func judgeSpeech(_ line: Line) async throws {
    let ours = try Ear(file: try Speech.sentence("auth-incorrect"))
    let theirs = try Ear(file: try Speech.sentence("agent-incorrect"))
    let heard = try await line.bothHear(
        milliseconds: 6500, client: .samples(ours.samples, loops: false),
        bob: .file(try Speech.sentence("agent-incorrect")))
    for (listener, ear, said, own) in [("client", heard.client, theirs, ours), ("PJSIP", heard.bob, ours, theirs)] {
        let hearing = try #require(Hearing(of: said, in: ear, maximumLead: 500))
        let start = max(0, Int(hearing.delays[0]))
        let part = ear.part(start..<start + said.milliseconds)
        print("speech at the \(listener): \(part.level.rms) dB of \(said.level.rms) dB, \(hearing)")
        #expect(hearing.similarity > 0.85, "\(listener)")
        #expect(abs(part.level.rms - said.level.rms) < 2, "\(listener)")
        let echo = try #require(ear.match(own, maximumDelay: 1500, maximumLead: 500))
        #expect(echo.envelopeSimilarity < 0.6, "the \(listener) hears itself: \(echo)")
    }
}

/// A tone each way: each side hears the other's at its level, without a hole, and not its own.
private func judgeTones(_ line: Line, _ when: String) async throws {
    let tone = ToneGenerator(rate: WCSClientCall.rate, frequency: Double(Line.aliceTone), level: -20)
    await line.call.say(.tone(tone))
    try await line.bob.sound(line.number, .tone(Line.bobTone, level: -20))
    try await line.call.hears(Line.bobTone)
    var heard = try await line.bothHear(milliseconds: 2000)
    // A machine that stalls makes holes, too; a fault of ours would make them again.
    for _ in 1...2 where !(heard.client.last(1500).isSteady(Line.bobTone) && heard.bob.last(1500).isSteady(Line.aliceTone))
    {
        heard = try await line.bothHear(milliseconds: 2000)
    }
    for (listener, ear, other, own) in [
        ("client", heard.client, Line.bobTone, Line.aliceTone), ("PJSIP", heard.bob, Line.aliceTone, Line.bobTone),
    ] {
        let ear = ear.last(1500)
        let (level, gaps) = (ear.level(of: Double(other)), ear.gaps(inTone: Double(other)))
        print("tone at the \(listener) \(when): \(level) dB, gaps \(gaps)")
        #expect(ear.isSteady(other), "\(listener) \(when): \(level) dB, \(gaps)")
        #expect(ear.level(of: Double(own)) < -55, "\(listener) \(when)")
    }
}

/// The far end is told, the client is told, nothing is heard either way; then all comes back.
private func holdFromClient(_ line: Line) async throws {
    await line.call.hold()
    #expect(try await line.call.becomes(.hold).message == "hold")
    try await line.bob.media(of: line.number, becomes: "remote-hold")
    let held = try await line.bothHear(milliseconds: 1000)
    #expect(held.client.last(600).level.rms < -60, "the client hears the far end during its hold")
    #expect(held.bob.last(600).level.rms < -60, "the far end hears the client during the hold")
    await line.call.unhold()
    #expect(try await line.call.becomes(.established).message == "talk")
    try await line.bob.media(of: line.number, becomes: "active")
}

/// A re-INVITE that holds and one that resumes: the client is told nothing, hears what the holder plays, and the call goes on.
private func holdFromFarEnd(_ line: Line) async throws {
    let before = await line.call.history.count
    try await line.bob.hold(line.number)
    try await line.bob.media(of: line.number, becomes: "local-hold")
    let held = try await line.bothHear(milliseconds: 1000)
    #expect(abs(held.client.last(600).level(of: Double(Line.bobTone)) + 20) < 1.5, "the holder's music is not heard")
    #expect(held.bob.last(600).level.rms < -60, "the far end hears the client during its own hold")
    try await line.bob.resume(line.number)
    try await line.bob.media(of: line.number, becomes: "active")
    #expect(await line.call.history.count == before, "the client is told of the far end's hold")
}
