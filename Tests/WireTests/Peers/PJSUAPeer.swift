import Foundation
import GatewayTesting
import Synchronization

/// A SIP telephone that nobody here wrote: PJSIP in a process of its own, moved by Fixtures/pjsua_peer.py.
///
/// It has a clocked null sound device, so it sends audio from the first moment of a call, as a telephone does. Sounds that
/// it plays and records are WAV files of 8 kHz.
final class PJSUAPeer: Sendable {
    /// What the telephone tells of itself.
    struct Event: Sendable {
        /// `registration`, `incoming`, `call`, `media` or `dtmf`.
        let name: String
        /// Which call it is about; -1 for none.
        let call: Int
        /// Of `call`: CALLING, EARLY, CONNECTING, CONFIRMED, DISCONNECTED. Of `media`: active, local-hold, remote-hold, none.
        let state: String
        /// The SIP status of `call` and `registration`.
        let status: Int
        /// The status's words.
        let reason: String
        /// The digit of `dtmf`, and whether it came as `rtp` or `info`.
        let digit: String
        let method: String
        /// The other side's URI of `incoming`, and the whole INVITE.
        let remote: String
        let invite: String
        /// The codec of `media`.
        let codec: String
        /// Of `registration`.
        let isActive: Bool
    }

    /// What a call plays and keeps; nothing by default.
    struct Sound: Sendable {
        var toneHertz: Int?
        /// RMS of the tone in dB of full scale.
        var toneLevel = -15
        var play: URL?
        var loops = false
        var record: URL?
        /// Whether it sends back what it hears.
        var echoes = false

        static let none = Sound()
        static func tone(_ hertz: Int, level: Int = -15, record: URL? = nil) -> Sound {
            Sound(toneHertz: hertz, toneLevel: level, record: record)
        }
        static func file(_ url: URL, loops: Bool = false, record: URL? = nil) -> Sound {
            Sound(play: url, loops: loops, record: record)
        }

        fileprivate var words: [String: any Sendable] {
            var words: [String: any Sendable] = ["level": toneLevel, "loop": loops, "echo": echoes]
            words["tone"] = toneHertz
            words["play"] = play?.path
            words["record"] = record?.path
            return words
        }
    }

    /// Packets of a call's audio, by its own RTCP.
    struct Statistics: Decodable, Sendable {
        let sent: Int
        let received: Int
        let lost: Int
        let reordered: Int
        let duplicated: Int
        let jitterMicroseconds: Int
        let roundTripMicroseconds: Int
        let codec: String
    }

    let name: String
    let port: Int
    private let transport: String
    let events = Mailbox<Event>()
    let folder: ScratchFolder
    private let process: ChildProcess
    private let replies = Mailbox<Reply>()
    private let nextNumber = Atomic<Int>(1)

    /// How to reach it without a proxy.
    var uri: String { "sip:\(name)@127.0.0.1:\(port)\(transport == "tcp" ? ";transport=tcp" : "")" }

    private struct Reply: Sendable {
        let number: Int
        let line: String
    }

    /// Starts a telephone; `codecs` in order of preference, all others switched off.
    static func start(
        _ name: String, codecs: [String] = ["PCMU", "PCMA"], transport: String = "udp"
    ) async throws -> PJSUAPeer {
        let peer = try PJSUAPeer(name, codecs: codecs, transport: transport)
        guard await peer.events.first(within: .seconds(15), where: { $0.name == "ready" }) != nil else {
            await peer.process.terminate(grace: .zero)
            throw PeerFailure("the PJSIP telephone does not start. \(peer.transcript)")
        }
        return peer
    }

    private init(_ name: String, codecs: [String], transport: String) throws {
        self.name = name
        self.transport = transport
        port = try Loopback.freePort()
        folder = try ScratchFolder("pjsua-\(name)")
        var command = [
            try Fixtures.file("pjsua_peer.py").path, "--name", name, "--port", String(port),
            "--transport", transport, "--log", folder.file("log.txt").path,
        ]
        for codec in codecs { command += ["--codec", codec] }
        process = try ChildProcess.peer(
            Fixtures.python().path, command,
            pipes: [ChildPipe(3, .toChild), ChildPipe(4, .fromChild, delimiter: UInt8(ascii: "\n"))])
        let (answers, events, replies) = (process.messages(from: 4), events, replies)
        Task.detached {
            for await line in answers { Self.sort(String(decoding: line, as: UTF8.self), events, replies) }
            events.close()
            replies.close()
        }
    }

    /// What it wrote and what PJSIP logged last.
    var transcript: String {
        let log = (try? String(contentsOf: folder.file("log.txt"), encoding: .utf8)) ?? ""
        return process.transcript + "\n" + log.suffix(8000)
    }

    /// Ends it with all its calls.
    func stop() async {
        process.closeInput(3)
        if await process.end(within: .seconds(3)) == nil { await process.terminate(grace: .zero) }
    }

    // MARK: Commands

    /// Becomes an account of a registrar, and waits until that has said yes or no; the event tells which.
    func register(
        at registrar: String, as user: String, password: String, login: String? = nil, expires: Int = 300
    ) async throws -> Event {
        try await account([
            "uri": "sip:\(user)@\(registrar.dropFirst("sip:".count))", "registrar": registrar, "user": user,
            "login": login ?? user, "password": password, "proxies": ["\(registrar);lr"], "expires": expires,
        ])
        return try await event("registration", within: .seconds(10))
    }

    /// Sends calls through a proxy without registering.
    func callThrough(_ proxy: String) async throws {
        try await account(["user": name, "proxies": ["\(proxy);lr"]])
    }

    private func account(_ words: [String: any Sendable]) async throws { _ = try await ask("account", words) }

    func unregister() async throws { _ = try await ask("unregister") }

    /// Calls a SIP URI; the number of the call comes back at once, its fate as events.
    func call(_ uri: String, sound: Sound = .none, headers: [String: String] = [:]) async throws -> Int {
        let line = try await ask("call", sound.words.merging(["to": uri, "headers": headers]) { _, new in new })
        struct Answer: Decodable { let call: Int }
        return try JSONDecoder().decode(Answer.self, from: Data(line.utf8)).call
    }

    /// From now on answers every incoming call by itself with these statuses, one after another.
    func answersCalls(with statuses: [Int] = [200], sound: Sound = .none) async throws {
        _ = try await ask("on-incoming", ["way": sound.words.merging(["statuses": statuses]) { _, new in new }])
    }

    /// From now on lets incoming calls wait for `respond`.
    func waitsWithCalls() async throws { _ = try await ask("on-incoming") }

    /// Answers a call: 180, 183 (with early audio), 200, or a refusal.
    func respond(_ call: Int, _ status: Int, reason: String = "", sound: Sound = .none) async throws {
        _ = try await ask(
            "respond", sound.words.merging(["call": call, "status": status, "reason": reason]) { _, new in new })
    }

    /// Changes what a call plays, records or echoes.
    func sound(_ call: Int, _ sound: Sound) async throws {
        _ = try await ask("sound", sound.words.merging(["call": call]) { _, new in new })
    }

    func silence(_ call: Int) async throws { _ = try await ask("silence", ["call": call]) }
    func stopRecording(_ call: Int) async throws { _ = try await ask("stop-recording", ["call": call]) }
    func hold(_ call: Int) async throws { _ = try await ask("hold", ["call": call]) }
    func resume(_ call: Int) async throws { _ = try await ask("resume", ["call": call]) }

    /// Sends digits, as telephone events (`rtp`) or as SIP INFO (`info`), each this long.
    func dtmf(_ call: Int, _ digits: String, method: String = "rtp", milliseconds: Int = 120) async throws {
        _ = try await ask("dtmf", ["call": call, "digits": digits, "method": method, "duration": milliseconds])
    }

    /// Ends a call: CANCEL, BYE or a refusal with `status`, whichever its state asks for.
    func hangUp(_ call: Int, status: Int = 0) async throws {
        _ = try await ask("hang-up", ["call": call, "status": status])
    }

    func statistics(_ call: Int) async throws -> Statistics {
        try JSONDecoder().decode(Statistics.self, from: Data(try await ask("statistics", ["call": call]).utf8))
    }

    /// Sends any command of pjsua_peer.py and gives its answer, a JSON line.
    @discardableResult
    func ask(_ verb: String, _ words: [String: any Sendable] = [:]) async throws -> String {
        let number = nextNumber.add(1, ordering: .relaxed).oldValue
        let command = words.merging(["do": verb, "id": number]) { _, new in new }
        let line = [UInt8](try JSONSerialization.data(withJSONObject: command)) + [UInt8(ascii: "\n")]
        try process.write(line, to: 3)
        guard let reply = await replies.first(within: .seconds(10), where: { $0.number == number }) else {
            throw PeerFailure("the PJSIP telephone does not answer to \(verb). \(transcript)")
        }
        struct Trouble: Decodable { let error: String? }
        if let trouble = try JSONDecoder().decode(Trouble.self, from: Data(reply.line.utf8)).error {
            throw PeerFailure("the PJSIP telephone cannot \(verb): \(trouble)")
        }
        return reply.line
    }

    // MARK: Events

    /// The next event of a name, past or future, that nobody has taken yet.
    func event(
        _ name: String, within limit: Duration = .seconds(10),
        where wants: @escaping @Sendable (Event) -> Bool = { _ in true }
    ) async throws -> Event {
        if let event = await events.first(within: limit, where: { $0.name == name && wants($0) }) { return event }
        throw PeerFailure("no event \(name) from \(self.name); waiting: \(events.letters). \(transcript)")
    }

    /// Waits until a call is in a state, such as CONFIRMED or DISCONNECTED.
    @discardableResult
    func call(_ call: Int, becomes state: String, within limit: Duration = .seconds(10)) async throws -> Event {
        try await event("call", within: limit) { $0.call == call && $0.state == state }
    }

    /// Waits until a call's media is in a state, such as active or remote-hold.
    @discardableResult
    func media(of call: Int, becomes state: String, within limit: Duration = .seconds(10)) async throws -> Event {
        try await event("media", within: limit) { $0.call == call && $0.state == state }
    }

    /// Collects digits until there are as many as in `expected`, or time is up.
    func digits(of call: Int, count: Int, within limit: Duration = .seconds(10)) async -> String {
        var digits = ""
        let end = ContinuousClock.now + limit
        while digits.count < count, ContinuousClock.now < end {
            let rest = end - ContinuousClock.now
            let event = await events.first(within: rest) { $0.name == "dtmf" && $0.call == call }
            digits += event?.digit ?? ""
        }
        return digits
    }

    private static func sort(_ line: String, _ events: Mailbox<Event>, _ replies: Mailbox<Reply>) {
        struct Words: Decodable {
            let event, state, reason, digit, method, remote, invite, codec, error: String?
            let reply, call, status: Int?
            let active: Bool?
        }
        guard let words = try? JSONDecoder().decode(Words.self, from: Data(line.utf8)) else { return }
        if let number = words.reply { return replies.post(Reply(number: number, line: line)) }
        guard let name = words.event else { return }
        events.post(
            Event(
                name: name, call: words.call ?? -1, state: words.state ?? "", status: words.status ?? 0,
                reason: words.reason ?? "", digit: words.digit ?? "", method: words.method ?? "",
                remote: words.remote ?? "", invite: words.invite ?? "", codec: words.codec ?? "",
                isActive: words.active ?? false))
    }
}
