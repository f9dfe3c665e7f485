import Audio
import Foundation
import GatewayTesting
import Testing

extension Wire {
    /// Headless Chromium calls the demo trunk's numbers; what it hears is judged.
    @Suite("Browser calls", .enabled(if: GatewayProcess.serves)) struct BrowserCallTests {
        @Test("Speech comes back from the echo number: whole, at its level, in time")
        func echo() async throws {
            let folder = try ScratchFolder("speech")
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start(microphone: try await Speech.file(in: folder))
            let client = try await WCSPage.open(in: browser, wishes: .init(rawMicrophone: true))
            try await client.connect(to: gateway)
            let call = try await client.call("100")
            try await client.call(call, becomes: "ESTABLISHED")
            try await client.page.clearEar()
            let talk = try await client.page.listen(seconds: 8)
            let found = Hearing(of: talk.said.part(0..<6000), in: talk.heard)
            let hearing = try #require(found)
            print(
                "echo through the gateway: heard at \(talk.heard.level.rms) dB, said at \(talk.said.level.rms) dB, \(hearing)"
            )
            #expect(hearing.similarity > 0.9)
            #expect(hearing.delays.allSatisfy { $0 < 500 })
            #expect(abs(talk.heard.level.rms - talk.said.level.rms) < 4)

            try await client.hangUp(call)
            try await client.call(call, becomes: "FINISH")
            #expect(try await client.history(of: call) == ["TRYING", "RING", "ESTABLISHED", "FINISH"])
            await browser.stop()
            #expect(await gateway.stop() == .status(0))
        }

        @Test("A steady tone comes back from the echo number without a hole")
        func echoedTone() async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser, wishes: .init(tone: (hertz: 1000, level: -20)))
            try await client.connect(to: gateway)
            let call = try await client.call("100")
            try await client.call(call, becomes: "ESTABLISHED")
            try await client.page.wait(until: "__ear.seconds() > 1")
            try await client.page.clearEar()
            let heard = try await client.page.listen(seconds: 6).heard
            #expect(abs(heard.level(of: 1000) + 20) < 2)
            #expect(heard.gaps(longerThan: 20) == [])
            await browser.stop()
            await gateway.stop()
        }

        @Test("The speech number says its sentence")
        func speech() async throws {
            let folder = try ScratchFolder("speech")
            let sentence = try Ear(file: try await Speech.file(in: folder))
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser)
            try await client.connect(to: gateway)
            let call = try await client.call("101")
            try await client.call(call, becomes: "ESTABLISHED")
            let heard = try await client.page.listen(seconds: 8).heard
            let found = Hearing(of: sentence.part(0..<6000), in: heard, maximumLead: 500)
            let hearing = try #require(found)
            print("speech from the trunk: \(hearing)")
            #expect(hearing.similarity > 0.9)
            await browser.stop()
            await gateway.stop()
        }

        @Test("The call-back number hangs up and calls the client, who answers and hears it")
        func incomingCall() async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser)
            try await client.connect(to: gateway)
            _ = try await client.call("107")
            let call = try await client.incoming(within: .seconds(20))
            try await client.answer(call)
            try await client.call(call, becomes: "ESTABLISHED")
            try await client.page.clearEar()
            let heard = try await client.page.listen(seconds: 3).heard
            #expect(heard.level.rms > -45)
            try await client.hangUp(call)
            try await client.call(call, becomes: "FINISH")
            await browser.stop()
            await gateway.stop()
        }

        @Test("Busy, no answer and early media arrive as such")
        func otherEnds() async throws {
            let gateway = try await GatewayProcess.start(["trunk": ["ringTimeoutSeconds": 3]])
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser)
            try await client.connect(to: gateway)
            let busy = try await client.call("104")
            try await client.call(busy, becomes: "BUSY")
            #expect(try await client.sipStatus(of: busy) == 486)
            let unanswered = try await client.call("105")
            try await client.call(unanswered, becomes: "RING")
            try await client.call(unanswered, becomes: "FAILED", within: .seconds(15))
            let early = try await client.call("106")
            try await client.call(early, becomes: "RING_MEDIA")
            try await client.page.clearEar()
            #expect(try await client.page.listen(seconds: 1).heard.level.rms > -45)
            await browser.stop()
            await gateway.stop()
        }
    }
}
