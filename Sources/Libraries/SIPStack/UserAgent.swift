internal import CSofiaSIP
public import GLibLoop

/// A SIP user agent (RFC 3261): one listening address, any number of registrations and dialogs.
///
/// It answers OPTIONS with 200, methods it does not know with 405 or 501, requests outside their dialog with 481, and keeps
/// nothing of them. Media is not its matter: session descriptions pass through as text.
///
/// A user agent lives until ``shutdown()`` has returned; it does not end by being forgotten.
@ControlActor public final class UserAgent {
    /// What it was made of.
    public let configuration: SIPConfiguration
    /// The port it listens on, on all its transports.
    public let port: UInt16
    /// Takes incoming calls; without it they are refused with 480. It is called on the control loop, and the dialog's own
    /// `onEvent` is to be set before it returns.
    public var onIncomingCall: (@ControlActor (Dialog) -> Void)?

    private var nua: OpaquePointer?
    private var owners: [UInt: any HandleOwner] = [:]
    private var lastNumber: UInt = 0
    private var isEnding = false
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var drainWaiters: [CheckedContinuation<Void, Never>] = []

    static let allowed = "INVITE, ACK, BYE, CANCEL, OPTIONS, PRACK, UPDATE, INFO"

    /// Binds the address and starts to listen.
    ///
    /// - Throws: ``SIPStackError/cannotBind(address:port:code:words:)`` when the port is taken or the address not ours.
    public init(configuration: SIPConfiguration) throws(SIPStackError) {
        self.configuration = configuration
        guard let root = SofiaRoot.shared.root else { throw .libraryRefused("no root on the control loop") }
        port = try Self.freePort(configuration)
        nua = nil

        let transports = configuration.transports
        let host =
            configuration.address.utf8.contains(UInt8(ascii: ":")) ? "[\(configuration.address)]" : configuration.address
        var url = "sip:\(host):\(port)"
        if transports.count == 1, let only = transports.first { url += ";transport=\(only.rawValue)" }
        let magic = Unmanaged.passRetained(self)
        let timers = configuration.timers
        let made: OpaquePointer? = url.withCString { url in
            configuration.userAgent.withCString { agent in
                Self.allowed.withCString { allow in
                    "INVITE, INFO, UPDATE".withCString { methods in
                        var settings = tl_sip_settings(
                            url: url, user_agent: agent, allow: allow, application_methods: methods, t1: timers.t1,
                            t2: timers.t2, t4: timers.t4, t1x64: timers.t1x64,
                            session_timer: configuration.sessionInterval, min_se: configuration.minimumSessionInterval)
                        return tl_nua_create(root, receiveStackEvent, magic.toOpaque(), &settings)
                    }
                }
            }
        }
        guard let made else {
            magic.release()
            throw .libraryRefused("no user agent at \(url)")
        }
        nua = made
    }

    /// Starts a registration; its outcome comes as events.
    public func register(
        _ account: SIPAccount, onEvent: (@ControlActor (RegistrationEvent) -> Void)? = nil
    ) throws(SIPStackError) -> Registration {
        let number = nextNumber()
        let address = account.addressOfRecord.headerValue
        let handle = try makeHandle(number: number, from: address, to: address)
        let registration = Registration(account: account, agent: self, number: number, handle: handle)
        registration.onEvent = onEvent
        owners[number] = registration
        registration.start()
        return registration
    }

    /// Sends an INVITE; what comes of it arrives as events, never before this call has returned.
    public func invite(
        _ call: OutgoingCall, onEvent: (@ControlActor (DialogEvent) -> Void)? = nil
    ) throws(SIPStackError) -> Dialog {
        let number = nextNumber()
        let handle = try makeHandle(
            number: number, from: call.from.headerValue, to: (call.to ?? call.target).headerValue)
        let dialog = Dialog(outgoing: call, agent: self, number: number, handle: handle)
        dialog.onEvent = onEvent
        owners[number] = dialog
        dialog.start(call)
        return dialog
    }

    /// How many registrations and dialogs are alive.
    public var liveCount: Int { owners.count }

    /// Ends all calls and registrations politely, waits for their ends (bounded by the transaction timers), and frees
    /// everything. Further calls wait for the same end.
    public func shutdown() async {
        guard let nua else { return }
        await withCheckedContinuation { continuation in
            waiters.append(continuation)
            guard !isEnding else { return }
            isEnding = true
            nua_shutdown(nua)
        }
    }

    /// Takes no more calls and waits until the registrations and dialogs at hand have ended, or until the limit. For a process
    /// that ends afterwards: the stack itself is left as it is, because its own shutdown waits half a minute for peers that
    /// do not answer, and may abort the process after INVITEs that were broken.
    ///
    /// End dialogs and registrations first: this only waits for their ends.
    public func drain(within limit: Duration) async {
        onIncomingCall = nil
        guard !owners.isEmpty else { return }
        let timer = GLibTimer(on: .control, after: limit) { [weak self] in
            ControlActor.assumeIsolated { self?.endDrain() }
        }
        await withCheckedContinuation { drainWaiters.append($0) }
        timer.cancel()
    }

    private func endDrain() {
        let woken = drainWaiters
        drainWaiters = []
        for waiter in woken { waiter.resume() }
    }

    private func makeHandle(number: UInt, from: String, to: String) throws(SIPStackError) -> OpaquePointer {
        guard let nua, !isEnding else { throw .isShutDown }
        guard let handle = tl_nua_handle(nua, UnsafeMutableRawPointer(bitPattern: number), from, to) else {
            throw .libraryRefused("no handle")
        }
        return handle
    }

    private func nextNumber() -> UInt {
        lastNumber += 1
        return lastNumber
    }

    /// The owner has given its handle back.
    func forget(_ number: UInt) {
        owners[number] = nil
        if owners.isEmpty { endDrain() }
    }

    func receive(_ event: StackEvent) {
        if event.owner != 0 {
            // A local keeps the owner alive should it forget itself in its own event.
            let owner = owners[event.owner]
            owner?.receive(event)
            return
        }
        switch event.kind {
        case nua_r_shutdown where event.status.code >= 200:
            // Not from inside the library's own callback.
            GLibLoop.control.perform { ControlActor.assumeIsolated { self.finish() } }
        case nua_i_invite where event.status.code < 200: acceptCall(event)
        case nua_i_fork: endFork(event)
        default: dropStray(event)
        }
    }

    private func acceptCall(_ event: StackEvent) {
        guard let handle = OpaquePointer(bitPattern: event.handle), let message = event.message else { return }
        let number = nextNumber()
        nua_handle_bind(handle, UnsafeMutableRawPointer(bitPattern: number))
        let dialog = Dialog(incoming: message, agent: self, number: number, handle: handle)
        owners[number] = dialog
        guard let onIncomingCall, !isEnding else {
            dialog.reject(480, "Temporarily Unavailable")
            return
        }
        onIncomingCall(dialog)
    }

    /// A second 200 to one INVITE is acknowledged by the library and ended by us; the first stays (SET-8).
    private func endFork(_ event: StackEvent) {
        guard let handle = OpaquePointer(bitPattern: event.handle) else { return }
        nua_handle_destroy(handle)
    }

    /// Requests outside dialogs have been answered; their handles are ours to give back (case H53).
    private func dropStray(_ event: StackEvent) {
        guard let nua, let handle = OpaquePointer(bitPattern: event.handle), handle != nua_default(nua) else { return }
        if event.kind == nua_i_terminated || event.kind == nua_i_state || event.kind == nua_i_active { return }
        if event.request != 0, event.status.code < 200, nua_event_is_incoming_request(event.kind) != 0 {
            let phrase = PhraseBook.pointer(to: "Call Does Not Exist", code: 481)
            tl_nua_respond(handle, 481, phrase, OpaquePointer(bitPattern: event.request), nil, nil)
        }
        nua_handle_destroy(handle)
    }

    private func finish() {
        guard let nua else { return }
        for owner in owners.values { owner.letGo() }
        owners = [:]
        self.nua = nil
        nua_destroy(nua)
        Unmanaged.passUnretained(self).release()
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// The configured port, or a free one, tried on every transport so that a taken one gives a clear error.
    private static func freePort(_ configuration: SIPConfiguration) throws(SIPStackError) -> UInt16 {
        let streams = configuration.transports.map { $0 == .tcp ? Int32(1) : 0 }
        var failure: Int32 = EADDRNOTAVAIL
        for _ in 0..<(configuration.port == 0 ? 16 : 1) {
            var port = Int32(configuration.port)
            for stream in streams where port >= 0 {
                port = tl_sip_probe_port(configuration.address, port, stream)
            }
            if port > 0 { return UInt16(clamping: port) }
            failure = -port
        }
        throw .cannotBind(
            address: configuration.address, port: configuration.port, code: failure,
            words: String(cString: strerror(failure)))
    }
}

/// The library's root, one for the process: it lives on the control loop, which never ends either.
@ControlActor private final class SofiaRoot {
    static let shared = SofiaRoot()
    let root: OpaquePointer?

    private init() {
        root = tl_sip_root_create(UnsafeMutableRawPointer(GLibLoop.control.rawContext))
        _ = tl_register_digest(storeDigestChallenge, writeDigestAnswer)
    }
}
