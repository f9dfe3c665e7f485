internal import CSofiaSIP

/// A status code and its phrase. Codes from 700 are the library's own, for what never reached the wire.
public struct SIPStatus: Sendable, Hashable {
    /// 100...699, or the library's own 900...999.
    public var code: Int
    /// The reason phrase as received.
    public var phrase: String

    /// A status of a code and a phrase.
    public init(code: Int, phrase: String) {
        self.code = code
        self.phrase = phrase
    }
}

/// A Reason header (RFC 3326), for example `Q.850;cause=16;text="Normal"`.
public struct SIPReason: Sendable, Hashable {
    /// `Q.850` or `SIP`.
    public var `protocol`: String
    /// The cause number; `nil` when missing or no number.
    public var cause: Int?
    /// The text without quotes.
    public var text: String?

    /// A reason of the given parts.
    public init(protocol: String, cause: Int?, text: String? = nil) {
        self.protocol = `protocol`
        self.cause = cause
        self.text = text
    }

    var headerValue: String {
        var value = `protocol`
        if let cause { value += ";cause=\(cause)" }
        if let text {
            let safe = text.unicodeScalars.filter { $0.value >= 0x20 && $0 != "\"" && $0 != "\\" }
            value += ";text=\"\(String(String.UnicodeScalarView(safe)))\""
        }
        return value
    }
}

/// One header line.
public struct SIPHeader: Sendable, Hashable {
    /// The name as written.
    public var name: String
    /// The value; it may not hold line ends, which are taken out before sending.
    public var value: String

    /// A header of a name and a value.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The lines for the library; `nil` for none.
    static func lines(_ headers: [SIPHeader]) -> String? {
        guard !headers.isEmpty else { return nil }
        return headers.map { header in
            let name = header.name.unicodeScalars.filter { $0.value > 0x20 && $0.value < 0x7F && $0 != ":" }
            let value = header.value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
            return String(String.UnicodeScalarView(name)) + ": " + String(String.UnicodeScalarView(value))
        }.joined(separator: "\r\n")
    }
}

/// What the faces need of a received request or response.
public struct SIPMessage: Sendable, Hashable {
    /// The Request-URI; `nil` in a response.
    public var requestURI: SIPAddress?
    /// Who calls, as they say.
    public var from: SIPAddress
    /// Who is called, as dialled.
    public var to: SIPAddress
    /// The Call-ID.
    public var callID: String
    /// The first P-Asserted-Identity with a SIP or tel URI (RFC 3325); trust is the reader's to decide.
    public var assertedIdentity: SIPAddress?
    /// Whether `Privacy` asks to keep the caller unknown (RFC 3323).
    public var wantsPrivacy: Bool
    /// The first Reason header.
    public var reason: SIPReason?
    /// The first Contact.
    public var contact: SIPAddress?
    /// The peer's User-Agent or Server.
    public var userAgent: String?
    /// Retry-After in seconds.
    public var retryAfter: Int?
    /// The headers the stack has no type for, in order: X- headers, P-Asserted-Identity, Diversion and so on.
    public var headers: [SIPHeader]
    /// The media type of the body, in lower case, without parameters.
    public var contentType: String?
    /// The body as text; of a multipart body the SDP part (RFC 5621).
    public var body: String?
    /// The numeric address it came from; "" when unknown.
    public var sourceAddress: String
    /// The port it came from.
    public var sourcePort: UInt16

    /// The Contacts with their expiry, for registrations.
    var bindings: [Binding] = []
    /// The Expires header in seconds.
    var expires: Int?

    struct Binding: Sendable, Hashable {
        var contact: SIPAddress
        var expires: Int?
    }

    /// The body if it is a session description.
    public var sdp: String? { contentType == "application/sdp" ? body : nil }
}

extension SIPMessage {
    /// Copies what is needed; nothing points into the library's message afterwards.
    init?(_ pointer: UnsafePointer<sip_t>?, in message: OpaquePointer?) {
        guard let sip = pointer?.pointee, let from = sip.sip_from?.pointee, let to = sip.sip_to?.pointee else { return nil }
        self.from = SIPAddress(from.a_url, display: from.a_display)
        self.to = SIPAddress(to.a_url, display: to.a_display)
        requestURI = sip.sip_request.map { SIPAddress($0.pointee.rq_url) }
        callID = sip.sip_call_id?.pointee.i_id.map { String(cString: $0) } ?? ""
        contact = sip.sip_contact.map { SIPAddress($0.pointee.m_url, display: $0.pointee.m_display) }
        reason = sip.sip_reason.map { Self.reason($0.pointee) }
        let agent = sip.sip_user_agent ?? sip.sip_server
        userAgent = agent?.pointee.g_string.map { String(cString: $0) }
        retryAfter = sip.sip_retry_after.map { Int(clamping: $0.pointee.af_delta) }
        wantsPrivacy = sip.sip_privacy != nil
        expires = sip.sip_expires.map { Int(clamping: $0.pointee.ex_delta) }
        var binding = sip.sip_contact
        while let header = binding?.pointee {
            let expires = header.m_expires.flatMap { Int(String(cString: $0)) }
            bindings.append(Binding(contact: SIPAddress(header.m_url), expires: expires))
            binding = header.m_next
        }

        headers = []
        var unknown = sip.sip_unknown
        while let header = unknown?.pointee {
            if let name = header.un_name, let value = header.un_value {
                headers.append(SIPHeader(String(cString: name), String(cString: value)))
            }
            unknown = header.un_next
        }
        assertedIdentity =
            headers.lazy.filter { $0.name.lowercased() == "p-asserted-identity" }
            .compactMap { SIPAddress(parsing: $0.value) }.first

        let type = sip.sip_content_type?.pointee.c_type.map { String(cString: $0) }
        contentType = type?.split(separator: ";").first.map { $0.trimmingBlanks().lowercased() }
        if let payload = sip.sip_payload?.pointee, let data = payload.pl_data, payload.pl_len > 0 {
            let bytes = UnsafeRawBufferPointer(start: data, count: Int(payload.pl_len))
            body = String(decoding: bytes, as: UTF8.self)
        }
        if let whole = body, contentType?.hasPrefix("multipart/") == true, let part = MultipartBody.sdp(in: whole) {
            contentType = "application/sdp"
            body = part
        }
        var buffer = [CChar](repeating: 0, count: 64)
        let port = tl_sip_source(message, &buffer, Int32(buffer.count))
        sourcePort = UInt16(clamping: port)
        sourceAddress =
            port < 0 ? "" : String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func reason(_ header: sip_reason_t) -> SIPReason {
        let text = header.re_text.map { String(cString: $0) }
        return SIPReason(
            protocol: header.re_protocol.map { String(cString: $0) } ?? "",
            cause: header.re_cause.flatMap { Int(String(cString: $0)) },
            text: text.map { String($0.filter { $0 != "\"" }) })
    }
}

/// Finds the session description in a multipart body.
enum MultipartBody {
    static func sdp(in body: String) -> String? {
        var type: String?
        var isHeader = false
        var lines: [Substring]?
        for line in body.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            if line.hasPrefix("--") {
                if let lines { return lines.map { $0 + "\r\n" }.joined() }
                isHeader = true
                type = nil
            } else if isHeader, line.trimmingBlanks().isEmpty {
                isHeader = false
                if type == "application/sdp" { lines = [] }
            } else if isHeader {
                let halves = line.split(separator: ":", maxSplits: 1)
                if halves.count == 2, ["content-type", "c"].contains(halves[0].trimmingBlanks().lowercased()) {
                    type = halves[1].split(separator: ";").first?.trimmingBlanks().lowercased()
                }
            } else {
                lines?.append(line)
            }
        }
        return nil
    }
}
