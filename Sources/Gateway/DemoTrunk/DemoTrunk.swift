public import GLibLoop
public import MediaRuntime
public import SIPStack
public import TrunkTransport
internal import SDP

/// A second SIP user agent on loopback that answers the demo numbers, with SIP messages and RTP packets like any trunk's.
@ControlActor public final class DemoTrunk {
    /// The user agent.
    let agent: UserAgent
    let sounds: DemoSounds
    let lanes: LanePool
    let ports: TrunkPortAllocator
    private var calls: [ObjectIdentifier: DemoCall] = [:]
    private var promisedCallBacks: [Int: GLibTimer] = [:]
    private var callBacksPromised = 0

    /// Listens on 127.0.0.1.
    ///
    /// - Throws: the stack's error when the port is taken.
    public init(port: UInt16, ports: TrunkPortAllocator, sounds: DemoSounds, lanes: LanePool) throws(SIPStackError) {
        agent = try UserAgent(
            configuration: SIPConfiguration(address: "127.0.0.1", port: port, userAgent: "Trunkline demo trunk"))
        self.sounds = sounds
        self.lanes = lanes
        self.ports = ports
        agent.onIncomingCall = { [weak self] dialog in
            guard let self else { return dialog.reject(503, "Service Unavailable") }
            self.arrived(dialog)
        }
    }

    /// The port it listens on.
    public var port: UInt16 { agent.port }

    /// The calls that it is in.
    public var callCount: Int { calls.count }

    /// Hangs up everything and takes no more calls. For a process that ends afterwards.
    public func stop() async {
        for call in calls.values { call.hangUp() }
        await agent.drain(within: .seconds(1))
        for call in calls.values { call.close() }
    }

    private func arrived(_ dialog: Dialog) {
        guard let invitation = dialog.invitation,
            let number = DemoNumber(called: invitation.requestURI?.user ?? invitation.to.user)
        else { return dialog.reject(404, "Not Found") }
        switch number {
        case .busy: dialog.reject(486, "Busy Here")
        case .silent: dialog.ring()
        default: start(DemoCall(answering: dialog, number: number, trunk: self))
        }
    }

    private func start(_ call: DemoCall) {
        calls[ObjectIdentifier(call)] = call
        call.begin()
    }

    func forget(_ call: DemoCall) { calls.removeValue(forKey: ObjectIdentifier(call)) }

    /// Calls the caller of an earlier call: at the place its Contact names, by the user that its From names.
    private func callBack(_ invitation: SIPMessage) {
        guard let place = invitation.contact else { return }
        var target = place
        target.user = invitation.from.user
        target.parameters = ""
        start(DemoCall(calling: target, trunk: self))
    }

    /// Calls back a second after the first call has ended.
    func laterCallBack(_ invitation: SIPMessage?) {
        guard let invitation else { return }
        callBacksPromised += 1
        let promise = callBacksPromised
        promisedCallBacks[promise] = GLibTimer(on: .control, after: .seconds(1)) { [weak self] in
            ControlActor.assumeIsolated {
                self?.promisedCallBacks[promise] = nil
                self?.callBack(invitation)
            }
        }
    }
}
