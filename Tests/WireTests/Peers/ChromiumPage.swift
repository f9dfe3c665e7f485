import Foundation
import GatewayTesting

/// A tab of Chromium: runs scripts in it, listens to its calls, takes its picture.
final class ChromiumPage: Sendable {
    /// What is put in place before the page's own scripts run.
    struct Wishes: Sendable {
        /// A tone in the microphone's place: whole hertz, RMS in dB of full scale.
        var tone: (hertz: Int, level: Int)?
        /// Switches off echo cancellation, noise suppression and gain control of the microphone.
        var rawMicrophone = false
        /// Whether the calls of the page are recorded.
        var hears = true
        /// The window, and whether it is a phone's.
        var size = (width: 1200, height: 800)
        var isPhone = false
    }

    /// What a page's calls heard and what it said, sample by sample on the same clock.
    struct Talk: Sendable {
        let heard: Ear
        let said: Ear
    }

    private let browser: Chromium
    private let target: String
    private let session: String

    init(browser: Chromium, target: String, session: String) {
        (self.browser, self.target, self.session) = (browser, target, session)
    }

    func prepare(_ wishes: Wishes) async throws {
        for domain in ["Page", "Runtime", "Log"] { _ = try await ask("\(domain).enable") }
        _ = try await ask("Page.setBypassCSP", ["enabled": true])
        _ = try await ask(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": wishes.size.width, "height": wishes.size.height, "deviceScaleFactor": wishes.isPhone ? 2 : 1,
                "mobile": wishes.isPhone,
            ])
        var words: [String: any Sendable] = ["raw": wishes.rawMicrophone, "unheard": !wishes.hears]
        if let tone = wishes.tone { words["tone"] = ["hertz": tone.hertz, "level": tone.level] }
        let json = String(decoding: try JSONSerialization.data(withJSONObject: words), as: UTF8.self)
        let script = try String(contentsOf: Fixtures.file("ear.js"), encoding: .utf8)
            .replacing("/* WISHES */ {}", with: json)
        _ = try await ask("Page.addScriptToEvaluateOnNewDocument", ["source": script])
    }

    /// Goes to an address and waits until it has loaded.
    func navigate(to address: String) async throws {
        struct Answer: Decodable { let errorText: String? }
        let answer = try await browser.ask("Page.navigate", ["url": address], page: session, as: Answer.self)
        if let trouble = answer.errorText { throw PeerFailure("Chromium cannot open \(address): \(trouble)") }
        _ = try await browser.event("Page.loadEventFired", page: session, within: .seconds(20))
    }

    private func ask(_ method: String, _ parameters: [String: any Sendable] = [:]) async throws -> Data {
        try await browser.ask(method, parameters, page: session)
    }

    // MARK: Scripts

    /// Runs an expression as if a person had just clicked, waits for its promise, and gives its value as JSON.
    @discardableResult
    func run<Value: Decodable>(
        _ expression: String, as value: Value.Type, within limit: Duration = .seconds(30)
    ) async throws -> Value {
        let data = try await evaluate(expression, within: limit)
        do {
            return try JSONDecoder().decode(Chromium.Answer<Evaluation<Value>>.self, from: data).result.result.value
        } catch {
            throw PeerFailure("\(expression) gave no \(Value.self): \(String(decoding: data.prefix(2000), as: UTF8.self))")
        }
    }

    private struct Evaluation<Value: Decodable>: Decodable {
        struct Object: Decodable { let value: Value }
        let result: Object
    }

    /// Runs an expression for what it does.
    func run(_ expression: String, within limit: Duration = .seconds(30)) async throws {
        _ = try await evaluate(expression, within: limit)
    }

    /// Waits until an expression is true.
    func wait(until expression: String, within limit: Duration = .seconds(10)) async throws {
        let isSo = try await eventually(timeout: limit, every: .milliseconds(50)) {
            try await run("Boolean(\(expression))", as: Bool.self)
        }
        if !isSo { throw PeerFailure("it never became true in the page: \(expression). Console: \(console)") }
    }

    private func evaluate(_ expression: String, within limit: Duration) async throws -> Data {
        let data = try await browser.ask(
            "Runtime.evaluate",
            ["expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true], page: session,
            within: limit)
        struct Answer: Decodable {
            struct Result: Decodable {
                struct Details: Decodable {
                    struct Thrown: Decodable { let description: String? }
                    let text: String
                    let exception: Thrown?
                }
                let exceptionDetails: Details?
            }
            let result: Result
        }
        if let thrown = try JSONDecoder().decode(Answer.self, from: data).result.exceptionDetails {
            throw PeerFailure("the page threw \(thrown.exception?.description ?? thrown.text) at \(expression)")
        }
        return data
    }

    /// Types into the element that a CSS selector finds.
    func type(_ text: String, into selector: String) async throws {
        try await run("document.querySelector(\(quoted(selector))).focus()")
        _ = try await ask("Input.insertText", ["text": text])
    }

    /// Clicks the element that a CSS selector finds, with the mouse, where it is.
    func click(_ selector: String) async throws {
        struct Place: Decodable { let x, y: Double }
        let place = try await run(
            """
            (() => {
                const element = document.querySelector(\(quoted(selector)));
                element.scrollIntoView({ block: "center" });
                const box = element.getBoundingClientRect();
                return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
            })()
            """, as: Place.self)
        for kind in ["mousePressed", "mouseReleased"] {
            _ = try await ask(
                "Input.dispatchMouseEvent", ["type": kind, "x": place.x, "y": place.y, "button": "left", "clickCount": 1])
        }
    }

    private func quoted(_ text: String) -> String {
        let data = (try? JSONSerialization.data(withJSONObject: [text])) ?? Data("[\"\"]".utf8)
        return String(decoding: data.dropFirst().dropLast(), as: UTF8.self)
    }

    /// What the page wrote to its console and what it threw, oldest first.
    var console: [String] {
        struct Written: Decodable {
            struct Parameters: Decodable {
                struct Argument: Decodable {
                    let description: String?
                    let value: Scalar?
                }
                struct Details: Decodable {
                    let text: String
                    let exception: Argument?
                }
                let type: String?
                let args: [Argument]?
                let exceptionDetails: Details?
            }
            let params: Parameters
        }
        let events = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown"].flatMap {
            browser.events($0, page: session)
        }
        return events.compactMap { try? JSONDecoder().decode(Written.self, from: $0).params }.map { written in
            if let details = written.exceptionDetails { return "thrown: \(details.exception?.description ?? details.text)" }
            let words = (written.args ?? []).map { $0.value?.text ?? $0.description ?? "?" }
            return "\(written.type ?? "log"): " + words.joined(separator: " ")
        }
    }

    private enum Scalar: Decodable {
        case known(String)
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .known(text)
            } else if let number = try? container.decode(Double.self) {
                self = .known(String(number))
            } else if let truth = try? container.decode(Bool.self) {
                self = .known(String(truth))
            } else {
                self = .other
            }
        }

        var text: String? { if case .known(let text) = self { text } else { nil } }
    }

    // MARK: Ear and eye

    /// Forgets what was heard so far.
    func clearEar() async throws { try await run("__ear.clear()") }

    /// Waits until this much has been heard since the last clearing (or since the first call), then gives it.
    func listen(seconds: Double) async throws -> Talk {
        try await wait(until: "__ear.seconds() >= \(seconds)", within: .seconds(seconds + 15))
        return try await talk()
    }

    /// What was heard and said since the last clearing.
    func talk() async throws -> Talk {
        struct Taken: Decodable {
            let rate: Int
            let heard, said: String
        }
        let taken = try await run("__ear.take()", as: Taken.self)
        guard let heard = Data(base64Encoded: taken.heard), let said = Data(base64Encoded: taken.said) else {
            throw PeerFailure("the page's recording is no base64")
        }
        return Talk(heard: Ear(pcm: heard, rate: taken.rate), said: Ear(pcm: said, rate: taken.rate))
    }

    /// Writes a picture of the page, PNG.
    func screenshot(to file: URL) async throws {
        struct Picture: Decodable { let data: Data }
        let picture = try await browser.ask(
            "Page.captureScreenshot", ["format": "png"], page: session, as: Picture.self)
        try picture.data.write(to: file)
    }

    /// Closes the tab: to the gateway the client is gone without a word.
    func close() async throws { _ = try await browser.ask("Target.closeTarget", ["targetId": target]) }
}
