import Audio
import Foundation
import GatewayTesting
import Testing

extension Wire {
    /// Headless Chromium at the gateway's own page calls the demo trunk and is called; what it hears is judged.
    @Suite("Chromium at the soft phone", .enabled(if: GatewayProcess.serves)) struct ChromiumCallTests {
        /// A gateway, and a browser before it.
        private struct Scene {
            let gateway: GatewayProcess
            let browser: Chromium

            static func open(
                _ settings: GatewayProcess.Settings = [:], microphone: URL? = nil
            ) async throws -> Scene {
                let gateway = try await GatewayProcess.start(settings)
                return Scene(gateway: gateway, browser: try await Chromium.start(microphone: microphone))
            }

            func close() async {
                await browser.stop()
                #expect(await gateway.stop() == .status(0))
            }
        }

        @Test("The echo number gives speech back: whole, at its level, in time; mute and hold silence it")
        func echo() async throws {
            let folder = try ScratchFolder("speech")
            let scene = try await Scene.open(microphone: try await Speech.file(in: folder))
            let phone = try await SoftPhonePage.open(scene.gateway, in: scene.browser)
            try await phone.call("100")
            try await phone.wait(for: "state.levels.ear > -45")
            try await phone.page.clearEar()
            let talk = try await phone.page.listen(seconds: 7)
            try keep(talk.heard, "echo-heard")
            try keep(talk.said, "echo-said")
            let match = try #require(talk.heard.match(talk.said))
            print("echo in Chromium: heard \(talk.heard.level.rms) dB, said \(talk.said.level.rms) dB, \(match)")
            #expect(match.envelopeSimilarity > 0.85)
            #expect(match.delay < 400)
            #expect(abs(talk.heard.level.rms - talk.said.level.rms) < 3)
            #expect(talk.heard.holes(against: talk.said, delay: match.delay) == [])

            try await silenced(phone, by: "mute()", shown: "state.call.muted")
            try await heardAgain(phone, by: "mute(false)", shown: "!state.call.muted")
            try await silenced(phone, by: "hold()", shown: "state.call.held")
            try await heardAgain(phone, by: "resume()", shown: "state.call.status === 'ESTABLISHED'")

            try await phone.press("hangUp()")
            #expect(try await phone.waitForEnd().isBad == false)
            try await scene.gateway.waitUntilNoMedia()
            #expect(phone.troubles == [])
            await scene.close()
        }

        /// Keeps a recording for a person to listen to.
        private func keep(_ heard: Ear, _ name: String) throws {
            try heard.write(to: Fixtures.buildFolder("recordings").appending(path: "\(name).wav"))
        }

        private func silenced(_ phone: SoftPhonePage, by function: String, shown condition: String) async throws {
            try await phone.press(function)
            try await phone.wait(for: condition)
            // What is under way may still be heard.
            try await phone.page.clearEar()
            let heard = try await phone.page.listen(seconds: 2.5).heard.last(1500)
            #expect(heard.level.rms < -60, "after \(function)")
        }

        private func heardAgain(_ phone: SoftPhonePage, by function: String, shown condition: String) async throws {
            try await phone.press(function)
            try await phone.wait(for: "\(condition) && state.levels.ear > -40")
        }

        @Test("The speech number says its sentence and hangs up, and the page says so")
        func speech() async throws {
            let folder = try ScratchFolder("speech")
            let sentence = try Ear(file: try await Speech.file(["demo-thanks"], rate: 16000, in: folder))
            let scene = try await Scene.open(["demo": ["speechFile": try Speech.sentence("demo-thanks").path]])
            let phone = try await SoftPhonePage.open(scene.gateway, in: scene.browser)
            try await phone.dial("101")
            try await phone.wait(for: "state.call?.hasSound")
            try await phone.startRecording()
            let end = try await phone.waitForEnd(within: .seconds(20))
            let heard = try await phone.stopRecording()
            try keep(heard, "speech-heard")
            // The whole waveform is bent by the browser's jitter buffer, which stretches time; the envelope tells.
            let match = try #require(heard.match(sentence, maximumDelay: 4000))
            print("speech in Chromium: heard \(heard.milliseconds) ms, \(match), \(end.words)")
            #expect(match.envelopeSimilarity > 0.9)
            let said = sentence.level.rms
            let start = Int(match.delay)
            #expect(abs(heard.part(start..<start + sentence.milliseconds).level.rms - said) < 3)
            #expect(heard.holes(against: sentence, delay: match.delay) == [])
            #expect(["Call ended after 0:05", "Call ended after 0:06"].contains(end.words) && !end.isBad)
            try await scene.gateway.waitUntilNoMedia()
            #expect(phone.troubles == [])
            await scene.close()
        }

        @Test("Keys reach the trunk: it reads them back, one by one")
        func keys() async throws {
            let folder = try ScratchFolder("speech")
            let scene = try await Scene.open()
            let phone = try await SoftPhonePage.open(scene.gateway, in: scene.browser)
            try await phone.call("103")
            try await phone.startRecording()
            try await phone.page.clearEar()
            try await phone.press("sendKeys('49')")
            try await phone.page.wait(until: "__ear.seconds() >= 4")
            let heard = try await phone.stopRecording()
            try keep(heard, "keys-heard")
            var words: [(digit: Character, delay: Double, likeness: Double)] = []
            for digit in "0123456789" {
                let word = try Ear(file: try await Speech.file(["digits/\(digit)"], rate: 16000, in: folder))
                let longest = heard.milliseconds - word.milliseconds
                let delay = try #require(heard.match(word, maximumDelay: longest)).delay
                words.append((digit, delay, heard.likeness(to: word, delay: delay)))
            }
            words.sort { $0.likeness > $1.likeness }
            print("keys in Chromium: \(words.prefix(3))")
            #expect(words.prefix(2).sorted { $0.delay < $1.delay }.map(\.digit) == ["4", "9"])
            #expect(words[1].likeness > 0.7)
            try await phone.press("hangUp()")
            _ = try await phone.waitForEnd()
            #expect(phone.troubles == [])
            await scene.close()
        }

        @Test("A call from the trunk rings the page, which answers and hears it, and hangs up")
        func answered() async throws {
            let scene = try await Scene.open()
            let phone = try await SoftPhonePage.open(scene.gateway, in: scene.browser)
            try await phone.dial("107")
            #expect(try await phone.waitForEnd().isBad == false)
            let ringing = try await phone.wait(for: "state.incoming && state.ringing === 'ring'")
            #expect(ringing.incoming?.party == "107")
            try await phone.press("answer()")
            try await phone.waitUntilTalking()
            #expect(try await phone.record(seconds: 2).level.rms > -40)
            try await phone.press("hangUp()")
            #expect(try await phone.waitForEnd().isBad == false)
            try await scene.gateway.waitUntilNoMedia()
            #expect(phone.troubles == [])
            await scene.close()
        }

        @Test("A call that the page rejects is busy to its caller; one whose caller gives up was missed")
        func rejected() async throws {
            let scene = try await Scene.open()
            let phone = try await SoftPhonePage.open(scene.gateway, in: scene.browser)
            let guest = try #require(try await phone.wait(for: "state.session").session).sipLogin
            let target = "127.0.0.1:\(scene.gateway.ports.sip)"
            let refused = try await SIPp.start(
                "uac-refused", target: target, number: guest, keys: ["caller": "4711", "status": "486"])
            #expect(try await phone.wait(for: "state.incoming").incoming?.party == "4711")
            try await phone.press("reject()")
            try await refused.finish()
            #expect(try await phone.wait(for: "!state.incoming && state.ended").ended?.words == "Call rejected")

            let impatient = try await SIPp.start(
                "uac-cancel", target: target, number: guest, keys: ["caller": "4712", "stay": "500"])
            try await phone.wait(for: "state.incoming")
            try await impatient.finish()
            #expect(try await phone.wait(for: "!state.incoming && state.ended").ended?.words == "Missed call")
            try await scene.gateway.waitUntilNoMedia()
            await scene.close()
        }

        @Test("Busy, unknown, unanswered and early calls end as they should, each leaving room for the next")
        func otherEnds() async throws {
            let scene = try await Scene.open()
            let phone = try await SoftPhonePage.open(scene.gateway, in: scene.browser)
            try await phone.dial("104")
            let busy = try await phone.waitForEnd()
            #expect(busy.isBad && busy.words.hasPrefix("Busy"))

            try await phone.dial("999")
            let unknown = try await phone.waitForEnd()
            #expect(unknown.isBad && unknown.words == "This number does not exist (404)")

            try await phone.dial("105")
            try await phone.wait(for: "state.call?.status === 'RING' && state.ringing === 'ringback'")
            try await phone.press("hangUp()")
            #expect(try await phone.waitForEnd().isBad == false)

            // Sound that ended before it could be heard is no trouble of the browser's.
            #expect(try await phone.wait(for: "true").notice == "")

            // Hung up before the answer: the demo trunk lets go of its sockets only when the CANCEL has come.
            try await phone.dial("106")
            try await phone.wait(for: "state.call?.status === 'RING_MEDIA' && state.levels.ear > -45")
            #expect(try await phone.wait(for: "state.call").ringing == "")
            try await phone.press("hangUp()")
            _ = try await phone.waitForEnd()
            try await scene.gateway.waitUntilNoMedia()

            try await phone.call("102")
            #expect(try await phone.record(seconds: 1).level.rms > -40)
            try await phone.press("hangUp()")
            #expect(try await phone.waitForEnd().words.hasPrefix("Call ended after"))
            try await scene.gateway.waitUntilNoMedia()
            #expect(phone.troubles == [])
            await scene.close()
        }

        @Test("Sound that the browser holds back is told, and comes at the next gesture")
        func heldBack() async throws {
            let scene = try await Scene.open()
            let phone = try await SoftPhonePage.open(scene.gateway, in: scene.browser)
            let ear = "document.querySelector('#ear')"
            try await phone.page.run(
                "\(ear).play = () => Promise.reject(new DOMException('a gesture first', 'NotAllowedError'))")
            try await phone.call("102")
            try await phone.wait(for: "state.notice.startsWith('The browser holds the sound back')")
            try await phone.page.run("\(ear).pause(); delete \(ear).play")
            try await phone.page.click("#party")
            try await phone.wait(for: "state.notice === ''")
            try await phone.page.wait(until: "!\(ear).paused")
            try await phone.press("hangUp()")
            _ = try await phone.waitForEnd()
            #expect(phone.troubles == [])
            await scene.close()
        }

        @Test("Two calls at once do not hear each other")
        func twoCalls() async throws {
            let scene = try await Scene.open()
            let low = try await SoftPhonePage.open(
                scene.gateway, in: scene.browser, wishes: .init(tone: (hertz: 700, level: -20)))
            let high = try await SoftPhonePage.open(
                scene.gateway, in: scene.browser, wishes: .init(tone: (hertz: 1600, level: -20)))
            try await low.call("100")
            try await high.call("100")
            for (phone, own, other) in [(low, 700.0, 1600.0), (high, 1600.0, 700.0)] {
                try await phone.wait(for: "state.levels.ear > -30")
                let heard = try await phone.record(seconds: 3)
                print(
                    "\(own) Hz in Chromium: \(heard.level(of: own)) dB, the other's \(heard.level(of: other)) dB, ",
                    heard.gaps(inTone: own))
                #expect(abs(heard.level(of: own) + 20) < 2)
                #expect(heard.level(of: other) < -65)
                #expect(heard.gaps(inTone: own).filter { $0.length > 60 } == [])
            }
            try await low.press("hangUp()")
            _ = try await low.waitForEnd()
            #expect(abs(try await high.record(seconds: 1).level(of: 1600) + 20) < 2)
            // The tab is closed in the middle of its call: everything is given back all the same.
            try await high.page.close()
            try await scene.gateway.waitUntilNoMedia()
            await scene.close()
        }
    }
}

extension GatewayProcess {
    /// Waits until no call holds a media port: not the client legs, not the trunk legs, and not the demo trunk, which lets
    /// go of its own when a BYE or CANCEL has reached it.
    func waitUntilNoMedia(within limit: Duration = .seconds(10)) async throws {
        let ranges = [ports.clientMedia, ports.trunkMedia, ports.demoMedia]
        let held = { self.resources.udpPorts.filter { port in ranges.contains { $0.contains(port) } } }
        guard await eventually(timeout: limit, { held().isEmpty }) else {
            throw PeerFailure("media ports are still held: \(held()). \(process.transcript)")
        }
    }
}

extension Ear {
    /// How alike a word's loud parts and what is heard in their places are: 1 for the same waveforms, below 0.5 for another
    /// word. The whole waveform would not tell, for the browser's jitter buffer stretches time by some milliseconds.
    func likeness(to word: Ear, delay: Double) -> Double {
        var parts: [Double] = []
        for start in stride(from: 0, to: word.milliseconds - 200, by: 200) {
            let part = word.part(start..<start + 200)
            guard part.level.rms > -35 else { continue }
            let place = max(Int(delay) + start - 30, 0)
            parts.append(self.part(place..<place + 260).match(part, maximumDelay: 60)?.similarity ?? 0)
        }
        return parts.reduce(0, +) / Double(max(parts.count, 1))
    }

    /// Stretches in which the other side clearly spoke and next to nothing of it is heard here, `delay` later.
    func holes(against said: Ear, delay: Double, longerThan minimum: Int = 60) -> [Gap] {
        let (own, other) = (levels(), said.levels())
        let shift = Int((delay / 10).rounded())
        var gaps: [Gap] = []
        for index in other.indices where other[index] > -40 {
            // The browser's jitter buffer stretches time a little.
            let around = max(index + shift - 1, 0)...max(index + shift + 1, 0)
            guard around.upperBound < own.count, own[around].allSatisfy({ $0 < other[index] - 20 }) else { continue }
            if let last = gaps.last, last.start + last.length == index * 10 {
                gaps[gaps.count - 1].length += 10
            } else {
                gaps.append(Gap(start: index * 10, length: 10))
            }
        }
        return gaps.filter { $0.length > minimum }
    }
}
