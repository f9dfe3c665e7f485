internal import GLibLoop
internal import SIPStack
internal import Switchboard
internal import Telemetry

/// Keeps one binding at a registrar through refusals and silences (rule REG-3).
///
/// Refused credentials stop it: asking again with the same password would lock the account. Anything else is tried again
/// after a time that doubles from 30 s to 30 min, of which a random half to whole is waited.
@ControlActor final class RegistrationKeeper: TrunkRegistration {
    private let account: SIPAccount
    private let agent: UserAgent
    private var report: (@ControlActor (RegistrationState) -> Void)?
    private var registration: Registration?
    private var retryTimer: GLibTimer?
    private var bound = leastBound
    private let log = Log("TrunkFace")

    private static let leastBound = 30.0
    private static let mostBound = 1800.0

    init(account: SIPAccount, agent: UserAgent, report: @escaping @ControlActor (RegistrationState) -> Void) {
        self.account = account
        self.agent = agent
        self.report = report
        register()
    }

    func unregister() {
        report = nil
        retryTimer?.cancel()
        retryTimer = nil
        registration?.unregister()
        registration = nil
    }

    private func register() {
        do {
            registration = try agent.register(account) { [weak self] event in self?.received(event) }
        } catch {
            log(.warning, "REGISTER not sent", ["why": "\(error)"])
            failed(status: 500, phrase: "Registration Not Possible")
        }
    }

    private func received(_ event: RegistrationEvent) {
        switch event {
        case .registered:
            bound = Self.leastBound
            report?(.registered)
        case .failed(let status, let retryAfter):
            registration = nil
            // The registrar's word is any number; none keeps us away for ever.
            if let retryAfter { bound = min(max(bound, Double(retryAfter)), Self.mostBound) }
            failed(status: status.code < 700 ? status.code : 503, phrase: status.phrase)
        case .unregistered: registration = nil
        }
    }

    private func failed(status: Int, phrase: String) {
        guard let report else { return }
        if ![401, 403, 407].contains(status) { retryLater() }
        report(.failed(status: status, reason: phrase))
    }

    private func retryLater() {
        let wait = Double.random(in: bound / 2...bound)
        bound = min(bound * 2, Self.mostBound)
        retryTimer = GLibTimer(on: .control, after: .milliseconds(Int(wait * 1000))) { [weak self] in
            ControlActor.assumeIsolated { self?.retry() }
        }
    }

    private func retry() {
        guard report != nil else { return }
        register()
    }
}
