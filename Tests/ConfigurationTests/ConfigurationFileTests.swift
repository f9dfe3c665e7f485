import Foundation
import Testing

@testable import Configuration

@Suite struct ConfigurationFileTests {
    private static var sampleText: String {
        get throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            return try String(contentsOf: root.appending(path: "Config/trunkline.json5"), encoding: .utf8)
        }
    }

    private func failure(_ text: String, environment: [String: String] = [:]) -> ConfigurationError? {
        do {
            _ = try ConfigurationFile(text: text, path: "a.json5", environment: environment)
            return nil
        } catch { return error }
    }

    @Test func theSampleSaysTheDefaultsAndEveryKey() throws {
        var known: Set<String> = []
        let sample = try ConfigurationFile(text: try Self.sampleText, path: "s", environment: [:]) { known.insert($0) }
        #expect(sample.settings == Settings())
        #expect(try ConfigurationFile(text: "{}", path: "e").settings == Settings())

        var written: Set<String> = []
        func collect(_ value: JSON5Value, _ path: String) {
            guard case .object(let members) = value.content else { return }
            for member in members {
                let full = path.isEmpty ? member.name : "\(path).\(member.name)"
                written.insert(full)
                collect(member.value, full)
            }
        }
        collect(try JSON5Parser.parse(try Self.sampleText), "")
        #expect(written == known)
    }

    @Test(arguments: [
        ("{ web: { prot: 1 } }", "a.json5:1: web.prot: unknown key; this section knows host, port, softPhone"),
        ("{\n  wbe: {}\n}", "a.json5:2: wbe: unknown key"),
        ("{ web: { port: '8080' } }", "a.json5:1: web.port: takes a whole number, not a text"),
        ("{ web: { port: 70000 } }", "a.json5:1: web.port: 70000 is not between 0 and 65535"),
        ("{ web: 1 }", "a.json5:1: web: takes a section in { }, not a number"),
        ("{ sip: { transports: ['udp', 'sctp'] } }", "a.json5:1: sip.transports: 'sctp' is not one of"),
        ("{ sip: { transports: [] } }", "a.json5:1: sip.transports: the list is empty"),
        ("{ media: { trunkPorts: '5' } }", "a.json5:1: media.trunkPorts: '5' is not a range of ports"),
        ("{ media: { clientPorts: '40000-40100' } }", "a.json5: media.trunkPorts: overlaps media.clientPorts"),
        (
            "{ media: { resampler: 'never' } }",
            "a.json5:1: media.resampler: takes one of \"whenNeeded\", \"always\", not \"never\""
        ),
        ("{ media: { resampler: 1 } }", "a.json5:1: media.resampler: takes one of \"whenNeeded\", \"always\", not a"),
        ("{ trunk: { host: 'sip:a.example' } }", "a.json5:1: trunk.host: takes a host or an address, with a port"),
        ("{ trunk: { host: 'sip:192.0.2.1:5090' } }", "a.json5:1: trunk.host: takes a host or an address, with a port"),
        ("{ trunk: { host: '192.0.2.1:99999' } }", "a.json5:1: trunk.host: takes a host or an address, with a port"),
        ("{ trunk: { outboundProxy: 'a example' } }", "a.json5:1: trunk.outboundProxy: takes a host or an address"),
        (
            "{ dtls: { certificateFile: '/nowhere.pem', privateKeyFile: '/nowhere.key' } }",
            "a.json5:1: dtls.certificateFile: the file '/nowhere.pem' is missing"
        ),
        ("{ trunk: { register: true } }", "a.json5: trunk.host: is required when trunk.register is true"),
        ("{ trunk: { password: 'env:NONE' } }", "a.json5:1: trunk.password: the environment has no variable 'NONE'"),
        ("{ demo: { sipPort: 5060 } }", "a.json5: demo.sipPort: is the same as sip.port"),
        ("{ demo: { mediaPorts: '39000-41000' } }", "a.json5: demo.mediaPorts: overlaps media.trunkPorts"),
        ("{ wcs: { rejectStatus: 500 } }", "a.json5:1: wcs.rejectStatus: takes 486 or 603"),
        ("{ trunk: { packetMilliseconds: 25 } }", "a.json5:1: trunk.packetMilliseconds: takes 10, 20"),
        ("{ sip: { userAgent: 'a\\r\\nb' } }", "a.json5:1: sip.userAgent: takes printable ASCII only"),
    ])
    func whatIsWrongNamesItsKeyPath(text: String, message: String) throws {
        let error = try #require(failure(text))
        #expect(error.description.hasPrefix(message), "\(error)")
    }

    @Test(arguments: [
        ("{\n a: 1,\n b: }\n}", 3, "'}' stands where a value should stand"),
        ("{\n\n web: {}\n sip: {} }", 4, "',' or '}'"), ("{ web: {}, web: {} }", 1, "the key 'web' stands twice"),
        ("{", 1, "the text ends"), ("", 1, "the text ends"), ("{} x", 1, "stands after the end"),
        ("{ a: 'x\n' }", 1, "a text ends with its line"), ("{ /* a", 1, "a comment does not end"),
        ("{ a: 1.2.3 }", 1, "'1.2.3' is not a number"), ("{ a: \"\\u12\" }", 1, "hexadecimal digit"),
        (String(repeating: "[", count: 100_000), 1, "nested too deeply"), ("[]", 1, "the settings must stand in { }"),
    ])
    func aSyntaxErrorNamesItsLine(text: String, line: Int, message: String) throws {
        let error = try #require(failure(text))
        guard case .line(let found, _) = error.place else {
            Issue.record("\(error) names no line")
            return
        }
        #expect(found == line)
        #expect(error.message.contains(message), "\(error)")
    }

    @Test func whatJSON5AllowsIsRead() throws {
        let text = """
            // comment
            { 'web': { "port": 0x1F90, host: '\\u0061\\x62', }, /* more */
              media: { clientAddresses: ["192.0.2.1", "::1"], lanes: +2 }, trunk: { password: "env:SECRET" }, }
            """
        let settings = try ConfigurationFile(text: text, path: "a", environment: ["SECRET": "x"]).settings
        #expect(settings.web.port == 8080)
        #expect(settings.web.host == "ab")
        #expect(settings.media.clientAddresses == ["192.0.2.1", "::1"])
        #expect(settings.media.lanes == 2)
        #expect(settings.trunk.password?.value == "x")
        #expect(!"\(settings)".contains("\"x\""))
    }

    @Test func aMissingFileIsNamed() {
        #expect(throws: ConfigurationError.self) { try ConfigurationFile(path: "/nowhere/t.json5") }
        do {
            _ = try ConfigurationFile(path: "/nowhere/t.json5")
        } catch {
            #expect(error.description == "/nowhere/t.json5: no such file")
        }
    }

    @Test func hostileTextNeverTraps() {
        var random = SeededBytes(seed: 7)
        let alphabet = Array("{}[]:,'\"\\/*.+-0123456789abxuetrn \n\u{FEFF}é")
        for _ in 0..<20_000 {
            let text = String(
                (0..<Int(random.next() % 40)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] })
            _ = failure(text)
        }
    }
}

/// A seeded generator; the seed stands in the test.
private struct SeededBytes {
    var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
