internal import CallModel
internal import GLibLoop
internal import SIPStack
internal import Switchboard

/// One SIP dialog as the switchboard's trunk leg: its events in our words, our wishes in SIP's.
@ControlActor final class TrunkDialog: TrunkLeg {
    var report: (@ControlActor (TrunkEvent) -> Void)?
    private let dialog: Dialog
    private let rejectStatus: Int
    private var wasAnswered = false

    init(_ dialog: Dialog, rejectStatus: Int) {
        self.dialog = dialog
        self.rejectStatus = rejectStatus
        // The dialog holds the leg until it has ended, so an end that the switchboard did not wait for is still carried out.
        dialog.onEvent = { event in self.received(event) }
    }

    func ring() { dialog.ring() }

    func answer(description: String) {
        // A dialog that a CANCEL has ended meanwhile cannot be answered; its end is reported by its own event.
        try? dialog.answer(sdp: description)
    }

    func reject(_ cause: HangupCause) {
        let status = cause == .declined ? (rejectStatus, rejectStatus == 603 ? "Decline" : "Busy Here") : cause.rejection
        dialog.reject(status.0, status.1, headers: [SIPHeader("Reason", cause.q850Reason)])
    }

    func cancel(_ cause: HangupCause) { dialog.hangUp() }

    func hangUp(_ cause: HangupCause) {
        dialog.hangUp(reason: SIPReason(protocol: "Q.850", cause: cause.q850, text: cause.sentence))
    }

    func reoffer(description: String) {
        do {
            try dialog.reoffer(sdp: description)
        } catch {
            // Told later, as an answer of the peer would be, so that the caller has left its own work.
            GLibLoop.control.perform { [weak self] in
                ControlActor.assumeIsolated { self?.report?(.reofferRefused(status: 491)) }
            }
        }
    }

    func answerReoffer(description: String) { try? dialog.acceptOffer(sdp: description) }

    func refuseReoffer() { dialog.refuseOffer(488, "Not Acceptable Here") }

    func sendInfo(key: Character, method: KeyMethod) {
        switch method {
        case .info: try? dialog.sendInfo(contentType: "application/dtmf", body: "\(key)")
        case .infoRelay, .telephoneEvent: try? dialog.send(digit: InfoDigit(key: key, duration: 250))
        }
    }

    private func received(_ event: DialogEvent) {
        switch event {
        case .provisional(let status, let sdp): report?(.provisional(status: status.code, description: sdp))
        case .answered(let message):
            wasAnswered = true
            report?(.answered(status: 200, description: message.sdp))
        case .confirmed, .infoAnswered: break
        // An ACK without the answer ends the call (LO-2): an empty text is no description.
        case .lateAnswer(let sdp): report?(.answered(status: 200, description: sdp ?? ""))
        case .offered(let sdp): report?(.reoffer(description: sdp))
        case .reofferAnswered(let sdp): report?(.reofferAnswered(description: sdp))
        case .reofferRefused(let status): report?(.reofferRefused(status: status.code))
        case .digit(let digit): report?(.keys(String(digit.key)))
        case .ended(let end): ended(end)
        }
    }

    private func ended(_ end: DialogEnd) {
        let report = report
        self.report = nil
        switch end {
        case .refused(let status, let reason, _):
            report?(.failed(status: shown(status), cause: HangupCause(sipStatus: status.code, reason: reason)))
        case .lost(let status) where !dialog.isIncoming && !wasAnswered:
            report?(.failed(status: shown(status), cause: HangupCause(sipStatus: status.code, reason: nil)))
        case .lost(let status): report?(.ended(status: shown(status), cause: .trunkFailure))
        case .cancelledByPeer: report?(.ended(status: 487, cause: .cancelled))
        case .hungUpByPeer: report?(.ended(status: 200, cause: .normal))
        case .cancelled, .rejected, .hungUp: break  // our own doing
        }
    }

    /// The stack's own statuses of 900 and above never came from a peer.
    private func shown(_ status: SIPStatus) -> Int { status.code < 700 ? status.code : 503 }
}
