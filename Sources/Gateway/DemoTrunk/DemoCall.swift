internal import Audio
internal import GLibLoop
internal import LegFormats
internal import MediaGraph
internal import MediaRuntime
internal import RTP
internal import SDP
internal import SIPStack
internal import Sockets
internal import TrunkTransport

/// One call of the demo trunk, answered or made.
@ControlActor final class DemoCall {
    private enum Way {
        case answering(Dialog, DemoNumber)
        case calling(SIPAddress)
    }

    private let way: Way
    /// Holds this call as well, until `close`.
    private let trunk: DemoTrunk
    private var dialog: Dialog?
    private var sockets: TrunkSockets?
    private var negotiation: TrunkNegotiation?
    private var endpoint: EndpointHost?
    private var timer: GLibTimer?
    private var spokenKeys: [Character] = []
    private var isSpeaking = false
    private var isClosed = false

    /// How long it rings before it answers: long enough to be seen, short enough not to bore.
    private static let ringTime = Duration.milliseconds(300)
    private static let earlyTime = Duration.seconds(3)

    init(answering dialog: Dialog, number: DemoNumber, trunk: DemoTrunk) {
        way = .answering(dialog, number)
        self.trunk = trunk
    }

    init(calling target: SIPAddress, trunk: DemoTrunk) {
        way = .calling(target)
        self.trunk = trunk
    }

    func begin() {
        do throws(TrunkPortError) {
            let sockets = try trunk.ports.open()
            self.sockets = sockets
            let address = sockets.localAddress
            negotiation = TrunkNegotiation(
                local: TrunkAudio(codecs: [.pcmu, .pcma], address: address.host, port: address.port),
                sessionID: .random(in: 1...UInt64(UInt32.max)))
        } catch { return refuse(503, "Service Unavailable") }
        switch way {
        case .answering(let dialog, let number): ring(dialog, number)
        case .calling(let target): call(target)
        }
    }

    func hangUp() { dialog?.hangUp() }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        timer?.cancel()
        timer = nil
        endpoint?.stop { [sockets] in withExtendedLifetime(sockets) {} }
        endpoint = nil
        sockets = nil
        dialog = nil
        trunk.forget(self)
    }

    private func refuse(_ status: Int, _ phrase: String) {
        if case .answering(let dialog, _) = way { dialog.reject(status, phrase) }
        close()
    }

    private func after(_ time: Duration, _ action: @escaping @ControlActor () -> Void) {
        timer?.cancel()
        timer = GLibTimer(on: .control, after: time) { ControlActor.assumeIsolated { action() } }
    }
}

// MARK: - Signalling

extension DemoCall {
    private func ring(_ dialog: Dialog, _ number: DemoNumber) {
        self.dialog = dialog
        dialog.onEvent = { [weak self] event in self?.received(event) }
        if number == .early {
            guard let answer = answerFirstOffer(dialog) else { return refuse(488, "Not Acceptable Here") }
            dialog.progress(sdp: answer)
            play(.music(MusicLoop(rate: .telephone)))
            after(Self.earlyTime) { [weak self] in self?.answer(dialog, number, with: answer) }
        } else {
            dialog.ring()
            after(Self.ringTime) { [weak self] in
                guard let self else { return }
                guard let answer = self.answerFirstOffer(dialog) else { return self.refuse(488, "Not Acceptable Here") }
                self.answer(dialog, number, with: answer)
            }
        }
    }

    private func answer(_ dialog: Dialog, _ number: DemoNumber, with description: String) {
        guard !isClosed else { return }
        do throws(SIPStackError) { try dialog.answer(sdp: description) } catch { return close() }
        switch number {
        case .echo: play(.echo)
        case .speech, .early: play(.samples(trunk.sounds.speech, loops: false))
        case .music: play(.music(MusicLoop(rate: .telephone)))
        case .callback: promiseCallback(dialog)
        case .keys, .busy, .silent: play(.silence)
        }
    }

    private func promiseCallback(_ dialog: Dialog) {
        play(.tone(ToneGenerator(rate: .telephone, frequency: 880, level: -20)))
        after(.seconds(1)) { [trunk] in
            dialog.hangUp()
            trunk.laterCallBack(dialog.invitation)
        }
    }

    private func call(_ target: SIPAddress) {
        guard let offer = negotiation?.offer() else { return close() }
        let from = SIPAddress(
            displayName: "Demo trunk", user: DemoNumber.callback.number, host: "127.0.0.1", port: trunk.port)
        do throws(SIPStackError) {
            dialog = try trunk.agent.invite(OutgoingCall(target: target, from: from, sdp: offer.text)) {
                [weak self] event in self?.received(event)
            }
        } catch { close() }
    }

    private func received(_ event: DialogEvent) {
        switch event {
        case .answered(let message): answered(message.sdp)
        case .lateAnswer(let sdp): if !adopt(answer: sdp) { dialog?.hangUp() }
        case .offered(let sdp): offered(sdp)
        case .digit(let digit): keyPressed(digit.key)
        case .ended: close()
        case .provisional, .confirmed, .reofferAnswered, .reofferRefused, .infoAnswered: break
        }
    }

    private func answered(_ description: String?) {
        guard adopt(answer: description) else {
            dialog?.hangUp()
            return
        }
        play(.samples(trunk.sounds.speech, loops: false))
    }

    private func offered(_ description: String?) {
        guard let description else {
            guard let offer = negotiation?.offer() else { return }
            do throws(SIPStackError) { try dialog?.acceptOffer(sdp: offer.text) } catch { return }
            return
        }
        guard let answer = answer(to: description) else {
            dialog?.refuseOffer(488, "Not Acceptable Here")
            return
        }
        do throws(SIPStackError) { try dialog?.acceptOffer(sdp: answer) } catch { return }
    }
}

// MARK: - Media

extension DemoCall {
    private func answerFirstOffer(_ dialog: Dialog) -> String? {
        guard let offer = dialog.invitation?.sdp else { return negotiation?.offer().text }
        return answer(to: offer)
    }

    private func answer(to text: String) -> String? {
        guard let offer = try? SessionDescription(parsing: text), let answer = try? negotiation?.answer(to: offer) else {
            return nil
        }
        adopt(answer.audio)
        return answer.description.text
    }

    private func adopt(answer text: String?) -> Bool {
        guard let text, let answer = try? SessionDescription(parsing: text),
            let audio = try? negotiation?.apply(answer: answer)
        else { return false }
        adopt(audio)
        return true
    }

    private func adopt(_ audio: NegotiatedAudio) {
        guard let format = LegFormat(trunk: audio) else { return }
        let remote = audio.remote.flatMap { SocketAddress($0.address, port: $0.port) }
        if let endpoint {
            endpoint.setFormat(format)
            endpoint.setRemote(remote)
        } else {
            open(format, remote: remote)
        }
        endpoint?.setSending(audio.direction.sends)
    }

    private func open(_ format: LegFormat, remote: SocketAddress?) {
        guard let sockets else { return }
        let configuration = EndpointConfiguration(format: format, wallClockOffset: LaneClock.wallClockOffset)
        endpoint = try? EndpointHost(
            lane: trunk.lanes.pick(), configuration: configuration, source: .silence, socket: sockets.rtp,
            reportSocket: sockets.rtcp, remote: remote
        ) { [weak self] event in
            GLibLoop.control.perform { ControlActor.assumeIsolated { self?.received(event) } }
        }
    }

    private func play(_ source: AudioSource) { endpoint?.play(source) }

    private func received(_ event: EndpointHostEvent) {
        guard !isClosed else { return }
        switch event {
        case .endpoint(.key(let key)): keyPressed(key.character)
        case .endpoint(.sourceEnded): sourceEnded()
        case .endpoint(.mediaStarted): break
        case .failed: dialog?.hangUp()
        }
    }

    private func keyPressed(_ key: Character) {
        guard case .answering(_, .keys) = way else { return }
        spokenKeys.append(key)
        if !isSpeaking { speakNextKey() }
    }

    private func speakNextKey() {
        isSpeaking = !spokenKeys.isEmpty
        guard isSpeaking else { return }
        play(.samples(trunk.sounds.keys[spokenKeys.removeFirst()] ?? [], loops: false))
    }

    private func sourceEnded() {
        if case .answering(_, .keys) = way {
            speakNextKey()
        } else {
            // The speech is over: the trunk hangs up.
            dialog?.hangUp()
        }
    }
}
