/// Offers and answers (RFC 3264): pure functions from values to values.
///
/// Three steps each way: `trunk...` functions for the SIP side, `client...` functions for the WebRTC side. A dialog with
/// a trunk, whose later offers depend on the earlier ones, is kept by ``TrunkNegotiation``.
public enum OfferAnswer {
    /// Reads the formats of an m-line that mean anything to us.
    struct OfferedFormats {
        /// In the m-line's order; a codec listed twice counts once.
        var codecs: [NegotiatedCodec] = []
        var events: [(payloadType: UInt8, clockRate: UInt32, events: EventSet)] = []
        var comfortNoise: UInt8?

        init(of media: MediaDescription) {
            for number in media.payloadTypes {
                guard let map = media.rtpMap(for: number) else { continue }
                if let codec = AudioCodec(map) {
                    guard !codecs.contains(where: { $0.codec == codec }) else { continue }
                    codecs.append(NegotiatedCodec(codec: codec, payloadType: number))
                } else if map.isTelephoneEvent, map.clockRate == 8000 || map.clockRate == 48000 {
                    guard !events.contains(where: { $0.clockRate == map.clockRate }) else { continue }
                    let set = media.formatParameters(for: number).map { EventSet(parsing: $0.text) } ?? .digits
                    events.append((number, map.clockRate, set))
                } else if map.isComfortNoise, map.clockRate == 8000, comfortNoise == nil {
                    // RFC 3389: the other clocks belong to codecs we do not speak (case H08).
                    comfortNoise = number
                }
            }
        }
    }

    /// The m-line that refuses `media` and keeps its place: port 0, same profile and formats (RFC 3264 section 6).
    static func refusal(of media: MediaDescription) -> MediaDescription {
        var refusal = MediaDescription(
            kind: media.kind, port: 0, profile: media.profile, formats: media.formats.first.map { [$0] } ?? ["0"])
        if media.kind == "application" { refusal.formats = media.formats }
        if let mid = media.mid { refusal.attributes.append(Attribute("mid", mid)) }
        refusal.attributes.append(Attribute(MediaDirection.inactive.rawValue))
        return refusal
    }

    static func rtpMapAttribute(_ codec: AudioCodec, _ payloadType: UInt8) -> Attribute {
        let map = RTPMap(
            payloadType: payloadType, encoding: codec.encodingName, clockRate: codec.clockRate,
            channels: codec == .opus ? 2 : 1)
        return Attribute("rtpmap", map.text)
    }

    static func eventAttributes(_ payloadType: UInt8, clockRate: UInt32, events: EventSet) -> [Attribute] {
        [
            Attribute("rtpmap", "\(payloadType) telephone-event/\(clockRate)"),
            Attribute("fmtp", "\(payloadType) \(events.text)"),
        ]
    }
}
