import Audio
import Foundation
import GatewayTesting
import Testing

extension Wire {
    /// Chromium on one side, PJSIP on the other, Kamailio between them: no end is ours. `ForeignPeerTests` goes into detail.
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
            await bob.stop()
            await browser.stop()
            #expect(await gateway.stop() == .status(0))
            await kamailio.stop()
        }
    }
}
