import CallModel
import Testing

@Suite struct CallMachineTests {
    private func answeredCall(_ direction: CallDirection) -> CallMachine {
        var call = CallMachine(direction: direction)
        _ = call.begin()
        _ = call.handle(.mediaReady)
        _ = call.handle(direction == .outgoing ? .trunkAnswered : .clientAnswered)
        return call
    }

    @Test func anOutgoingCallTellsTheClientAtOnceAndWarmsUpItsPath() {
        var call = CallMachine(direction: .outgoing)
        #expect(call.begin() == [.tellClient(.trying), .openMedia])
        #expect(call.handle(.mediaReady) == [.tellClient(.description), .invite, .arm(.answer)])
        #expect(call.handle(.trunkRinging) == [.tellClient(.ringing)])
        #expect(call.handle(.trunkRinging) == [])
        #expect(
            call.handle(.trunkAnswered) == [.disarm(.answer), .setAudio(.open), .tellClient(.talking), .arm(.duration)])
        #expect(call.state == .established)
    }

    @Test func earlyMediaRingsFirstForClientsThatKnowOnlyRinging() {
        var call = CallMachine(direction: .outgoing)
        _ = call.begin()
        _ = call.handle(.mediaReady)
        let early = AudioGate(toClient: true, toTrunk: false)
        #expect(
            call.handle(.trunkEarlyMedia) == [.tellClient(.ringing), .setAudio(early), .tellClient(.earlyMedia)])
        #expect(call.handle(.trunkEarlyMedia) == [.setAudio(early)])
        #expect(call.handle(.clientKeys("1", method: .telephoneEvent)) == [.sendKeys("1", method: .telephoneEvent)])
    }

    @Test func anIncomingCallRingsBothSidesAndAnswersTheTrunkBeforeTheClientHears() {
        var call = CallMachine(direction: .incoming)
        #expect(call.begin() == [.openMedia])
        #expect(call.handle(.mediaReady) == [.tellClient(.incoming), .ringTrunk, .arm(.answer)])
        #expect(call.handle(.clientAnswered).prefix(1) == [.answerTrunk])
        #expect(call.state == .established)
    }

    @Test func hangingUpBeforeTheAnswerCancelsAndAfterItEndsTheDialog() {
        var call = CallMachine(direction: .outgoing)
        _ = call.begin()
        _ = call.handle(.mediaReady)
        let effects = call.handle(.clientHungUp)
        #expect(effects.contains(.cancelTrunk(.cancelled)))
        #expect(effects.suffix(2) == [.tellClient(.finished(.cancelled)), .release])

        var answered = answeredCall(.outgoing)
        #expect(answered.handle(.clientHungUp).contains(.hangUpTrunk(.normal)))
    }

    @Test func aRejectedIncomingCallRefusesTheTrunk() {
        var call = CallMachine(direction: .incoming)
        _ = call.begin()
        _ = call.handle(.mediaReady)
        #expect(call.handle(.clientHungUp).contains(.rejectTrunk(.declined)))
    }

    @Test func aCallWhoseMediaNeverOpenedIsNotAnnouncedToAClientThatDoesNotKnowIt() {
        var call = CallMachine(direction: .incoming)
        _ = call.begin()
        let effects = call.handle(.mediaFailed(.overload))
        #expect(effects.contains(.rejectTrunk(.overload)))
        #expect(!effects.contains { if case .tellClient = $0 { true } else { false } })
        #expect(effects.last == .release)
    }

    @Test func holdIsToldWhenTheTrunkHasAgreedAndARefusedOneLeavesTheCallAsItWas() {
        var call = answeredCall(.outgoing)
        #expect(call.handle(.clientHeld) == [.reofferTrunk(hold: true)])
        #expect(call.handle(.trunkReofferAccepted) == [.setAudio(.closed), .tellClient(.held)])
        #expect(call.state == .held(byClient: true, byTrunk: false))
        #expect(call.handle(.clientResumed) == [.reofferTrunk(hold: false)])
        #expect(call.handle(.trunkReofferRefused).contains(.tellClient(.held)))
        #expect(call.state == .held(byClient: true, byTrunk: false))
    }

    @Test func aHoldWishThatChangesDuringAReofferIsCarriedOutAfterIt() {
        var call = answeredCall(.outgoing)
        _ = call.handle(.clientHeld)
        #expect(call.handle(.clientResumed) == [])
        #expect(call.handle(.trunkReofferAccepted).last == .reofferTrunk(hold: false))
    }

    /// HLD-4: one side resumes at a time and the other's hold stays.
    @Test(arguments: [(false, false), (true, false), (false, true), (true, true)])
    func heldByBothSides(byClient: Bool, byTrunk: Bool) {
        var call = answeredCall(.incoming)
        _ = call.handle(.clientHeld)
        _ = call.handle(.trunkReofferAccepted)
        _ = call.handle(.trunkReoffered(holds: true))
        if !byTrunk { _ = call.handle(.trunkReoffered(holds: false)) }
        if !byClient {
            _ = call.handle(.clientResumed)
            _ = call.handle(.trunkReofferAccepted)
        }
        #expect(call.state == (byClient || byTrunk ? .held(byClient: byClient, byTrunk: byTrunk) : .established))
    }

    static let crossing: [CallEvent] = [
        .clientAnswered, .clientHungUp, .trunkAnswered, .trunkEnded(.normal), .trunkFailed(.busy),
        .mediaFailed(.iceFailure),
        .timeout(.answer), .clientLost, .mediaReady, .shutdown,
    ]

    /// H51: whatever two events cross, in either order, at any stage, the call ends once for everybody.
    @Test(arguments: [CallDirection.outgoing, .incoming], 0..<3)
    func crossingEventsEndTheCallOnce(direction: CallDirection, stage: Int) {
        for first in Self.crossing {
            for second in Self.crossing {
                var call = CallMachine(direction: direction)
                var effects = call.begin()
                if stage > 0 { effects += call.handle(.mediaReady) }
                if stage > 1 { effects += call.handle(direction == .outgoing ? .trunkAnswered : .clientAnswered) }
                effects += call.handle(first) + call.handle(second)
                let ended = call.isEnded
                effects += call.handle(.clientHungUp) + call.handle(.shutdown)
                #expect(call.isEnded)
                #expect(effects.filter { $0 == .release }.count == 1, "\(first) then \(second), ended \(ended)")
                #expect(effects.last == .release)
                #expect(effects.filter(isFinish).count <= 1)
                #expect(effects.filter(isTrunkEnd).count <= 1)
                #expect(isBalanced(effects, direction), "\(direction) \(stage): \(first) then \(second)")
            }
        }
    }

    private func isFinish(_ effect: CallEffect) -> Bool {
        if case .tellClient(.finished) = effect { true } else { false }
    }

    private func isTrunkEnd(_ effect: CallEffect) -> Bool {
        switch effect {
        case .cancelTrunk, .hangUpTrunk, .rejectTrunk: true
        default: false
        }
    }

    /// A client that was told of the call is told of its end.
    private func isBalanced(_ effects: [CallEffect], _ direction: CallDirection) -> Bool {
        let knew = effects.contains(.tellClient(direction == .outgoing ? .trying : .incoming))
        return effects.contains(where: isFinish) == knew
    }
}
