import CallModel
import GLibLoop
import Switchboard

/// Writes down what a client is told.
@ControlActor final class RecordingClient: ClientPort {
    var notices: [ClientNotice] = []
    var descriptions: [String] = []
    var calls: [CallID] = []
    var registrations: [RegistrationState] = []
    var saidGoodbye = false

    func tell(_ notice: ClientNotice, of call: CallSnapshot, description: String?) {
        notices.append(notice)
        calls.append(call.id)
        if let description { descriptions.append(description) }
    }

    func registrationChanged(to state: RegistrationState) { registrations.append(state) }

    func gatewayStops() { saidGoodbye = true }
}

/// A trunk that does nothing by itself and writes down what is asked of it.
@ControlActor final class ScriptedTrunk: TrunkPort {
    final class Leg: TrunkLeg {
        var report: (@ControlActor (TrunkEvent) -> Void)?
        var actions: [String] = []

        func ring() { actions.append("ring") }
        func answer(description: String) { actions.append("answer \(description)") }
        func reject(_ cause: HangupCause) { actions.append("reject \(cause)") }
        func cancel(_ cause: HangupCause) { actions.append("cancel") }
        func hangUp(_ cause: HangupCause) { actions.append("hangUp \(cause)") }
        func reoffer(description: String) { actions.append("reoffer \(description)") }
        func answerReoffer(description: String) { actions.append("answerReoffer \(description)") }
        func refuseReoffer() { actions.append("refuseReoffer") }
        func sendInfo(key: Character, method: KeyMethod) { actions.append("info \(key) \(method)") }
    }

    final class Registration: TrunkRegistration {
        var isGivenBack = false
        func unregister() { isGivenBack = true }
    }

    var legs: [Leg] = []
    var invitations: [TrunkInvitation] = []
    var registrations: [Registration] = []
    var registrationReport: (@ControlActor (RegistrationState) -> Void)?
    var refusal: HangupCause?

    func register(
        _ account: ClientAccount, contactUser: String, report: @escaping @ControlActor (RegistrationState) -> Void
    ) -> any TrunkRegistration {
        registrationReport = report
        let registration = Registration()
        registrations.append(registration)
        return registration
    }

    func invite(_ invitation: TrunkInvitation, offer: String, contactUser: String) throws(HangupCause) -> any TrunkLeg {
        if let refusal { throw refusal }
        invitations.append(invitation)
        let leg = Leg()
        legs.append(leg)
        return leg
    }
}

/// Media that is ready when the test says so and refuses descriptions that read "bad".
@ControlActor final class ScriptedMedia: MediaPort {
    final class Media: CallMedia {
        var report: (@ControlActor (MediaEvent) -> Void)?
        var gates: [AudioGate] = []
        var applied: [String] = []
        var isClosed = false
        var takesKeys = true
        var keys = ""

        var clientDescription: String { "ours-for-client" }
        func trunkOffer() -> String { "ours-for-trunk" }
        func trunkReoffer(hold: Bool) -> String { hold ? "hold" : "resume" }
        func trunkRefusedReoffer() {}
        func setAudio(_ gate: AudioGate) { gates.append(gate) }
        func close() { isClosed = true }

        func applyClientAnswer(_ description: String) throws(HangupCause) { try apply(description) }
        func applyTrunkAnswer(_ description: String) throws(HangupCause) { try apply(description) }

        func answerTrunkOffer(_ description: String) throws(HangupCause) -> (description: String, holds: Bool) {
            try apply(description)
            return ("answer-to-\(description)", description == "sendonly")
        }

        func sendKeys(_ keys: String) -> Bool {
            if takesKeys { self.keys += keys }
            return takesKeys
        }

        private func apply(_ description: String) throws(HangupCause) {
            if description == "bad" { throw .noCommonCodec }
            applied.append(description)
        }
    }

    var opened: [Media] = []
    var refusal: HangupCause?

    func open(_ request: MediaRequest, report: @escaping @ControlActor (MediaEvent) -> Void) throws(HangupCause)
        -> any CallMedia
    {
        if let refusal { throw refusal }
        let media = Media()
        media.report = report
        opened.append(media)
        return media
    }
}
