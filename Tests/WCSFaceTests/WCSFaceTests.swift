import CallModel
import GLibLoop
import GatewayTesting
import Switchboard
import SwitchboardTesting
import Testing
import WCSFace
import WCSProtocol
import WebServer

/// The lines of the protocol's checklist that need no real trunk.
@ControlActor @Suite struct WCSFaceTests {
    private static let account = WCSAccount(login: "7001", password: "secret", domain: "pbx.example.org")

    private func signedIn(_ gateway: ScriptedGateway, account: WCSAccount? = nil) async throws -> ScriptedClient {
        let client = try await gateway.client()
        client.send(.connection(ConnectionRequest(account: account)))
        #expect(try await client.nextNames(2) == ["getVersion", "getUserData"])
        return client
    }

    private func call(_ client: ScriptedClient, _ gateway: ScriptedGateway) async throws -> ScriptedTrunk.Leg {
        client.send(.call(CallRequest(callID: "c1", callee: "100", sdp: "v=0")))
        #expect(try await client.nextNames(2) == ["notifyTryingResponse", "setRemoteSDP"])
        return try #require(gateway.trunk.legs.last)
    }

    @Test func signingInAnswersInOrderAndRegisteredFollowsTheRegistrar() async throws {
        let gateway = try ScriptedGateway()
        let client = try await gateway.client()
        client.send(
            #"{"message":"connection","data":[{"appKey":"defaultApp","sipLogin":"7001","sipPassword":"secret","#
                + #""sipDomain":"pbx.example.org","sipPort":"5080","sipRegisterRequired":"true"}]}"#)
        #expect(try await client.next().name == "getVersion")
        let userData = try await client.nextText()
        #expect(!userData.contains("secret"))
        guard case .getUserData(let info) = try WCSServerMessage.parse(userData) else {
            Issue.record("\(userData)")
            return
        }
        #expect(info.sipLogin == "7001" && !info.authToken.isEmpty && info.sipPort == 5080)
        let account = try #require(gateway.trunk.accounts.first)
        #expect(account.authenticationName == "7001" && account.port == 5080 && account.outboundProxy == nil)
        gateway.trunk.registrationReport?(.registered)
        #expect(try await client.next().name == "registered")
        await gateway.stop()
    }

    @Test func aRefusedRegistrationIsToldByReasonAndClosed() async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway, account: Self.account)
        gateway.trunk.registrationReport?(.failed(status: 403, reason: "Forbidden"))
        guard case .fail(let failure) = try await client.next() else {
            Issue.record("no fail")
            return
        }
        #expect(failure.method == .registration && failure.info == FailureReason.authenticationFailed)
        #expect(await client.waitForClose().code == 1000)
        #expect(gateway.board.sessionCount == 0)
        #expect(gateway.trunk.registrations.first?.isGivenBack == true)
        await gateway.stop()
    }

    @Test func guestsAreNotToldOfARegistrationNobodyAskedFor() async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway)
        client.send(.ping)
        #expect(try await client.next() == .pong)
        #expect(gateway.trunk.accounts.isEmpty)
        await gateway.stop()
    }

    @Test func aCallIsToldFromTryingToFinish() async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway)
        let leg = try await call(client, gateway)
        leg.report?(.provisional(status: 180, description: nil))
        leg.report?(.answered(status: 200, description: "answer"))
        guard case .ring(let ring) = try await client.next(), case .talk(let talk) = try await client.next() else {
            Issue.record("no ring and talk")
            return
        }
        #expect(ring.status == .ring && ring.sipStatus == 180 && ring.callee == "100")
        #expect(talk.status == .established && talk.sipStatus == 200 && talk.callID == "c1")
        client.send(.hangup(callID: "c1"))
        guard case .finish(let finish) = try await client.next() else {
            Issue.record("no finish")
            return
        }
        #expect(finish.status == .finish)
        #expect(leg.actions == ["hangUp normal"])
        await gateway.stop()
    }

    @Test(arguments: [(486, HangupCause.busy, CallStatus.busy), (404, .notFound, .failed), (603, .declined, .failed)])
    func refusalsAreFinishesInTheRightWords(status: Int, cause: HangupCause, expected: CallStatus) async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway)
        let leg = try await call(client, gateway)
        leg.report?(.failed(status: status, cause: cause))
        guard case .finish(let finish) = try await client.next() else {
            Issue.record("no finish")
            return
        }
        #expect(finish.status == expected && finish.sipStatus == status && !finish.info.isEmpty)
        await gateway.stop()
    }

    @Test func anIncomingCallComesInTheOrderThatClientsNeedAndARejectReachesTheTrunk() async throws {
        let gateway = try ScriptedGateway()
        let client = try await gateway.client()
        client.send(.connection(ConnectionRequest()))
        _ = try await client.next()
        guard case .getUserData(let info) = try await client.next() else {
            Issue.record("no user data")
            return
        }
        let leg = ScriptedTrunk.Leg()
        let arrival = TrunkArrival(
            requestUser: info.sipLogin, calledUser: info.sipLogin, caller: "+15550100", displayName: "Anna", offer: "o")
        gateway.board.arrived(arrival, on: leg)
        guard case .setRemoteSDP(_, _, let isInitiator) = try await client.next(),
            case .notifyIncomingCall(let object) = try await client.next(), case .ring = try await client.next()
        else {
            Issue.record("wrong order")
            return
        }
        #expect(!isInitiator)
        #expect(object.incoming && object.caller == "+15550100" && object.visibleName == "Anna" && object.status == .ring)
        client.send(.hangup(callID: object.callID))
        guard case .finish(let finish) = try await client.next() else {
            Issue.record("no finish")
            return
        }
        #expect(finish.status == .finish)
        #expect(leg.actions == ["ring", "reject declined"])
        await gateway.stop()
    }

    @Test func holdAndUnholdAreToldWhenTheTrunkHasAgreed() async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway)
        let leg = try await call(client, gateway)
        leg.report?(.answered(status: 200, description: "answer"))
        #expect(try await client.next().name == "talk")
        client.send(.hold(callID: "c1", forTransfer: false))
        try await reached { leg.actions == ["reoffer hold"] }
        leg.report?(.reofferAnswered(description: "answer"))
        #expect(try await client.next().name == "hold")
        client.send(.unhold(callID: "c1"))
        try await reached { leg.actions.count == 2 }
        leg.report?(.reofferAnswered(description: "answer"))
        #expect(try await client.next().name == "talk")
        await gateway.stop()
    }

    @Test func keysTravelInThreeWaysAndSeveralAtOnce() async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway)
        let leg = try await call(client, gateway)
        leg.report?(.answered(status: 200, description: "answer"))
        #expect(try await client.next().name == "talk")
        client.send(.sendDtmf(DTMFRequest(callID: "c1", digits: "12#")))
        client.send(.sendDtmf(DTMFRequest(callID: "c1", method: .info, digits: "3")))
        client.send(#"{"message":"sendDtmf","data":[{"callId":"c1","type":"INFO_RELAY","dtmf":4}]}"#)
        try await reached { leg.actions.count == 2 }
        #expect(gateway.media.opened.last?.keys == "12#")
        #expect(leg.actions == ["info 3 info", "info 4 infoRelay"])
        await gateway.stop()
    }

    @Test func closingTheSocketEndsTheCalls() async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway, account: Self.account)
        let leg = try await call(client, gateway)
        client.close()
        try await reached { gateway.board.sessionCount == 0 }
        #expect(leg.actions == ["cancel"])
        #expect(gateway.trunk.registrations.first?.isGivenBack == true)
        #expect(gateway.face.connectionCount == 0)
        await gateway.stop()
    }

    @Test(arguments: [
        "not json", "{}", #"{"message":"call"}"#, #"{"message":"sendDtmf","data":[{"callId":"x","dtmf":"z"}]}"#, "[]",
        "\u{0}",
    ])
    func badMessagesAreAnsweredAndHarmNobody(text: String) async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway)
        client.send(text)
        guard case .fail(let failure) = try await client.next() else {
            Issue.record("no fail")
            return
        }
        #expect(failure.method == .error && !failure.info.isEmpty)
        _ = try await call(client, gateway)
        await gateway.stop()
    }

    @Test func whatIsNotServedIsRefusedPolitely() async throws {
        let gateway = try ScriptedGateway()
        let client = try await signedIn(gateway)
        client.send(#"{"message":"noSuchThing","data":[null]}"#)
        client.send(#"{"message":"publishStream","data":[{"mediaSessionId":"m","name":"n","sdp":"v=0"}]}"#)
        client.send(#"{"message":"sendData","data":[{"operationId":"o","payload":{"a":1}}]}"#)
        client.send(.hangup(callID: "unknown"))
        client.send(.call(CallRequest(callID: "c2", callee: "1;lr", sdp: "v=0")))
        #expect(
            try await client.nextNames(4) == ["notifyStreamStatusEvent", "DataStatusEvent", "finish", "finish"])
        await gateway.stop()
    }

    @Test func aClientWithoutAConnectionMessageIsClosed() async throws {
        let gateway = try ScriptedGateway(.init(connectionTimeout: .seconds(1)))
        let client = try await gateway.client()
        client.send(.hangup(callID: "c1"))
        #expect(try await client.next().name == "fail")
        #expect(await client.waitForClose().code == 1008)
        await gateway.stop()
    }

    @Test func aDeadClientIsFoundByItsMissingPongs() async throws {
        let gateway = try ScriptedGateway(.init(pingInterval: .milliseconds(300), missedPongs: 4))
        let dead = try await signedIn(gateway)
        dead.answersPings = false
        let alive = try await signedIn(gateway)
        #expect(await dead.waitForClose().code == 1001)
        #expect(alive.closure == nil)
        #expect(gateway.board.sessionCount == 1)
        await gateway.stop()
    }

    @Test func tooManyMessagesCloseThatSocketOnly() async throws {
        let gateway = try ScriptedGateway(.init(messagesPerSecond: 20))
        let other = try await signedIn(gateway)
        let loud = try await signedIn(gateway)
        for _ in 0..<100 { loud.send(.ping) }
        #expect(await loud.waitForClose().code == 1008)
        other.send(.ping)
        #expect(try await other.next() == .pong)
        await gateway.stop()
    }

    @Test(arguments: [
        #"{"message":"connection","data":[{"sipLogin":"a;lr","sipDomain":"x"}]}"#,
        #"{"message":"connection","data":[{"sipLogin":"a","sipDomain":"x\r\nEvil: 1"}]}"#,
        #"{"message":"connection","data":[{"sipLogin":"a","sipDomain":"x","sipOutboundProxy":"y;lr"}]}"#,
        #"{"message":"connection","data":[{"sipLogin":"a","sipDomain":"x","sipAuthenticationName":"a:b"}]}"#,
        #"{"message":"connection","data":[{"sipLogin":"a","sipDomain":"x","sipVisibleName":"a\r\nEvil: 1"}]}"#,
        #"{"message":"connection","data":[{"authToken":"unknown"}]}"#,
    ])
    func unusableSignInsAreRefusedAndClosed(text: String) async throws {
        let gateway = try ScriptedGateway()
        let client = try await gateway.client()
        client.send(text)
        guard case .fail(let failure) = try await client.next() else {
            Issue.record("no fail")
            return
        }
        #expect(failure.method == .connection)
        #expect(await client.waitForClose().code == 1000)
        #expect(gateway.board.sessionCount == 0)
        await gateway.stop()
    }

    /// Lets the loop turn until the condition holds.
    private func reached(_ condition: @ControlActor () -> Bool) async throws {
        #expect(await eventually { condition() })
    }
}
