/// What the server says (wcs.md 2-6).
public enum WCSServerMessage: Sendable, Equatable {
    /// Asks for a sign of life, every few seconds.
    case ping
    /// Answers a client's own `ping`.
    case pong
    /// The server's version, before `getUserData`.
    case getVersion(String)
    /// The session is established.
    case getUserData(ConnectionInfo)
    /// The SIP registration succeeded; any such message makes a client believe it, so never send it for a failure.
    case registered(sipMessageRaw: String)
    /// `call` has been received: status TRYING.
    case notifyTryingResponse(CallObject)
    /// A call comes in; only after `setRemoteSDP` and before `ring`.
    case notifyIncomingCall(CallObject)
    /// The far side rings: status RING, RING_MEDIA or SESSION_PROGRESS.
    case ring(CallObject)
    /// Answered or off hold: status ESTABLISHED.
    case talk(CallObject)
    /// On hold: status HOLD.
    case hold(CallObject)
    /// Over: status FINISH, BUSY or FAILED.
    case finish(CallObject)
    /// Our description, exactly once per call; `isInitiator` means that the client made the offer.
    case setRemoteSDP(callID: String, sdp: String, isInitiator: Bool)
    /// Something failed.
    case fail(FailureEvent)
    /// The application's data for the client.
    case onDataEvent(operationID: String, payload: JSONValue)
    /// The result of `sendData`.
    case dataStatusEvent(DataStatusEvent)
    /// Progress of a transfer.
    case notifyTransferEvent(TransferEvent)
    /// The refusal of a stream.
    case notifyStreamStatusEvent(StreamRequest, info: String)
    /// Whether a stream exists: it never does.
    case availableStream(mediaSessionID: String, info: String)
    /// The name under which a bug report was stored.
    case notifyBugReport(String)
    /// The state of the session's capture.
    case notifySessionDebugEvent(status: String)
    /// Any other name.
    case unknown(name: String)

    /// The event that tells `phase`: its message and status (table of wcs.md 3.3). `call`'s own status is replaced.
    public static func event(for phase: CallPhase, of call: CallObject) -> WCSServerMessage {
        var call = call
        call.status = phase.status
        return switch phase {
        case .trying: .notifyTryingResponse(call)
        case .ringing, .progressing, .earlyMedia: .ring(call)
        case .established: .talk(call)
        case .held: .hold(call)
        case .ended, .endedBusy, .endedFailed: .finish(call)
        }
    }

    /// The three messages of an incoming call, in the order that clients need (wcs.md 4.1).
    public static func incoming(_ call: CallObject, offer: String) -> [WCSServerMessage] {
        var call = call
        call.incoming = true
        call.status = .ring
        return [.setRemoteSDP(callID: call.callID, sdp: offer, isInitiator: false), .notifyIncomingCall(call), .ring(call)]
    }

    /// Reads one text frame, for clients.
    public static func parse(_ text: String) throws(WCSParseError) -> WCSServerMessage {
        let envelope = try WCSEnvelope.parse(text)
        let fields = envelope.fields
        switch envelope.message {
        case "ping": return .ping
        case "pong": return .pong
        case "getVersion": return .getVersion(envelope.data.first?.scalarText ?? "")
        case "getUserData": return .getUserData(try ConnectionInfo(fields))
        case "registered": return .registered(sipMessageRaw: try fields.string("sipMessageRaw") ?? "")
        case "notifyTryingResponse": return .notifyTryingResponse(try CallObject(fields))
        case "notifyIncomingCall": return .notifyIncomingCall(try CallObject(fields))
        case "ring": return .ring(try CallObject(fields))
        case "talk": return .talk(try CallObject(fields))
        case "hold": return .hold(try CallObject(fields))
        case "finish": return .finish(try CallObject(fields))
        case "setRemoteSDP": return try parseRemoteSDP(envelope.data)
        case "fail": return .fail(try FailureEvent(fields))
        default: return try parseOther(envelope)
        }
    }

    private static func parseRemoteSDP(_ data: [JSONValue]) throws(WCSParseError) -> WCSServerMessage {
        var members: [String: JSONValue] = [:]
        for (key, value) in zip(["callId", "sdp", "isInitiator"], data) { members[key] = value }
        let fields = Fields(message: "setRemoteSDP", members: members)
        guard let isInitiator = try fields.bool("isInitiator") else {
            throw .missing(message: "setRemoteSDP", key: "isInitiator")
        }
        return .setRemoteSDP(callID: try fields.callID(), sdp: try fields.string("sdp") ?? "", isInitiator: isInitiator)
    }

    private static func parseOther(_ envelope: WCSEnvelope) throws(WCSParseError) -> WCSServerMessage {
        let fields = envelope.fields
        switch envelope.message {
        case "OnDataEvent":
            return .onDataEvent(
                operationID: try fields.string("operationId") ?? "", payload: fields.value("payload") ?? .null)
        case "DataStatusEvent": return .dataStatusEvent(try DataStatusEvent(fields))
        case "notifyTransferEvent": return .notifyTransferEvent(try TransferEvent(fields))
        case "notifyStreamStatusEvent":
            return .notifyStreamStatusEvent(try StreamRequest(fields), info: try fields.string("info") ?? "")
        case "availableStream":
            return .availableStream(mediaSessionID: try fields.string("id") ?? "", info: try fields.string("info") ?? "")
        case "notifyBugReport": return .notifyBugReport(envelope.data.first?.scalarText ?? "")
        case "notifySessionDebugEvent": return .notifySessionDebugEvent(status: try fields.string("status") ?? "")
        case let name: return .unknown(name: name)
        }
    }

    /// The text frame; no value in it is null.
    public var text: String { WCSEnvelope(message: name, data: arguments).text }

    /// The message's name on the wire.
    public var name: String {
        switch self {
        case .ping: "ping"
        case .pong: "pong"
        case .getVersion: "getVersion"
        case .getUserData: "getUserData"
        case .registered: "registered"
        case .notifyTryingResponse: "notifyTryingResponse"
        case .notifyIncomingCall: "notifyIncomingCall"
        case .ring: "ring"
        case .talk: "talk"
        case .hold: "hold"
        case .finish: "finish"
        case .setRemoteSDP: "setRemoteSDP"
        case .fail: "fail"
        case .onDataEvent: "OnDataEvent"
        case .dataStatusEvent: "DataStatusEvent"
        case .notifyTransferEvent: "notifyTransferEvent"
        case .notifyStreamStatusEvent: "notifyStreamStatusEvent"
        case .availableStream: "availableStream"
        case .notifyBugReport: "notifyBugReport"
        case .notifySessionDebugEvent: "notifySessionDebugEvent"
        case .unknown(let name): name
        }
    }

    private var arguments: [JSONValue] {
        switch self {
        case .ping, .pong, .unknown: []
        case .getVersion(let text), .notifyBugReport(let text): [.string(text)]
        case .getUserData(let info): [info.json]
        case .registered(let raw): [.object(["status": .string("REGISTERED"), "sipMessageRaw": .string(raw)])]
        case .notifyTryingResponse(let call), .notifyIncomingCall(let call), .ring(let call), .talk(let call),
            .hold(let call), .finish(let call):
            [call.json]
        case .setRemoteSDP(let callID, let sdp, let isInitiator): [.string(callID), .string(sdp), .bool(isInitiator)]
        case .fail(let event): [event.json]
        case .onDataEvent(let operationID, let payload):
            [
                .object([
                    "operationId": .string(operationID), "payload": payload == .null ? .emptyObject : payload.withoutNulls,
                ])
            ]
        case .dataStatusEvent(let event): [event.json]
        case .notifyTransferEvent(let event): [event.json]
        case .notifyStreamStatusEvent(let stream, let info): [Self.refusal(of: stream, info: info)]
        case .availableStream(let id, let info):
            [.object(["id": .string(id), "status": .bool(false), "info": .string(info)])]
        case .notifySessionDebugEvent(let status): [.object(["status": .string(status)])]
        }
    }

    private static func refusal(of stream: StreamRequest, info: String) -> JSONValue {
        .object([
            "mediaSessionId": .string(stream.mediaSessionID), "name": .string(stream.name), "status": .string("FAILED"),
            "info": .string(info),
        ])
    }
}
