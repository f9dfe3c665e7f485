internal import CGLib
internal import CSofiaSIP

/// The hash of a digest challenge (RFC 7616, RFC 8760).
enum DigestAlgorithm: Int32, Sendable {
    case md5 = 1
    case sha256 = 2

    /// Reads the `algorithm` parameter; missing means MD5. The `-sess` forms and others are `nil`.
    init?(parameter: String?) {
        switch parameter?.filter({ $0 != "\"" }).uppercased() {
        case nil, "MD5": self = .md5
        case "SHA-256": self = .sha256
        default: return nil
        }
    }

    var name: String { self == .md5 ? "MD5" : "SHA-256" }

    /// The hash of a text as lower-case hexadecimal.
    func hash(_ text: String) -> String {
        guard let sum = g_compute_checksum_for_string(self == .md5 ? G_CHECKSUM_MD5 : G_CHECKSUM_SHA256, text, -1) else {
            return ""
        }
        defer { g_free(sum) }
        return String(cString: sum)
    }
}

/// The response to one challenge (RFC 7616 section 3.4.1).
struct DigestResponse {
    var algorithm: DigestAlgorithm
    var user: String
    var realm: String
    var password: String
    var method: String
    var uri: String
    var nonce: String
    /// Count and client nonce; `nil` without qop.
    var protection: (count: String, clientNonce: String)?

    var text: String {
        let first = algorithm.hash("\(user):\(realm):\(password)")
        let second = algorithm.hash("\(method):\(uri)")
        guard let protection else { return algorithm.hash("\(first):\(nonce):\(second)") }
        return algorithm.hash("\(first):\(nonce):\(protection.count):\(protection.clientNonce):auth:\(second)")
    }
}

/// What a server wants answered.
struct DigestChallenge: Sendable {
    var scheme: String
    /// As written, with its quotes.
    var realm: String
    var isStale: Bool
    /// `nil` for one we cannot do.
    var algorithm: DigestAlgorithm?

    static func all(in sip: UnsafePointer<sip_t>?) -> [DigestChallenge] {
        guard let sip else { return [] }
        var challenges: [DigestChallenge] = []
        for first in [sip.pointee.sip_www_authenticate, sip.pointee.sip_proxy_authenticate] {
            var next = first
            while let header = next?.pointee {
                if let scheme = header.au_scheme, let realm = parameter("realm=", of: header) {
                    let stale = parameter("stale=", of: header)?.lowercased().contains("true") ?? false
                    let algorithm = DigestAlgorithm(parameter: parameter("algorithm=", of: header))
                    challenges.append(
                        DigestChallenge(
                            scheme: String(cString: scheme), realm: realm, isStale: stale, algorithm: algorithm))
                }
                next = header.au_next
            }
        }
        return challenges
    }

    static func parameter(_ name: String, of header: msg_auth_t) -> String? {
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
            guard challenge.scheme.lowercased() == "digest", challenge.algorithm != nil,
                realms.insert(challenge.realm).inserted
            else { return nil }
            return "\(challenge.scheme):\(challenge.realm):\(credentials.user):\(credentials.password)"
        }
    }

    /// The request was accepted: the next challenge is a first one again.
    mutating func wasAccepted() { refusals = 0 }
}

/// Takes a challenge into the library's authentication client.
///
/// - Returns: 2 when the request is to be sent again, 1 when not.
func storeDigestChallenge(_ client: UnsafeMutablePointer<auth_client_t>?, _ challenge: UnsafePointer<msg_auth_t>?) -> Int32
{
    guard let client, let header = challenge?.pointee else { return -1 }
    return client.withMemoryRebound(to: tl_digest_client.self, capacity: 1) { state in
        // Of several challenges in one response the topmost that we can do counts (RFC 8760 section 2.4).
        let isFollower = state.pointee.rest == UnsafeRawPointer(challenge) && state.pointee.rest != nil
        state.pointee.rest = header.au_next.map { UnsafeRawPointer($0) }
        if isFollower && state.pointee.algorithm != 0 { return 1 }
        let quality = DigestChallenge.parameter("qop=", of: header)?.filter { $0 != "\"" }
        let words = quality?.split(separator: ",").map { $0.trimmingBlanks().lowercased() }
        let algorithm = DigestAlgorithm(parameter: DigestChallenge.parameter("algorithm=", of: header))
        guard let algorithm, let nonce = DigestChallenge.parameter("nonce=", of: header)?.filter({ $0 != "\"" }),
            words?.contains("auth") ?? true
        else {
            // No error, as that would spoil the challenges that follow.
            state.pointee.algorithm = 0
            return 1
        }
        let stale = DigestChallenge.parameter("stale=", of: header)?.lowercased().contains("true") ?? false
        let isFirst = state.pointee.nonce == nil
        if isFirst || state.pointee.nonce.map({ String(cString: $0) }) != nonce {
            state.pointee.count = 0
            replace(&state.pointee.nonce, with: nonce, of: client)
            let random = UInt64.random(in: 0...UInt64.max)
            replace(&state.pointee.cnonce, with: String(random, radix: 16), of: client)
        }
        replace(
            &state.pointee.opaque, with: DigestChallenge.parameter("opaque=", of: header)?.filter { $0 != "\"" },
            of: client)
        state.pointee.algorithm = algorithm.rawValue
        state.pointee.uses_qop = words == nil ? 0 : 1
        return isFirst || stale ? 2 : 1
    }
}

/// Writes the Authorization or Proxy-Authorization header for a request.
func writeDigestAnswer(
    _ client: UnsafeMutablePointer<auth_client_t>?, _ home: UnsafeMutablePointer<su_home_t>?,
    _ method: UnsafePointer<CChar>?, _ url: UnsafePointer<url_t>?, _ body: UnsafePointer<msg_payload_t>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<msg_header_t>?>?
) -> Int32 {
    guard let client, let home, let method, let url, let result else { return -1 }
    guard let user = client.pointee.ca_user, let password = client.pointee.ca_pass, let realm = client.pointee.ca_realm,
        let headerClass = client.pointee.ca_credential_class, let uri = url_as_string(home, url)
    else { return -1 }
    defer { su_free(home, uri) }
    return client.withMemoryRebound(to: tl_digest_client.self, capacity: 1) { state in
        guard let algorithm = DigestAlgorithm(rawValue: state.pointee.algorithm), let nonce = state.pointee.nonce else {
            return -1
        }
        state.pointee.count += 1
        let digits = String(state.pointee.count, radix: 16)
        let count = String(repeating: "0", count: max(0, 8 - digits.utf8.count)) + digits
        let clientNonce = state.pointee.cnonce.map { String(cString: $0) } ?? ""
        // The realm is kept with its quotes.
        let response = DigestResponse(
            algorithm: algorithm, user: String(cString: user), realm: String(cString: realm).filter { $0 != "\"" },
            password: String(cString: password), method: String(cString: method), uri: String(cString: uri),
            nonce: String(cString: nonce), protection: state.pointee.uses_qop == 0 ? nil : (count, clientNonce))
        var text =
            "Digest username=\"\(quotable(response.user))\", realm=\"\(response.realm)\", nonce=\"\(response.nonce)\", "
        text += "uri=\"\(response.uri)\", response=\"\(response.text)\", algorithm=\(algorithm.name)"
        if let opaque = state.pointee.opaque { text += ", opaque=\"\(String(cString: opaque))\"" }
        if response.protection != nil { text += ", cnonce=\"\(clientNonce)\", qop=auth, nc=\(count)" }
        guard let header = msg_header_make(home, headerClass, text) else { return -1 }
        result.pointee = header
        return 0
    }
}

/// Text that can stand between quotes (RFC 3261 section 25.1), so that a user name adds no parameter.
private func quotable(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
        if scalar == "\"" || scalar == "\\" { escaped += "\\" }
        escaped.unicodeScalars.append(scalar)
    }
    return escaped
}

/// Swaps a string of the client's memory home.
private func replace(
    _ text: inout UnsafeMutablePointer<CChar>?, with new: String?, of client: UnsafeMutablePointer<auth_client_t>
) {
    // The home is the first member of the client.
    client.withMemoryRebound(to: su_home_t.self, capacity: 1) { home in
        if let text { su_free(home, text) }
        text = new.flatMap { su_strdup(home, $0) }
    }
}
