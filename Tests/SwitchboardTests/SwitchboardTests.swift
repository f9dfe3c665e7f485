import CallModel
import GLibLoop
import Switchboard
import SwitchboardTesting
import Testing

@ControlActor @Suite struct SwitchboardTests {
    private let client = RecordingClient()
    private let trunk = ScriptedTrunk()
    private let media = ScriptedMedia()
    private let board: Switchboard
    private static let account = ClientAccount(user: "7001", domain: "pbx.example.org", registers: true)

    init() {
        board = Switchboard(
            settings: .init(sessions: 2, callsPerSession: 2), trunk: trunk, media: media)
    }

    private func id(_ text: String) throws -> CallID { try #require(CallID(rawValue: text)) }

    private func placedCall() throws -> (session: Session, media: ScriptedMedia.Media, leg: ScriptedTrunk.Leg) {
        let session = try board.signIn(account: nil, login: "anna", port: client)
        try board.call(try id("c1"), dialled: "100", displayName: nil, offer: "theirs", by: session)
        let media = try #require(self.media.opened.last)
        media.report?(.ready)
        return (session, media, try #require(trunk.legs.last))
    }

    @Test func aCallOutRunsFromTryingToTalkingAndLeavesNothing() throws {
        let (session, media, leg) = try placedCall()
        leg.report?(.provisional(status: 180, description: nil))
        leg.report?(.answered(status: 200, description: "answer"))
        #expect(client.notices == [.trying, .description, .ringing, .talking])
        #expect(media.applied == ["answer"])
        #expect(board.handle(.clientHungUp, for: try id("c1"), by: session))
        #expect(client.notices.last == .finished(.normal))
        #expect(leg.actions == ["hangUp normal"])
        #expect(media.isClosed)
        #expect(board.callCount == 0)
        #expect(leg.report == nil)
    }

    @Test func aCallInReachesItsSessionByContactAndIsAnswered() throws {
        let session = try board.signIn(account: Self.account, login: nil, port: client)
        let leg = ScriptedTrunk.Leg()
        let arrival = TrunkArrival(
            requestUser: session.contactUser, calledUser: "7001", caller: "+15550100", displayName: "", offer: "theirs")
        board.arrived(arrival, on: leg)
        let media = try #require(self.media.opened.last)
        media.report?(.ready)
        #expect(client.notices == [.incoming])
        #expect(client.descriptions == ["ours-for-client"])
        #expect(leg.actions == ["ring"])
        let call = try #require(client.calls.first)
        #expect(board.answer(call, description: "client-answer", by: session))
        #expect(leg.actions == ["ring", "answer answer-to-theirs"])
        leg.report?(.ended(status: 200, cause: .normal))
        #expect(client.notices == [.incoming, .talking, .finished(.normal)])
        #expect(leg.actions.count == 2)
    }

    /// H33: a call without an offer gets ours, and the answer of the ACK is applied.
    @Test func aCallInWithoutAnOfferIsAnsweredWithOurs() throws {
        let session = try board.signIn(account: nil, login: "anna", port: client)
        let leg = ScriptedTrunk.Leg()
        board.arrived(
            TrunkArrival(requestUser: "anna", calledUser: "anna", caller: "1", displayName: "", offer: nil), on: leg)
        let media = try #require(self.media.opened.last)
        media.report?(.ready)
        let call = try #require(client.calls.first)
        #expect(board.answer(call, description: "client-answer", by: session))
        #expect(leg.actions.last == "answer ours-for-trunk")
        leg.report?(.answered(status: 200, description: "bad"))
        #expect(leg.actions.last == "hangUp noCommonCodec")
        #expect(board.callCount == 0)
    }

    @Test func anAccountsNameDoesNotLeadTheTrunksCallsToIt() throws {
        _ = try board.signIn(account: Self.account, login: nil, port: client)
        let leg = ScriptedTrunk.Leg()
        board.arrived(
            TrunkArrival(requestUser: "7001", calledUser: "7001", caller: "1", displayName: "", offer: "o"), on: leg)
        #expect(leg.actions == ["reject notFound"])
        #expect(client.notices.isEmpty)
    }

    @Test func anAnswerWithoutACommonCodecEndsTheAnsweredDialog() throws {
        let (_, _, leg) = try placedCall()
        leg.report?(.answered(status: 200, description: "bad"))
        #expect(leg.actions == ["hangUp noCommonCodec"])
        #expect(client.notices.last == .finished(.noCommonCodec))
    }

    /// SET-9: it would be a call in which nobody hears anything.
    @Test func anAnswerWithoutADescriptionEndsTheAnsweredDialog() throws {
        let (_, _, leg) = try placedCall()
        leg.report?(.answered(status: 200, description: nil))
        #expect(leg.actions == ["hangUp noCommonCodec"])
        #expect(client.notices.last == .finished(.noCommonCodec))
        #expect(board.callCount == 0)
    }

    @Test func anEarlyDescriptionServesAnAnswerThatHasNone() throws {
        let (_, _, leg) = try placedCall()
        leg.report?(.provisional(status: 183, description: "early"))
        leg.report?(.answered(status: 200, description: nil))
        #expect(client.notices.last == .talking)
    }

    @Test func anUnusableEarlyDescriptionCostsOnlyTheEarlyAudio() throws {
        let (_, _, leg) = try placedCall()
        leg.report?(.provisional(status: 183, description: "bad"))
        #expect(client.notices.last == .ringing)
        leg.report?(.answered(status: 200, description: "good"))
        #expect(client.notices.last == .talking)
    }

    @Test func theTrunkHoldsAndResumes() throws {
        let (_, media, leg) = try placedCall()
        leg.report?(.answered(status: 200, description: "answer"))
        leg.report?(.reoffer(description: "sendonly"))
        #expect(leg.actions.last == "answerReoffer answer-to-sendonly")
        #expect(media.gates.last == AudioGate(toClient: true, toTrunk: false))
        leg.report?(.reoffer(description: "sendrecv"))
        #expect(media.gates.last == .open)
        leg.report?(.reoffer(description: "bad"))
        #expect(leg.actions.last == "refuseReoffer")
        #expect(board.callCount == 1)
    }

    @Test func keysGoAsEventsOrByInfoNeverBoth() throws {
        let (session, media, leg) = try placedCall()
        leg.report?(.answered(status: 200, description: "answer"))
        #expect(board.handle(.clientKeys("12", method: .telephoneEvent), for: try id("c1"), by: session))
        #expect(media.keys == "12")
        #expect(leg.actions.isEmpty)
        media.takesKeys = false
        #expect(board.handle(.clientKeys("34", method: .telephoneEvent), for: try id("c1"), by: session))
        #expect(leg.actions == ["info 3 infoRelay", "info 4 infoRelay"])
    }

    @Test func signingOutEndsCallsAndGivesTheBindingBack() throws {
        let session = try board.signIn(account: Self.account, login: nil, port: client)
        board.register(session)
        trunk.registrationReport?(.registered)
        #expect(client.registrations == [.registered])
        try board.call(try id("c1"), dialled: "100", displayName: nil, offer: "o", by: session)
        media.opened.last?.report?(.ready)
        board.signOut(session)
        #expect(trunk.legs.last?.actions == ["cancel"])
        #expect(trunk.registrations.last?.isGivenBack == true)
        #expect(media.opened.last?.isClosed == true)
        #expect(board.sessionCount == 0 && board.callCount == 0)
    }

    @Test func limitsAndBadNumbersAreRefusedBeforeAnythingIsOpened() throws {
        let session = try board.signIn(account: nil, login: "a", port: client)
        _ = try board.signIn(account: nil, login: "b", port: client)
        #expect(throws: Switchboard.Refusal.full) { try board.signIn(account: nil, login: "c", port: client) }
        #expect(throws: Switchboard.Refusal.call(.invalidNumber)) {
            try board.call(try id("x"), dialled: "1;x=y", displayName: nil, offer: "o", by: session)
        }
        try board.call(try id("1"), dialled: "1", displayName: nil, offer: "o", by: session)
        #expect(throws: Switchboard.Refusal.callIDTaken) {
            try board.call(try id("1"), dialled: "1", displayName: nil, offer: "o", by: session)
        }
        try board.call(try id("2"), dialled: "1", displayName: nil, offer: "o", by: session)
        #expect(throws: Switchboard.Refusal.call(.overload)) {
            try board.call(try id("3"), dialled: "1", displayName: nil, offer: "o", by: session)
        }
        #expect(media.opened.count == 2)
    }

    @Test func aStoppedGatewayEndsEverythingAndTakesNothingNew() throws {
        let (_, media, leg) = try placedCall()
        board.stop()
        #expect(leg.actions == ["cancel"])
        #expect(media.isClosed && client.saidGoodbye)
        #expect(throws: Switchboard.Refusal.full) { try board.signIn(account: nil, login: "z", port: client) }
        let late = ScriptedTrunk.Leg()
        board.arrived(
            TrunkArrival(requestUser: "anna", calledUser: "anna", caller: "1", displayName: "", offer: "o"), on: late)
        #expect(late.actions == ["reject shutdown"])
    }

    @Test func mediaThatCannotBeOpenedFailsTheCall() throws {
        media.refusal = .overload
        let session = try board.signIn(account: nil, login: "anna", port: client)
        try board.call(try id("c1"), dialled: "100", displayName: nil, offer: "o", by: session)
        #expect(client.notices == [.trying, .finished(.overload)])
        #expect(board.callCount == 0)
    }
}
