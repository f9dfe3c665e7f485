import Testing

@testable import WCSProtocol

/// A small generator whose seed is printed with each failure (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// The names of unknown keys are for the log and are not printed again.
private func withoutUnknownKeys(_ message: WCSClientMessage) -> WCSClientMessage {
    guard case .connection(var request) = message else { return message }
    request.unknownKeys = []
    return .connection(request)
}

@Suite struct HostileInputTests {
    @Test func valuesAreReadAsTheStandardSays() throws {
        let cases: [(String, JSONValue)] = [
            ("0", .number(0)), ("-0.5e+2", .number(-50)), (" [ ] ", .array([])), ("{}", .object([:])),
            (#""\u00fc\ud83d\udcde\/\b\f""#, .string("ü\u{1F4DE}/\u{8}\u{c}")), (#""\ud83dx""#, .string("\u{FFFD}x")),
            (#""\udcde""#, .string("\u{FFFD}")), (#""\ud83d\u0041""#, .string("\u{FFFD}A")),
            (#"{"a":1,"a":2}"#, .object(["a": .number(2)])),
            (#"[true,false,null]"#, .array([.bool(true), .bool(false), .null])),
        ]
        for (text, expected) in cases { #expect(try JSONReader.parse(text) == expected, "\(text)") }
    }

    @Test func whatIsNotJSONIsAnErrorWithItsOffset() {
        let wrong = [
            "", " ", "{", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "01", "1.", ".5", "+1",
            "-", "1e",
            "1e999", "nul", "truex", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\n\"", "[1] x", "'a'", "NaN",
            "\u{FEFF}{}",
        ]
        for text in wrong {
            #expect(throws: WCSParseError.self, "\(text)") { try JSONReader.parse(text) }
        }
        #expect(throws: WCSParseError.notJSON(offset: 3, what: "a character that begins no value")) {
            try JSONReader.parse("[1,]")
        }
    }

    @Test func deepNestingIsRefusedAtOnce() {
        for opening in ["[", "{\"a\":", "[{\"a\":"] {
            #expect(throws: WCSParseError.tooDeep) {
                try WCSClientMessage.parse(String(repeating: opening, count: 100_000))
            }
        }
    }

    @Test func aMessageOverOneMebibyteIsRefusedUnread() {
        let text = #"{"message":"pushLogs","data":[{"logs":"\#(String(repeating: "x", count: 1 << 20))"}]}"#
        #expect(throws: WCSParseError.tooLarge(bytes: text.utf8.count)) { try WCSClientMessage.parse(text) }
    }

    @Test(.timeLimit(.minutes(1))) func aMebibyteOfSmallValuesIsNoTrouble() throws {
        let text = #"{"message":"x","data":["# + String(repeating: "0,", count: 500_000) + "0]}"
        #expect(try WCSClientMessage.parse(text) == .unknown(name: "x"))
    }

    @Test func changedMessagesNeverTrap() {
        let seeds = [
            WCSClientMessage.connection(ConnectionRequest(account: WCSAccount(login: "u", password: "p", domain: "d")))
                .text,
            WCSClientMessage.call(CallRequest(callID: "c", callee: "2", sdp: "v=0\r\n")).text,
            WCSClientMessage.sendDtmf(DTMFRequest(callID: "c", digits: "1")).text,
            WCSServerMessage.setRemoteSDP(callID: "c", sdp: "v", isInitiator: true).text,
            WCSServerMessage.ring(CallObject(callID: "c", status: .ring, incoming: true, caller: "1", callee: "2")).text,
            #"{"message":"x","data":[1,-2.5e3,"\u00fc\ud83d\udcde",{"a":[null,true]}]}"#,
        ]
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(state: seed)
        let spice = Array("{}[]\",:\\u0123456789eE+-.ntf \n\0\u{7F}ü".utf8) + [0xFF, 0xC0, 0xED]
        var readable = 0
        for round in 0..<4000 {
            var bytes = Array(seeds[round % seeds.count].utf8)
            for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = spice.randomElement(using: &generator) ?? 0
                case 1: bytes.insert(spice.randomElement(using: &generator) ?? 0, at: place)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &generator)))
                default:
                    let end = min(bytes.count, place + Int.random(in: 1...20, using: &generator))
                    bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &generator))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            // What can be read can be printed, and then reads as the same.
            if let message = (try? WCSClientMessage.parse(text)).map(withoutUnknownKeys) {
                readable += 1
                #expect((try? WCSClientMessage.parse(message.text)) == message, "seed \(seed), round \(round): \(text)")
            }
            _ = try? WCSServerMessage.parse(text)
        }
        #expect(readable > 0, "seed \(seed)")
    }
}
