package import CallModel
package import GLibLoop
package import Switchboard

/// Writes down what a client is told.
@ControlActor package final class RecordingClient: ClientPort {
    package init() {}

    package var notices: [ClientNotice] = []
    package var descriptions: [String] = []
    package var calls: [CallID] = []
    package var registrations: [RegistrationState] = []
    package var saidGoodbye = false

    package func tell(_ notice: ClientNotice, of call: CallSnapshot, description: String?) {
        notices.append(notice)
        calls.append(call.id)
        if let description { descriptions.append(description) }
    }

    package func registrationChanged(to state: RegistrationState) { registrations.append(state) }

    package func gatewayStops() { saidGoodbye = true }
}

/// A trunk that does nothing by itself and writes down what is asked of it.
@ControlActor package final class ScriptedTrunk: TrunkPort {
    package init() {}

    /// One leg, with what was asked of it.
    package final class Leg: TrunkLeg {
        package init() {}

        package var report: (@ControlActor (TrunkEvent) -> Void)?
        package var actions: [String] = []

        package func ring() { actions.append("ring") }
        package func answer(description: String) { actions.append("answer \(description)") }
        package func reject(_ cause: HangupCause) { actions.append("reject \(cause)") }
        package func cancel(_ cause: HangupCause) { actions.append("cancel") }
        package func hangUp(_ cause: HangupCause) { actions.append("hangUp \(cause)") }
        package func reoffer(description: String) { actions.append("reoffer \(description)") }
        package func answerReoffer(description: String) { actions.append("answerReoffer \(description)") }
        package func refuseReoffer() { actions.append("refuseReoffer") }
        package func sendInfo(key: Character, method: KeyMethod) { actions.append("info \(key) \(method)") }
    }

    /// One registration.
    package final class Registration: TrunkRegistration {
        package var isGivenBack = false
        package func unregister() { isGivenBack = true }
    }

    package var legs: [Leg] = []
    package var invitations: [TrunkInvitation] = []
    package var accounts: [ClientAccount] = []
    package var registrations: [Registration] = []
    package var registrationReport: (@ControlActor (RegistrationState) -> Void)?
    package var refusal: HangupCause?

    package func register(
        _ account: ClientAccount, contactUser: String, report: @escaping @ControlActor (RegistrationState) -> Void
    ) -> any TrunkRegistration {
        accounts.append(account)
        registrationReport = report
        let registration = Registration()
        registrations.append(registration)
        return registration
    }

    package func invite(_ invitation: TrunkInvitation, offer: String, contactUser: String) throws(HangupCause)
        -> any TrunkLeg
    {
        if let refusal { throw refusal }
        invitations.append(invitation)
        let leg = Leg()
        legs.append(leg)
        return leg
    }
}

/// Media that is ready when the test says so and refuses descriptions that read "bad".
@ControlActor package final class ScriptedMedia: MediaPort {
    package init() {}

    /// The media of one call.
    package final class Media: CallMedia {
        package var report: (@ControlActor (MediaEvent) -> Void)?
        package var gates: [AudioGate] = []
        package var applied: [String] = []
        package var isClosed = false
        package var takesKeys = true
        package var keys = ""

        package var clientDescription: String { "ours-for-client" }
        package func trunkOffer() -> String { "ours-for-trunk" }
        package func trunkReoffer(hold: Bool) -> String { hold ? "hold" : "resume" }
        package func trunkRefusedReoffer() {}
        package func setAudio(_ gate: AudioGate) { gates.append(gate) }
        package func close() { isClosed = true }

        package func applyClientAnswer(_ description: String) throws(HangupCause) { try apply(description) }
        package func applyTrunkAnswer(_ description: String) throws(HangupCause) { try apply(description) }

        package func answerTrunkOffer(_ description: String) throws(HangupCause) -> (description: String, holds: Bool) {
            try apply(description)
            return ("answer-to-\(description)", description == "sendonly")
        }

        package func sendKeys(_ keys: String) -> Bool {
            if takesKeys { self.keys += keys }
            return takesKeys
        }

        private func apply(_ description: String) throws(HangupCause) {
            if description == "bad" { throw .noCommonCodec }
            applied.append(description)
        }
    }

    package var opened: [Media] = []
    /// Whether media reports that it is ready by itself, a turn of the loop after it was opened.
    package var isReadySoon = false
    package var refusal: HangupCause?

    package func open(_ request: MediaRequest, report: @escaping @ControlActor (MediaEvent) -> Void) throws(HangupCause)
        -> any CallMedia
    {
        if let refusal { throw refusal }
        let media = Media()
        media.report = report
        opened.append(media)
        if isReadySoon { GLibLoop.control.perform { ControlActor.assumeIsolated { report(.ready) } } }
        return media
    }
}
