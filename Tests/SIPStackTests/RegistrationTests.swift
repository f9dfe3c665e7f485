import GLibLoop
import SIPStack
import Synchronization
import Testing

@Suite("Registrations", .serialized)
struct RegistrationTests {
    @ControlActor func agent() throws -> UserAgent {
        try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: 0, timers: Bench.quick))
    }

    @ControlActor func account(_ user: String, _ peer: ScriptedPeer, password: String? = "secret:with+/=") -> SIPAccount {
        SIPAccount(
            addressOfRecord: SIPAddress(user: user, host: "example.test"),
            credentials: password.map { SIPCredentials(user: user, password: $0) },
            proxy: SIPAddress(user: "", host: "127.0.0.1", port: peer.port), expires: 600, contactUser: "c-" + user)
    }

    nonisolated static func accept(_ request: SIPText, expires: Int = 60) -> String {
        let own = (request.header("Contact") ?? "").split(separator: ";expires").first.map(String.init) ?? ""
        let isLeaving = request.header("Expires") == "0" || (request.header("Contact") ?? "").contains("expires=0")
        return request.response(
            "200 OK", tag: "r",
            isLeaving
                ? []
                : [
                    "Contact: <sip:other@192.0.2.1>;expires=3000", "Contact: \(own);expires=\(expires)", "Expires: 3600",
                ])
    }

    @Test("H40 register with digest, own Contact's lifetime, and unregister")
    @ControlActor func digest() async throws {
        let peer = ScriptedPeer { request in
            if request.header("Authorization") != nil { return [Self.accept(request)] }
            return [
                request.response(
                    "401 Unauthorized", tag: "r",
                    ["WWW-Authenticate: Digest realm=\"example.test\", nonce=\"n+/=1\", algorithm=MD5, qop=\"auth\""])
            ]
        }
        let agent = try agent()
        let events = Events<RegistrationEvent>()
        let registration = try agent.register(account("7001", peer), onEvent: { events.append($0) })
        #expect(await events.next { _ in true } == .registered(seconds: 60))
        #expect(registration.isRegistered)
        let request = try #require(await peer.received.next { $0.header("Authorization") != nil })
        #expect(request.requestURI == "sip:example.test")
        #expect(request.header("Contact")?.contains("c-7001@127.0.0.1:\(agent.port)") == true)
        #expect(request.header("Authorization")?.contains("nc=00000001") == true)
        registration.unregister()
        #expect(await events.next { _ in true } == .unregistered)
        #expect(agent.liveCount == 0)
        await agent.shutdown()
        peer.close()
    }

    @Test("H39 a registrar that refuses every answer is asked a few times only")
    @ControlActor func refused() async throws {
        let count = Mutex(0)
        let peer = ScriptedPeer { request in
            let number = count.withLock { value in
                value += 1
                return value
            }
            return [
                request.response(
                    "401 Unauthorized", tag: "r",
                    ["WWW-Authenticate: Digest realm=\"example.test\", nonce=\"fresh\(number)\", algorithm=MD5"])
            ]
        }
        let agent = try agent()
        let events = Events<RegistrationEvent>()
        _ = try agent.register(account("7002", peer), onEvent: { events.append($0) })
        guard case .failed(let status, _)? = await events.next({ _ in true }) else {
            Issue.record("no failure")
            return
        }
        #expect(status.code == 401)
        #expect(count.withLock { $0 } <= 5)
        #expect(agent.liveCount == 0)
        await agent.shutdown()
        peer.close()
    }

    @Test("without credentials a challenge is a failure; 423 is obeyed; 403 and silence fail")
    @ControlActor func failures() async throws {
        let peer = ScriptedPeer { request in
            let user = request.header("To") ?? ""
            if user.contains("none") {
                return [request.response("401 No", ["WWW-Authenticate: Digest realm=\"r\", nonce=\"n\""])]
            }
            if user.contains("brief") {
                let asked = request.header("Expires") ?? ""
                return [
                    asked == "600" ? request.response("423 Interval Too Brief", ["Min-Expires: 900"]) : Self.accept(request)
                ]
            }
            return user.contains("banned") ? [request.response("403 Forbidden", ["Retry-After: 30"])] : []
        }
        let agent = try agent()
        func outcome(_ user: String, password: String?) async throws -> RegistrationEvent? {
            let events = Events<RegistrationEvent>()
            _ = try agent.register(account(user, peer, password: password), onEvent: { events.append($0) })
            return await events.next { _ in true }
        }
        #expect(try await outcome("none", password: nil) == .failed(SIPStatus(code: 401, phrase: "No"), retryAfter: nil))
        #expect(try await outcome("brief", password: nil) == .registered(seconds: 60))
        #expect(
            try await outcome("banned", password: "x") == .failed(SIPStatus(code: 403, phrase: "Forbidden"), retryAfter: 30)
        )
        guard case .failed(let status, _)? = try await outcome("silent", password: nil) else {
            Issue.record("no failure")
            return
        }
        #expect(status.code == 408)
        await agent.shutdown()
        peer.close()
    }

    @Test("H39 H40 a binding is refreshed in time, also when the refresh is challenged anew")
    @ControlActor func refresh() async throws {
        let count = Mutex(0)
        let peer = ScriptedPeer { request in
            let number = count.withLock { value in
                value += 1
                return value
            }
            // Odd requests are challenged with a nonce never seen before.
            if number % 2 == 0 { return [Self.accept(request, expires: 3)] }
            return [
                request.response(
                    "401 Unauthorized", tag: "r",
                    ["WWW-Authenticate: Digest realm=\"example.test\", nonce=\"n\(number)\", algorithm=MD5, qop=\"auth\""])
            ]
        }
        let agent = try agent()
        let events = Events<RegistrationEvent>()
        let registration = try agent.register(account("7003", peer), onEvent: { events.append($0) })
        for _ in 0..<3 { #expect(await events.next { _ in true } == .registered(seconds: 3)) }
        #expect(Set(peer.received.all.compactMap { $0.header("Call-ID") }).count == 1)
        registration.unregister()
        #expect(await events.next { $0 == .unregistered } != nil)
        await agent.shutdown()
        peer.close()
    }

    @Test("many accounts register at once, each with its own Contact")
    @ControlActor func many() async throws {
        let peer = ScriptedPeer { [Self.accept($0, expires: 600)] }
        let agent = try agent()
        let events = Events<RegistrationEvent>()
        for number in 0..<20 {
            _ = try agent.register(account("user\(number)", peer), onEvent: { events.append($0) })
        }
        for _ in 0..<20 { #expect(await events.next { _ in true } == .registered(seconds: 600)) }
        let contacts = Set(peer.received.all.compactMap { $0.header("Contact")?.split(separator: "@").first })
        #expect(contacts.count == 20)
        #expect(agent.liveCount == 20)
        await agent.shutdown()
        #expect(agent.liveCount == 0)
        peer.close()
    }
}
