internal import CallModel
internal import ClientTransport
internal import SDP

/// The client's side of the SDP: an offer of its that we answer, or an offer of ours that it answers. Once per call: the
/// protocol knows no renegotiation with clients.
struct ClientLeg {
    private enum Exchange {
        case answering(SessionDescription)
        case offering(SessionDescription?)
    }

    /// The codecs of a client leg, favourite first.
    private static let codecs: [AudioCodec] = [.opus, .pcmu, .pcma]

    private var exchange: Exchange
    private let sessionID = UInt64.random(in: 1...UInt64(UInt32.max))
    /// What was agreed; nil while our offer waits for its answer.
    private(set) var accepted: NegotiatedClientAudio?

    /// Judges the client's offer; nil means that the offer will be ours.
    init(offer: String?) throws(HangupCause) {
        guard let offer else {
            exchange = .offering(nil)
            return
        }
        let description = try Self.parse(offer)
        do throws(NegotiationError) {
            accepted = try OfferAnswer.acceptClientOffer(description, codecs: Self.codecs)
        } catch { throw HangupCause(error) }
        exchange = .answering(description)
    }

    /// Whether the offer is ours; the offerer's ICE agent is the controlling one.
    var isOfferer: Bool {
        if case .offering = exchange { true } else { false }
    }

    /// The client's transport values, once known.
    var remote: RemoteTransportDescription? {
        accepted.map { RemoteTransportDescription($0) }
    }

    /// Our SDP for the client.
    mutating func describe(_ local: LocalTransportDescription, stream: ClientStream) -> SessionDescription {
        let transport = ClientTransportValues(local)
        switch exchange {
        case .answering(let offer):
            guard let accepted else { return offer }
            return OfferAnswer.clientAnswer(
                to: offer, accepted: accepted, transport: transport, stream: stream, sessionID: sessionID)
        case .offering:
            let offer = OfferAnswer.clientOffer(
                codecs: Self.codecs, transport: transport, stream: stream, sessionID: sessionID)
            exchange = .offering(offer)
            return offer
        }
    }

    /// Takes the client's answer to our offer, once.
    mutating func apply(answer text: String) throws(HangupCause) {
        guard case .offering(let offer?) = exchange, accepted == nil else { throw .internalError }
        let answer = try Self.parse(text)
        do throws(NegotiationError) {
            accepted = try OfferAnswer.applyClientAnswer(answer, to: offer)
        } catch { throw HangupCause(error) }
    }

    private static func parse(_ text: String) throws(HangupCause) -> SessionDescription {
        do throws(SDPParseError) { return try SessionDescription(parsing: text) } catch { throw .unusableDescription }
    }
}

extension HangupCause {
    /// What a negotiation's failure means for the call.
    init(_ error: NegotiationError) {
        self = error == .noCommonCodec ? .noCommonCodec : .unusableDescription
    }
}
