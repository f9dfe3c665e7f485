import Foundation
import GatewayTesting

/// The gateway's own page in Chromium, driven by what it offers to scripts (`window.trunkline`).
final class SoftPhonePage: Sendable {
    /// What the page knows of a call.
    struct Call: Decodable, Sendable {
        let status, party: String
        let sipStatus: Int
        let muted, held: Bool
        let seconds: Double
    }

    /// A snapshot of the page.
    struct State: Decodable, Sendable {
        struct Session: Decodable, Sendable { let sipLogin: String }
        struct Ended: Decodable, Sendable {
            let words: String
            let isBad: Bool
        }

        let connection, notice, ringing: String
        let session: Session?
        let call, incoming: Call?
        let ended: Ended?
    }

    let page: ChromiumPage

    private init(_ page: ChromiumPage) { self.page = page }

    /// Opens the page and signs in as a guest of the demo trunk.
    ///
    /// The microphone comes as it is: echo cancellation and noise suppression would bend what is to be judged.
    static func open(
        _ gateway: GatewayProcess, in browser: Chromium, wishes: ChromiumPage.Wishes = .init()
    ) async throws -> SoftPhonePage {
        let phone = SoftPhonePage(try await browser.open(gateway.page, wishes: wishes))
        try await phone.page.wait(until: "window.trunkline")
        for key in ["echoCancellation", "noiseSuppression", "autoGainControl"] {
            try await phone.page.run("trunkline.audioConstraints.\(key) = false")
        }
        try await phone.page.run("trunkline.connect(null)")
        try await phone.wait(for: "state.connection === 'on'")
        return phone
    }

    /// Waits until a JavaScript condition on `state` holds, and gives the page's state at that moment.
    @discardableResult
    func wait(for condition: String, within limit: Duration = .seconds(15)) async throws -> State {
        do {
            return try await page.run(
                "trunkline.waitFor((state) => \(condition), \(Int(limit.seconds * 1000)))", as: State.self,
                within: limit + .seconds(10))
        } catch { throw PeerFailure("\(error) \(page.console)") }
    }

    /// Calls a number without waiting.
    func dial(_ number: String) async throws { try await page.run("trunkline.call('\(number)')") }

    /// Calls a number and waits until it is answered and sound has a way.
    func call(_ number: String) async throws {
        try await dial(number)
        try await waitUntilTalking()
    }

    /// Waits until the page's call is answered and sound has a way.
    func waitUntilTalking() async throws {
        try await wait(
            for: "state.call?.status === 'ESTABLISHED' && state.call.media === 'connected' && state.call.hasSound")
    }

    /// Waits until the page shows how a call has ended, and nothing more of it.
    func waitForEnd(within limit: Duration = .seconds(15)) async throws -> State.Ended {
        let state = try await wait(for: "!state.call && state.ended", within: limit)
        guard let ended = state.ended else { throw PeerFailure("the page does not say how the call ended") }
        return ended
    }

    /// Presses what one of the page's functions stands for, such as `hangUp()`.
    func press(_ function: String) async throws { try await page.run("trunkline.\(function)") }

    /// What the call's far side sounds like for some seconds from now, by the page's own recorder: 16 kHz.
    func record(seconds: Double) async throws -> Ear {
        try await startRecording()
        try await page.clearEar()
        try await page.wait(until: "__ear.seconds() >= \(seconds)", within: .seconds(seconds + 20))
        return try await stopRecording()
    }

    func startRecording() async throws { try await page.run("trunkline.startRecording()") }

    func stopRecording() async throws -> Ear {
        let text = try await page.run("trunkline.stopRecording()", as: String.self)
        guard let data = Data(base64Encoded: text) else { throw PeerFailure("the page's recording is no base64") }
        return Ear(pcm: data, rate: 16000)
    }

    /// Errors that the page threw or wrote.
    var troubles: [String] { page.console.filter { $0.hasPrefix("thrown") || $0.hasPrefix("error") } }
}
