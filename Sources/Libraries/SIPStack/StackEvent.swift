internal import CSofiaSIP
internal import GLibLoop

/// One callback of the library, copied into values. Pointers are kept as numbers and only compared or handed back.
struct StackEvent: Sendable {
    var kind: nua_event_t
    var status: SIPStatus
    var message: SIPMessage?
    var challenges: [DigestChallenge]
    /// The handle the event is about; 0 for none.
    var handle: UInt
    /// The number bound to the handle; 0 for a handle we have not seen yet.
    var owner: UInt
    /// Identifies the request to ``tl_nua_respond``; the library compares it and never follows it.
    var request: UInt
}

/// The one callback of all user agents. It runs on the control loop's thread, never inside a call into the library.
func receiveStackEvent(
    _ kind: nua_event_t, _ status: CInt, _ phrase: UnsafePointer<CChar>?, _ nua: OpaquePointer?,
    _ magic: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ handleMagic: UnsafeMutableRawPointer?,
    _ sip: UnsafePointer<sip_t>?, _ tags: UnsafeMutablePointer<tagi_t>?
) {
    guard let magic else { return }
    let agent = Unmanaged<UserAgent>.fromOpaque(magic).takeUnretainedValue()
    let request = nua.flatMap { nua_current_request($0) }
    let event = StackEvent(
        kind: kind, status: SIPStatus(code: Int(status), phrase: phrase.map { String(cString: $0) } ?? ""),
        message: SIPMessage(sip, in: request),
        challenges: status == 401 || status == 407 ? DigestChallenge.all(in: sip) : [],
        handle: UInt(bitPattern: handle), owner: UInt(bitPattern: handleMagic), request: UInt(bitPattern: request))
    ControlActor.assumeIsolated { agent.receive(event) }
}

/// Something that owns a handle and takes its events.
@ControlActor protocol HandleOwner: AnyObject {
    func receive(_ event: StackEvent)
    /// Gives the handle back; the user agent is going away.
    func letGo()
}
