internal import CallModel
internal import SDP
internal import Sockets

/// The trunk's side of the SDP over a dialog's life: text in, text out, errors as causes.
struct TrunkLegDescription {
    private var negotiation: TrunkNegotiation
    private let extraLines: [String]
    /// The answer to the trunk's first offer, given again when the client answers.
    private var first: (offer: String, answer: SessionDescription, audio: NegotiatedAudio)?

    /// - Parameter extraLines: lines that a client wants added; only `a=` and `b=` lines are.
    init(local: TrunkAudio, extraLines: [String]) {
        negotiation = TrunkNegotiation(local: local, sessionID: .random(in: 1...UInt64(UInt32.max)))
        self.extraLines = extraLines.filter(Self.isHarmless)
    }

    /// What was agreed last.
    var audio: NegotiatedAudio? { negotiation.negotiated }

    /// Answers the trunk's first offer ahead of time.
    mutating func answerFirst(_ offer: String) throws(HangupCause) {
        let (answer, audio) = try negotiate(offer)
        first = (offer, answer, audio)
    }

    /// Answers an offer of the trunk.
    mutating func answer(_ offer: String) throws(HangupCause) -> (text: String, audio: NegotiatedAudio) {
        if let prepared = first, prepared.offer == offer {
            first = nil
            return (text(of: prepared.answer), prepared.audio)
        }
        let (answer, audio) = try negotiate(offer)
        return (text(of: answer), audio)
    }

    /// An offer of ours. We play no music, so a hold is `inactive` (HLD-1).
    mutating func offer(hold: Bool) -> String {
        text(of: negotiation.offer(direction: hold ? .inactive : .sendrecv))
    }

    /// The trunk refused our last offer.
    mutating func offerWasRefused() { negotiation.offerWasRefused() }

    /// Takes the trunk's answer.
    mutating func apply(answer text: String) throws(HangupCause) -> NegotiatedAudio {
        let answer = try Self.parse(text)
        var tried = negotiation
        do throws(NegotiationError) {
            let audio = try tried.apply(answer: answer)
            try Self.requireReachable(audio, from: negotiation.local)
            negotiation = tried
            return audio
        } catch { throw HangupCause(error) }
    }

    private mutating func negotiate(
        _ text: String
    ) throws(HangupCause) -> (answer: SessionDescription, audio: NegotiatedAudio) {
        let offer = try Self.parse(text)
        var tried = negotiation
        do throws(NegotiationError) {
            let (answer, audio) = try tried.answer(to: offer)
            try Self.requireReachable(audio, from: negotiation.local)
            negotiation = tried
            return (answer, audio)
        } catch { throw HangupCause(error) }
    }

    /// A media address must be a literal of our own socket's family: anything else would be a call without sound.
    private static func requireReachable(
        _ audio: NegotiatedAudio, from local: TrunkAudio
    ) throws(NegotiationError) {
        guard let remote = audio.remote else { return }
        guard let address = SocketAddress(remote), let own = SocketAddress(local.address, port: local.port),
            address.isIPv6 == own.isIPv6, !address.isUnspecified
        else { throw .missingConnection }
    }

    private static func parse(_ text: String) throws(HangupCause) -> SessionDescription {
        do throws(SDPParseError) { return try SessionDescription(parsing: text) } catch { throw .unusableDescription }
    }

    /// Adds a client's lines where RFC 8866 section 5 wants them: `b=` after `c=`, `a=` at the end.
    private func text(of description: SessionDescription) -> String {
        guard !extraLines.isEmpty else { return description.text }
        var lines = description.text.split(separator: "\r\n").map(String.init)
        let bandwidths = extraLines.filter { $0.hasPrefix("b=") }
        if let connection = lines.firstIndex(where: { $0.hasPrefix("c=") }) {
            lines.insert(contentsOf: bandwidths, at: connection + 1)
        }
        lines += extraLines.filter { $0.hasPrefix("a=") }
        return lines.map { $0 + "\r\n" }.joined()
    }

    private static func isHarmless(_ line: String) -> Bool {
        (line.hasPrefix("a=") || line.hasPrefix("b=")) && line.utf8.count <= 256
            && line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension SocketAddress {
    /// An address literal of SDP; nil for a host name, which no trunk of ours is sent media by.
    init?(_ endpoint: MediaEndpoint) { self.init(endpoint.address, port: endpoint.port) }
}
