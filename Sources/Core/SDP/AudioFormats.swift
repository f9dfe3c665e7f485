/// An audio codec the gateway can speak.
public enum AudioCodec: String, Sendable, Hashable, CaseIterable {
    case opus
    case pcmu = "PCMU"
    case pcma = "PCMA"
    case g722 = "G722"

    /// The encoding name for an rtpmap line.
    public var encodingName: String { rawValue }

    /// The RTP clock in Hz: 8000 for G.722 too, by an old error that stayed (RFC 3551 section 4.5.2).
    public var clockRate: UInt32 { self == .opus ? 48000 : 8000 }

    /// The payload type fixed by RFC 3551 section 6.
    public var staticPayloadType: UInt8? {
        switch self {
        case .opus: nil
        case .pcmu: 0
        case .pcma: 8
        case .g722: 9
        }
    }

    /// The codec an rtpmap names. Opus counts with or without its "/2" (case H07).
    public init?(_ map: RTPMap) {
        switch map.encoding.lowercased() {
        case "opus" where map.clockRate == 48000: self = .opus
        case "pcmu" where map.clockRate == 8000 && map.channels == 1: self = .pcmu
        case "pcma" where map.clockRate == 8000 && map.channels == 1: self = .pcma
        case "g722" where map.clockRate == 8000 && map.channels == 1: self = .g722
        default: return nil
        }
    }
}

/// The value of an `a=rtpmap` line (RFC 8866 section 6.6).
public struct RTPMap: Sendable, Hashable {
    /// 0...127.
    public var payloadType: UInt8
    /// The encoding name as written.
    public var encoding: String
    /// In Hz; never 0.
    public var clockRate: UInt32
    /// 1 where the line gives none.
    public var channels: UInt8

    /// A map of the given parts.
    public init(payloadType: UInt8, encoding: String, clockRate: UInt32, channels: UInt8 = 1) {
        self.payloadType = payloadType
        self.encoding = encoding
        self.clockRate = clockRate
        self.channels = channels
    }

    /// Reads `111 opus/48000/2`; `nil` when number, name or clock are missing or absurd.
    public init?(parsing value: String) {
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let number = UInt8(parts[0]), number < 128 else { return nil }
        let fields = parts[1].trimmed.split(separator: "/", omittingEmptySubsequences: false)
        guard fields.count >= 2, !fields[0].isEmpty else { return nil }
        guard let clock = UInt32(fields[1]), (1...1_000_000).contains(clock) else { return nil }
        let channels = fields.count > 2 ? UInt8(fields[2]) : 1
        guard let channels, channels > 0 else { return nil }
        self.init(payloadType: number, encoding: String(fields[0]), clockRate: clock, channels: channels)
    }

    /// The value as written in the line.
    public var text: String { "\(payloadType) \(encoding)/\(clockRate)" + (channels > 1 ? "/\(channels)" : "") }

    var isTelephoneEvent: Bool { encoding.lowercased() == "telephone-event" }
    var isComfortNoise: Bool { encoding.lowercased() == "cn" }

    static func number(in value: String) -> UInt8? {
        value.split(separator: " ", maxSplits: 1).first.flatMap { UInt8($0) }
    }

    /// The meaning of a static payload type (RFC 3551 table 4); only those met in telephony.
    public static func staticMap(for payloadType: UInt8) -> RTPMap? {
        let encoding: String
        switch payloadType {
        case 0: encoding = "PCMU"
        case 3: encoding = "GSM"
        case 4: encoding = "G723"
        case 8: encoding = "PCMA"
        case 9: encoding = "G722"
        case 13: encoding = "CN"
        case 15: encoding = "G728"
        case 18: encoding = "G729"
        default: return nil
        }
        return RTPMap(payloadType: payloadType, encoding: encoding, clockRate: 8000)
    }
}

/// The parameters of an `a=fmtp` line: `name=value` pairs between semicolons, or free text.
public struct FormatParameters: Sendable, Hashable {
    /// The text after the payload type, as written.
    public var text: String

    /// Parameters by their text.
    public init(_ text: String) { self.text = text }

    /// The value of a parameter; names are matched without regard to case. A bare name has the value "".
    public subscript(_ name: String) -> String? {
        let wanted = name.lowercased()
        for pair in text.split(separator: ";") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = halves.first, key.trimmed.lowercased() == wanted else { continue }
            return halves.count > 1 ? String(halves[1].trimmed) : ""
        }
        return nil
    }

    /// Whether a 0/1 parameter is on; missing and unreadable ones are off.
    public func isOn(_ name: String) -> Bool { self[name] == "1" }
}

/// What the peer's Opus line asks of us (RFC 7587 section 7). Hints only; stereo is noted and never obeyed (case H05).
public struct OpusHints: Sendable, Hashable {
    /// `useinbandfec=1`: send FEC (OPU-5).
    public var wantsInBandFEC = false
    /// `usedtx=1`: silence may be left out (OPU-6).
    public var allowsDTX = false
    /// `stereo=1`; mono is sent all the same.
    public var wantsStereo = false
    /// In Hz.
    public var maximumPlaybackRate: UInt32 = 48000
    /// In bit/s; `nil` when the mode decides.
    public var maximumAverageBitrate: UInt32?

    /// The defaults of RFC 7587 section 7.
    public init() {}

    init(_ parameters: FormatParameters?) {
        guard let parameters else { return }
        wantsInBandFEC = parameters.isOn("useinbandfec")
        allowsDTX = parameters.isOn("usedtx")
        wantsStereo = parameters.isOn("stereo")
        if let rate = parameters["maxplaybackrate"].flatMap({ UInt32($0) }), (8000...48000).contains(rate) {
            maximumPlaybackRate = rate
        }
        if let rate = parameters["maxaveragebitrate"].flatMap({ UInt32($0) }), (6000...510_000).contains(rate) {
            maximumAverageBitrate = rate
        }
    }
}
