import Foundation

/// A client of the WCS protocol in Chromium, without the soft phone: Fixtures/wcs_client.html.
final class WCSPage: Sendable {
    let page: ChromiumPage

    private init(_ page: ChromiumPage) { self.page = page }

    static func open(in browser: Chromium, wishes: ChromiumPage.Wishes = .init()) async throws -> WCSPage {
        WCSPage(try await browser.open(try Fixtures.file("wcs_client.html").absoluteString, wishes: wishes))
    }

    /// Signs in, with `sipLogin` and the like in `options` for a SIP account, and waits for `getUserData`.
    func connect(to gateway: GatewayProcess, _ options: [String: any Sendable] = [:]) async throws {
        try await page.run("wcs.connect('ws://127.0.0.1:\(gateway.ports.web)/', \(json(options)))", within: .seconds(10))
    }

    /// The options of a SIP account for `connect`.
    static func account(
        _ user: String, password: String = "", host: String = "127.0.0.1", port: Int, registers: Bool
    ) -> [String: any Sendable] {
        [
            "sipLogin": user, "sipAuthenticationName": user, "sipPassword": password, "sipDomain": host,
            "sipOutboundProxy": host, "sipPort": String(port), "sipRegisterRequired": registers,
        ]
    }

    /// Waits until the gateway says that the account is registered.
    func waitForRegistration(within limit: Duration = .seconds(10)) async throws {
        try await page.wait(until: "wcs.registered", within: limit)
    }

    /// Calls a number; the call's identifier comes back at once.
    func call(_ number: String) async throws -> String {
        try await page.run("wcs.call(\(json(number)))", as: String.self)
    }

    /// Waits for the next incoming call's identifier.
    func incoming(within limit: Duration = .seconds(10)) async throws -> String {
        try await page.wait(until: "wcs.incoming.length > 0", within: limit)
        return try await page.run("wcs.incoming.shift()", as: String.self)
    }

    func answer(_ call: String) async throws { try await page.run("wcs.answer('\(call)')") }
    func hangUp(_ call: String) async throws { try await page.run("wcs.hangUp('\(call)')") }
    func hold(_ call: String) async throws { try await page.run("wcs.hold('\(call)')") }
    func unhold(_ call: String) async throws { try await page.run("wcs.unhold('\(call)')") }

    /// Sends digits as `RFC2833`, `INFO` or `INFO_RELAY`.
    func dtmf(_ call: String, _ digits: String, type: String = "RFC2833") async throws {
        try await page.run("wcs.dtmf('\(call)', \(json(digits)), '\(type)')")
    }

    /// Waits until a call has had a status, now or before.
    func call(_ call: String, becomes status: String, within limit: Duration = .seconds(10)) async throws {
        do {
            try await page.wait(until: "wcs.calls['\(call)'].history.includes('\(status)')", within: limit)
        } catch {
            let last = try await page.run("JSON.stringify(wcs.calls['\(call)'].object)", as: String.self)
            let history = try await history(of: call)
            throw PeerFailure("the call did not become \(status): \(history), last \(last). \(page.console)")
        }
    }

    /// Every status that a call has had, in order.
    func history(of call: String) async throws -> [String] {
        try await page.run("wcs.calls['\(call)'].history", as: [String].self)
    }

    /// The SIP status of a call's last event.
    func sipStatus(of call: String) async throws -> Int {
        try await page.run("wcs.calls['\(call)'].object.sipStatus ?? 0", as: Int.self)
    }

    /// Sends any text over the WebSocket.
    func send(raw text: String) async throws { try await page.run("wcs.socket.send(\(json(text)))") }

    /// The code with which the WebSocket was closed; nil while it is open.
    func closeCode() async throws -> Int? { try await page.run("wcs.closed ?? -1", as: Int.self).nonNegative }

    func disconnect() async throws { try await page.run("wcs.socket.close()") }

    private func json(_ value: any Sendable) -> String {
        let data = try? JSONSerialization.data(withJSONObject: [value])
        return data.map { String(decoding: $0.dropFirst().dropLast(), as: UTF8.self) } ?? "null"
    }
}

extension Int {
    fileprivate var nonNegative: Int? { self < 0 ? nil : self }
}
