import CallModel
import GLibLoop
import GatewayTesting
import SIPStack
import Switchboard
import SwitchboardTesting
import Testing
import TrunkFace

/// The face before a real user agent, against a second one on loopback.
@ControlActor @Suite(.serialized) struct TrunkFaceTests {
    /// A peer and a face whose own trunk it is.
    @ControlActor fileprivate final class Bench {
        let peer: UserAgent
        let agent: UserAgent
        let face: TrunkFace
        var arrived: [Dialog] = []
        var events: [TrunkEvent] = []

        init(
            inviteParameters: TrunkFace.Settings.InviteParameters = .uriParameters, rejectStatus: Int = 486
        ) throws {
            peer = try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: 0))
            agent = try UserAgent(configuration: SIPConfiguration(address: "127.0.0.1", port: 0))
            face = TrunkFace(
                agent: agent,
                settings: .init(
                    ownTrunk: .init(host: "127.0.0.1", port: peer.port), inviteParameters: inviteParameters,
                    rejectStatus: rejectStatus))
            peer.onIncomingCall = { [weak self] dialog in self?.arrived.append(dialog) }
        }

        func call(
            _ dialled: String, account: ClientAccount? = nil, parameters: [(name: String, value: String)] = []
        ) throws -> any TrunkLeg {
            let target = try #require(DialledTarget(dialled))
            let invitation = TrunkInvitation(
                account: account, caller: "anna", target: target, displayName: "Anna", parameters: parameters)
            let leg = try face.invite(invitation, offer: Bench.sdp, contactUser: "anna-1")
            leg.report = { [weak self] event in self?.events.append(event) }
            return leg
        }

        func arrival() async throws -> Dialog {
            try await reached { !arrived.isEmpty }
            return try #require(arrived.last)
        }

        func stop() async {
            await agent.shutdown()
            await peer.shutdown()
        }

        static let sdp =
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"
    }

    @Test func aGuestsCallGoesToTheOwnTrunkUnderItsName() async throws {
        let bench = try Bench()
        _ = try bench.call("+1 555 0100")
        let invitation = try #require(try await bench.arrival().invitation)
        #expect(invitation.requestURI?.user == "+15550100")
        #expect(invitation.from.user == "anna" && invitation.from.displayName == "Anna")
        #expect(invitation.contact?.user == "anna-1" && invitation.contact?.port == bench.agent.port)
        #expect(invitation.sdp == Bench.sdp)
        await bench.stop()
    }

    @Test func aGuestCannotChooseWhereItsCallIsSent() async throws {
        let bench = try Bench()
        _ = try bench.call("100@192.0.2.66:5999")
        #expect(try await bench.arrival().invitation?.requestURI?.host == "127.0.0.1")
        await bench.stop()
    }

    @Test func anAccountsCallGoesByWayOfItsServerEvenToAForeignDomain() async throws {
        let bench = try Bench()
        let account = ClientAccount(
            user: "7001", domain: "pbx.example.org", outboundProxy: "127.0.0.1:\(bench.peer.port)", registers: false)
        _ = try bench.call("7002@elsewhere.example.net", account: account)
        let invitation = try #require(try await bench.arrival().invitation)
        #expect(invitation.requestURI?.host == "elsewhere.example.net")
        #expect(invitation.from.uri == "sip:7001@pbx.example.org")
        await bench.stop()
    }

    @Test func invitationParametersBecomeURIParametersAndSteerNothing() async throws {
        let bench = try Bench()
        _ = try bench.call(
            "100", parameters: [("param1", "value1"), ("maddr", "192.0.2.6"), ("x y", "1"), ("p2", "a;lr")])
        #expect(try await bench.arrival().invitation?.requestURI?.parameters == "param1=value1")
        await bench.stop()
    }

    @Test func invitationParametersAsHeadersAreXHeadersOnly() async throws {
        let bench = try Bench(inviteParameters: .headers)
        _ = try bench.call("100", parameters: [("X-Ticket", "42"), ("Route", "<sip:evil>"), ("From", "x")])
        let invitation = try #require(try await bench.arrival().invitation)
        #expect(invitation.headers.contains(SIPHeader("X-Ticket", "42")))
        #expect(invitation.from.user == "anna")
        await bench.stop()
    }

    @Test func aCallIsToldFromRingingToItsEnd() async throws {
        let bench = try Bench()
        let leg = try bench.call("100")
        let dialog = try await bench.arrival()
        dialog.ring()
        try dialog.answer(sdp: Bench.sdp)
        try await reached { bench.names.contains("answered") }
        #expect(bench.names == ["provisional 180", "answered"])
        dialog.hangUp()
        try await reached { bench.names.last == "ended normal" }
        leg.hangUp(.normal)
        await bench.stop()
    }

    @Test func aRefusalBringsItsStatusAndCause() async throws {
        let bench = try Bench()
        _ = try bench.call("100")
        try await bench.arrival().reject(486, "Busy Here")
        try await reached { !bench.events.isEmpty }
        #expect(bench.names == ["failed 486 busy"])
        await bench.stop()
    }

    @Test func ourOwnHangUpIsNotReportedBack() async throws {
        let bench = try Bench()
        let leg = try bench.call("100")
        let dialog = try await bench.arrival()
        var peerEnd: DialogEnd?
        dialog.onEvent = { event in if case .ended(let end) = event { peerEnd = end } }
        try dialog.answer(sdp: Bench.sdp)
        try await reached { bench.names.contains("answered") }
        leg.hangUp(.mediaTimeout)
        try await reached { peerEnd != nil }
        guard case .hungUpByPeer(let reason) = peerEnd else {
            Issue.record("\(String(describing: peerEnd))")
            return
        }
        #expect(reason?.cause == 41)
        #expect(!bench.names.contains { $0.hasPrefix("ended") })
        await bench.stop()
    }

    @Test(arguments: [486, 603])
    func aClientsNoReachesTheCallerAsConfigured(status: Int) async throws {
        let bench = try Bench(rejectStatus: status)
        let client = RejectingClient()
        let media = ScriptedMedia()
        media.isReadySoon = true
        let board = Switchboard(settings: .init(), trunk: bench.face, media: media)
        client.board = board
        client.session = try board.signIn(account: nil, login: "anna", port: client)
        bench.face.bringCalls(to: board)
        var end: DialogEnd?
        let target = SIPAddress(user: "anna", host: "127.0.0.1", port: bench.agent.port)
        let from = SIPAddress(user: "15550100", host: "127.0.0.1")
        _ = try bench.peer.invite(OutgoingCall(target: target, from: from, sdp: Bench.sdp)) { event in
            if case .ended(let how) = event { end = how }
        }
        try await reached { end != nil }
        guard case .refused(let found, _, _) = end else {
            Issue.record("\(String(describing: end))")
            return
        }
        #expect(found.code == status)
        #expect(client.callers == ["15550100"])
        await bench.stop()
    }
}

extension TrunkFaceTests.Bench {
    /// The events, shortened.
    fileprivate var names: [String] {
        events.map { event in
            switch event {
            case .provisional(let status, _): "provisional \(status)"
            case .answered: "answered"
            case .failed(let status, let cause): "failed \(status) \(cause)"
            case .ended(_, let cause): "ended \(cause)"
            default: "\(event)"
            }
        }
    }
}

/// Rejects every call as soon as it hears of it.
@ControlActor private final class RejectingClient: ClientPort {
    var board: Switchboard?
    var session: Session?
    var callers: [String] = []

    func tell(_ notice: ClientNotice, of call: CallSnapshot, description: String?) {
        guard notice == .incoming, let board, let session else { return }
        callers.append(call.caller)
        _ = board.handle(.clientHungUp, for: call.id, by: session)
    }

    func registrationChanged(to state: RegistrationState) {}
    func gatewayStops() {}
}

/// Lets the loop turn until the condition holds.
@ControlActor private func reached(_ condition: @ControlActor () -> Bool) async throws {
    #expect(await eventually { condition() })
}
