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

/// What a server wants answered.
struct DigestChallenge: Sendable {
    var scheme: String
    /// As written, with its quotes.
    var realm: String
    var isStale: Bool

    static func all(in sip: UnsafePointer<sip_t>?) -> [DigestChallenge] {
        guard let sip else { return [] }
        var challenges: [DigestChallenge] = []
        for first in [sip.pointee.sip_www_authenticate, sip.pointee.sip_proxy_authenticate] {
            var next = first
            while let header = next?.pointee {
                if let scheme = header.au_scheme, let realm = parameter("realm=", of: header) {
                    let stale = parameter("stale=", of: header)?.lowercased().contains("true") ?? false
                    challenges.append(
                        DigestChallenge(scheme: String(cString: scheme), realm: realm, isStale: stale))
                }
                next = header.au_next
            }
        }
        return challenges
    }

    private static func parameter(_ name: String, of header: msg_auth_t) -> String? {
        guard var next = header.au_params else { return nil }
        while let text = next.pointee {
            let parameter = String(cString: text)
            if parameter.lowercased().hasPrefix(name) { return String(parameter.dropFirst(name.count)) }
            next += 1
        }
        return nil
    }
}

/// Counts refusals so that wrong credentials end after one honest try (AUTH-7, case H39).
struct DigestAnswerer {
    let credentials: SIPCredentials?
    private var refusals = 0

    init(credentials: SIPCredentials?) { self.credentials = credentials }

    /// The answers for ``tl_nua_authenticate``, one for each realm; empty when it is time to give up.
    mutating func answers(to challenges: [DigestChallenge]) -> [String] {
        guard let credentials else { return [] }
        refusals += 1
        let isStale = challenges.contains { $0.isStale }
        guard refusals == 1 || isStale && refusals <= 3 else { return [] }
        var realms: Set<String> = []
        return challenges.compactMap { challenge in
            guard challenge.scheme.lowercased() == "digest", realms.insert(challenge.realm).inserted else { return nil }
            return "\(challenge.scheme):\(challenge.realm):\(credentials.user):\(credentials.password)"
        }
    }

    /// The request was accepted: the next challenge is a first one again.
    mutating func wasAccepted() { refusals = 0 }
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
