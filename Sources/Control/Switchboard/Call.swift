internal import CallModel
internal import GLibLoop
internal import Telemetry

/// One live call: carries out what its ``CallMachine`` decides, through the ports.
///
/// Both directions are one piece of code; only how a call begins differs. The call keeps itself out of the way of re-entry:
/// events that arrive while effects are being carried out wait their turn.
@ControlActor final class Call {
    let id: CallID
    let session: Session

    private let board: Switchboard
    private var machine: CallMachine
    private var media: (any CallMedia)?
    private var leg: (any TrunkLeg)?
    private let party: Party
    private var sipStatus = 0
    /// Whether the trunk has described its media: in an offer, an early answer or the answer.
    private var isTrunkDescribed = false
    private var timers: [CallTimer: GLibTimer] = [:]
    private var pending: [CallEvent] = []
    private var isWorking = false
    private let log = Log("Switchboard")

    /// What the two ways to begin a call bring along.
    enum Party {
        case outgoing(TrunkInvitation, clientOffer: String)
        case incoming(TrunkArrival, any TrunkLeg)
    }

    init(id: CallID, session: Session, board: Switchboard, party: Party) {
        self.id = id
        self.session = session
        self.board = board
        self.party = party
        switch party {
        case .outgoing: machine = CallMachine(direction: .outgoing)
        case .incoming(_, let leg):
            machine = CallMachine(direction: .incoming)
            self.leg = leg
        }
    }

    var snapshot: CallSnapshot {
        var snapshot = CallSnapshot(
            id: id, direction: machine.direction, state: machine.state, caller: "", callee: "", visibleName: "",
            sipStatus: sipStatus)
        switch party {
        case .outgoing(let invitation, _):
            snapshot.caller = invitation.caller
            snapshot.callee = invitation.target.user
            snapshot.visibleName = invitation.displayName ?? invitation.caller
        case .incoming(let arrival, _):
            snapshot.caller = arrival.caller
            snapshot.callee = session.login
            snapshot.visibleName = arrival.displayName.isEmpty ? arrival.caller : arrival.displayName
        }
        return snapshot
    }

    func begin() {
        if case .incoming(_, let leg) = party {
            leg.report = { [weak self] event in self?.trunkReported(event) }
        }
        carryOut(machine.begin())
        drain()
    }

    /// Feeds the machine and carries out its effects, in order, whoever calls from within.
    func handle(_ event: CallEvent) {
        pending.append(event)
        drain()
    }

    /// Takes the client's answer to an incoming call.
    func clientAnswered(description: String) {
        guard let media, machine.direction == .incoming, machine.state == .ringing else { return }
        do {
            try media.applyClientAnswer(description)
            handle(.clientAnswered)
        } catch {
            handle(.mediaFailed(error))
        }
    }
}

// MARK: - Effects

extension Call {
    private func carryOut(_ effects: [CallEffect]) {
        isWorking = true
        for effect in effects { carryOut(effect) }
        isWorking = false
    }

    private func drain() {
        while !isWorking, !pending.isEmpty { carryOut(machine.handle(pending.removeFirst())) }
    }

    private func carryOut(_ effect: CallEffect) {
        switch effect {
        case .openMedia: openMedia()
        case .tellClient(let notice): tellClient(notice)
        case .invite: invite()
        case .ringTrunk: leg?.ring()
        case .answerTrunk: answerTrunk()
        case .rejectTrunk(let cause): leg?.reject(cause)
        case .cancelTrunk(let cause): leg?.cancel(cause)
        case .hangUpTrunk(let cause): leg?.hangUp(cause)
        case .reofferTrunk(let hold): reoffer(hold: hold)
        case .setAudio(let gate): media?.setAudio(gate)
        case .sendKeys(let keys, let method): sendKeys(keys, method)
        case .arm(let timer): arm(timer)
        case .disarm(let timer): timers.removeValue(forKey: timer)?.cancel()
        case .release: release()
        }
    }

    private func openMedia() {
        var request = MediaRequest(call: id, clientOffer: nil, trunkOffer: nil)
        switch party {
        case .outgoing(let invitation, let offer):
            request.clientOffer = offer
            request.descriptionLines = invitation.descriptionLines
        case .incoming(let arrival, _): request.trunkOffer = arrival.offer
        }
        do {
            media = try board.media.open(request) { [weak self] event in self?.mediaReported(event) }
        } catch {
            handle(.mediaFailed(error))
        }
    }

    private func tellClient(_ notice: ClientNotice) {
        if case .finished(let cause) = notice {
            log(.info, "call ended", ["call": id.rawValue, "cause": cause.rawValue, "sip": String(sipStatus)])
        }
        let needsDescription = notice == .description || notice == .incoming
        session.port?.tell(notice, of: snapshot, description: needsDescription ? media?.clientDescription : nil)
    }

    private func invite() {
        guard let media, case .outgoing(let invitation, _) = party else { return }
        do {
            let leg = try board.trunk.invite(invitation, offer: media.trunkOffer(), contactUser: session.contactUser)
            leg.report = { [weak self] event in self?.trunkReported(event) }
            self.leg = leg
        } catch {
            handle(.trunkFailed(error))
        }
    }

    private func answerTrunk() {
        guard let media, case .incoming(let arrival, let leg) = party else { return }
        guard let offer = arrival.offer else {
            // An INVITE without an offer gets ours in the 200; its answer comes in the ACK (LO-1).
            leg.answer(description: media.trunkOffer())
            return
        }
        do {
            leg.answer(description: try media.answerTrunkOffer(offer).description)
            isTrunkDescribed = true
        } catch {
            handle(.mediaFailed(error))
        }
    }

    private func reoffer(hold: Bool) {
        guard let media, let leg else { return }
        leg.reoffer(description: media.trunkReoffer(hold: hold))
    }

    private func sendKeys(_ keys: String, _ method: KeyMethod) {
        if method == .telephoneEvent, media?.sendKeys(keys) == true { return }
        // A trunk without telephone-event gets INFO instead, never both (DTM-21).
        for key in keys { leg?.sendInfo(key: key, method: method == .info ? .info : .infoRelay) }
    }

    private func arm(_ timer: CallTimer) {
        let interval: Duration
        switch timer {
        case .answer: interval = board.settings.answerTimeout
        case .duration: interval = board.settings.longestCall
        }
        timers[timer] = GLibTimer(on: .control, after: interval) { [weak self] in
            ControlActor.assumeIsolated { self?.handle(.timeout(timer)) }
        }
    }

    private func release() {
        for timer in timers.values { timer.cancel() }
        timers = [:]
        leg?.report = nil
        leg = nil
        media?.close()
        media = nil
        board.forget(self)
    }
}

// MARK: - Reports

extension Call {
    private func mediaReported(_ event: MediaEvent) {
        switch event {
        case .ready: handle(.mediaReady)
        case .clientConnected: log(.info, "client media connected", ["call": id.rawValue])
        case .failed(let cause): handle(.mediaFailed(cause))
        }
    }

    private func trunkReported(_ event: TrunkEvent) {
        switch event {
        case .provisional(let status, let description): provisional(status, description)
        case .answered(let status, let description): answered(status, description)
        case .failed(let status, let cause):
            sipStatus = status
            handle(.trunkFailed(cause))
        case .ended(let status, let cause):
            sipStatus = status
            handle(.trunkEnded(cause))
        case .reoffer(let description): reoffered(description)
        case .reofferAnswered(let description): reofferAnswered(description)
        case .reofferRefused:
            media?.trunkRefusedReoffer()
            handle(.trunkReofferRefused)
        case .keys: break  // no face shows keys that come from the trunk by INFO
        }
    }

    private func provisional(_ status: Int, _ description: String?) {
        guard status > 100 else { return }
        sipStatus = status
        guard let description, let media else {
            handle(.trunkRinging)
            return
        }
        do {
            try media.applyTrunkAnswer(description)
            isTrunkDescribed = true
            handle(.trunkEarlyMedia)
        } catch {
            // SDP before the answer is a preview (SET-9): a useless one costs early audio, not the call.
            log(.warning, "early description not usable", ["call": id.rawValue, "cause": error.rawValue])
            handle(.trunkRinging)
        }
    }

    private func answered(_ status: Int, _ description: String?) {
        sipStatus = status
        do {
            if let description {
                try media?.applyTrunkAnswer(description)
                isTrunkDescribed = true
            }
            // A 200 without SDP is good only after an early answer (SET-9): else the call would be up and silent.
            guard isTrunkDescribed else { return handleUnusableAnswer(.noCommonCodec) }
            handle(.trunkAnswered)
        } catch {
            handleUnusableAnswer(error)
        }
    }

    private func handleUnusableAnswer(_ cause: HangupCause) {
        // The trunk has answered: its dialog must be ended by BYE, which the machine does only for an answered call.
        leg?.hangUp(cause)
        handle(.trunkFailed(cause))
    }

    private func reoffered(_ description: String?) {
        guard let media, let leg else { return }
        guard let description else {
            leg.answerReoffer(description: media.trunkOffer())
            return
        }
        do {
            let answer = try media.answerTrunkOffer(description)
            leg.answerReoffer(description: answer.description)
            handle(.trunkReoffered(holds: answer.holds))
        } catch {
            leg.refuseReoffer()
        }
    }

    private func reofferAnswered(_ description: String?) {
        do {
            if let description { try media?.applyTrunkAnswer(description) }
            handle(.trunkReofferAccepted)
        } catch {
            media?.trunkRefusedReoffer()
            handle(.trunkReofferRefused)
        }
    }
}
