import Foundation
import GatewayTesting
import Synchronization

/// Headless Chromium as a client of the gateway, driven over its DevTools pipe (`--remote-debugging-pipe`).
///
/// Its microphone is a file or a tone, permissions are given without asking, and the loopback interface counts as a network
/// (without that Chromium offers no 127.0.0.1 candidate).
final class Chromium: Sendable {
    private let process: ChildProcess
    private let folder: ScratchFolder
    private let messages = Mailbox<Message>()
    private let nextNumber = Atomic<Int>(1)

    /// One message of the DevTools protocol: an answer with a number, or an event with a method.
    struct Message: Sendable {
        let number: Int?
        let method: String?
        let page: String?
        let data: Data
    }

    /// What a command gives back.
    struct Answer<Result: Decodable>: Decodable { let result: Result }

    /// - Parameters:
    ///   - microphone: a WAV file that every microphone of this browser plays; without one it beeps.
    ///   - loops: whether the file begins anew at its end.
    ///   - hidesAddresses: whether it offers `.local` names in place of its addresses, as it does to pages that were not
    ///     given the microphone.
    static func start(microphone: URL? = nil, loops: Bool = true, hidesAddresses: Bool = false) async throws -> Chromium {
        let browser = try Chromium(microphone, loops, hidesAddresses)
        _ = try await browser.ask("Browser.getVersion", within: .seconds(30))
        return browser
    }

    private init(_ microphone: URL?, _ loops: Bool, _ hidesAddresses: Bool) throws {
        folder = try ScratchFolder("chromium")
        var command = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
            "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
            "--disable-backgrounding-occluded-windows", "--remote-debugging-pipe", "--user-data-dir=\(folder.url.path)",
            "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--allow-loopback-in-peer-connection",
            "--autoplay-policy=no-user-gesture-required",
        ]
        if let microphone {
            command.append("--use-file-for-fake-audio-capture=\(microphone.path)\(loops ? "" : "%noloop")")
        }
        if !hidesAddresses { command.append("--disable-features=WebRtcHideLocalIpsWithMdns") }
        command.append("about:blank")
        process = try ChildProcess.peer("chromium", command, pipes: [ChildPipe(3, .toChild), ChildPipe(4, .fromChild)])
        listen()
    }

    /// Opens a page in a tab of its own and waits until it has loaded.
    func open(_ address: String, wishes: ChromiumPage.Wishes = .init()) async throws -> ChromiumPage {
        struct Target: Decodable { let targetId: String }
        struct Session: Decodable { let sessionId: String }
        let target = try await ask("Target.createTarget", ["url": "about:blank"], as: Target.self).targetId
        let session = try await ask("Target.attachToTarget", ["targetId": target, "flatten": true], as: Session.self)
        let page = ChromiumPage(browser: self, target: target, session: session.sessionId)
        try await page.prepare(wishes)
        try await page.navigate(to: address)
        return page
    }

    /// Ends the browser with all its processes.
    func stop() async {
        _ = try? await ask("Browser.close", within: .seconds(2))
        if await process.end(within: .seconds(3)) == nil { await process.terminate() }
    }

    /// What the browser itself wrote.
    var transcript: String { process.transcript }

    // MARK: The pipe

    /// Sends a command and gives the whole answer.
    func ask(
        _ method: String, _ parameters: [String: any Sendable] = [:], page: String? = nil,
        within limit: Duration = .seconds(20)
    ) async throws -> Data {
        let number = nextNumber.add(1, ordering: .relaxed).oldValue
        var command: [String: any Sendable] = ["id": number, "method": method, "params": parameters]
        command["sessionId"] = page
        try process.write([UInt8](try JSONSerialization.data(withJSONObject: command)) + [0], to: 3)
        guard let message = await messages.first(within: limit, where: { $0.number == number }) else {
            throw PeerFailure("Chromium does not answer to \(method). \(transcript)")
        }
        struct Trouble: Decodable {
            struct Error: Decodable { let message: String }
            let error: Error?
        }
        if let error = try JSONDecoder().decode(Trouble.self, from: message.data).error {
            throw PeerFailure("Chromium refuses \(method): \(error.message)")
        }
        return message.data
    }

    /// Sends a command and decodes its result.
    func ask<Result: Decodable>(
        _ method: String, _ parameters: [String: any Sendable] = [:], page: String? = nil, as result: Result.Type,
        within limit: Duration = .seconds(20)
    ) async throws -> Result {
        let data = try await ask(method, parameters, page: page, within: limit)
        return try JSONDecoder().decode(Answer<Result>.self, from: data).result
    }

    /// Waits for an event of a page.
    func event(_ method: String, page: String, within limit: Duration) async throws -> Data {
        guard let message = await messages.first(within: limit, where: { $0.method == method && $0.page == page }) else {
            throw PeerFailure("Chromium has not told \(method). \(transcript)")
        }
        return message.data
    }

    /// Events of a page that nobody waited for, oldest first.
    func events(_ method: String, page: String) -> [Data] {
        messages.letters.filter { $0.method == method && $0.page == page }.map(\.data)
    }

    private func listen() {
        let (messages, answers) = (messages, process.messages(from: 4))
        Task.detached {
            for await answer in answers { Self.sort(Data(answer), into: messages) }
            messages.close()
        }
    }

    private static func sort(_ data: Data, into messages: Mailbox<Message>) {
        struct Envelope: Decodable {
            let id: Int?
            let method, sessionId: String?
        }
        guard let envelope = try? JSONDecoder().decode(Envelope.self, from: data) else { return }
        messages.post(Message(number: envelope.id, method: envelope.method, page: envelope.sessionId, data: data))
    }
}
