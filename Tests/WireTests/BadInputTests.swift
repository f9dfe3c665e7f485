import Audio
import Foundation
import GatewayTesting
import Testing

extension Wire {
    /// What a gateway says to bad input.
    @Suite("Bad input", .enabled(if: GatewayProcess.serves)) struct BadInputTests {
        @Test("An unknown key, a taken port and a missing certificate each end the start with code 2 and their key path")
        func badConfigurations() async throws {
            let folder = try ScratchFolder("configuration")
            let ports = try GatewayProcess.Ports()
            let holder = try await GatewayProcess.start()
            let cases: [(GatewayProcess.Settings, String)] = [
                (["media": ["lanez": 2]], "media.lanez"),
                (["web": ["port": holder.ports.web]], "web.port"),
                (["sip": ["port": holder.ports.sip]], "sip.port"),
                (
                    ["dtls": ["certificateFile": "/nowhere/certificate.pem", "privateKeyFile": "/nowhere/key.pem"]],
                    "dtls.certificateFile"
                ),
            ]
            for (settings, path) in cases {
                let file = folder.file("bad.json5")
                try ports.configuration(settings).write(to: file)
                let run = try await GatewayProcess.run(["serve", "--config", file.path], within: .seconds(10))
                #expect(run.end == .status(2), "\(path): \(run.text)")
                #expect(run.text.contains(path))
                #expect(run.text.contains(file.path))
            }
            try Data("{\n  web: {\n    port: 80 80\n  }\n}".utf8).write(to: folder.file("syntax.json5"))
            let syntax = try await GatewayProcess.run(["serve", "--config", folder.file("syntax.json5").path])
            #expect(syntax.end == .status(2))
            #expect(syntax.text.contains("3"), "the line is named: \(syntax.text)")
            await holder.stop()
        }

        @Test("Bad JSON, an offer without audio and garbage on every port leave a call that is up alone")
        func garbage() async throws {
            let gateway = try await GatewayProcess.start()
            let browser = try await Chromium.start()
            let client = try await WCSPage.open(in: browser, wishes: .init(tone: (hertz: 1000, level: -20)))
            try await client.connect(to: gateway)
            let call = try await client.call("100")
            try await client.call(call, becomes: "ESTABLISHED")
            try await client.page.wait(until: "__ear.seconds() > 1")
            try await client.page.clearEar()

            let other = try await WCSPage.open(in: browser, wishes: .init(hears: false))
            try await other.connect(to: gateway)
            for text in [
                "{", "null", "[]", #"{"message":7}"#, #"{"message":"call"}"#, #"{"message":"nonsense","data":[{}]}"#,
            ] {
                try await other.send(raw: text)
            }
            let silent = "v=0\\r\\no=- 1 1 IN IP4 127.0.0.1\\r\\ns=-\\r\\nt=0 0\\r\\n"
            try await other.send(
                raw: #"{"message":"call","data":[{"callId":"no-audio","callee":"100","hasAudio":true,"sdp":""# + silent
                    + #""}]}"#)
            throwGarbage(at: Set(gateway.resources.udpPorts))
            let heard = try await client.page.listen(seconds: 5).heard
            #expect(abs(heard.level(of: 1000) + 20) < 2)
            #expect(heard.gaps(longerThan: 20) == [])
            try await client.hangUp(call)
            try await client.call(call, becomes: "FINISH")
            let again = try await client.call("100")
            try await client.call(again, becomes: "ESTABLISHED")
            await browser.stop()
            #expect(await gateway.stop() == .status(0))
        }

        private func throwGarbage(at ports: Set<Int>) {
            var random = SeededRandom(printedFor: "garbage on every port")
            for port in ports {
                for first: UInt8 in [0, 20, 22, 64, 128, 200, 255] {
                    for _ in 0..<7 { Loopback.throwDatagram([first] + random.bytes(upTo: 1400), at: port) }
                }
                Loopback.throwDatagram([], at: port)
            }
        }
    }
}
