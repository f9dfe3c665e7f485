/// What a client says (wcs.md 2-6).
///
/// Reading is liberal in types and strict in what cannot be guessed; a name that is not known is no error.
public enum WCSClientMessage: Sendable, Equatable {
    /// Always first: who the client is.
    case connection(ConnectionRequest)
    /// Calls somebody.
    case call(CallRequest)
    /// Takes an incoming call.
    case answer(AnswerRequest)
    /// Ends, cancels or rejects a call.
    case hangup(callID: String)
    /// Puts a call on hold.
    case hold(callID: String, forTransfer: Bool)
    /// Takes a call off hold.
    case unhold(callID: String)
    /// Transfers a call to another party (REFER).
    case transfer(callID: String, target: String)
    /// Sends keys.
    case sendDtmf(DTMFRequest)
    /// Sends the application's own data to its back end.
    case sendData(operationID: String, payload: JSONValue)
    /// Acknowledges our `OnDataEvent`.
    case dataStatusEvent(DataStatusEvent)
    /// Answers our `ping`.
    case pong
    /// Asks for a sign of life; the answer is optional.
    case ping
    /// Log lines of the client.
    case pushLogs(String)
    /// A bug report of any shape.
    case submitBugReport(JSONValue)
    /// Starts or stops the capture of a session.
    case sessionDebug(command: String)
    /// Any of `publishStream`, `playStream`, `unPublishStream`, `stopStream`, `snapshot`, `sendStreamEvent`.
    case stream(name: String, StreamRequest)
    /// Asks whether a stream exists.
    case availableStream(StreamRequest)
    /// Any other name; ignored, never an error.
    case unknown(name: String)

    private static let streamNames: Set<String> = [
        "publishStream", "playStream", "unPublishStream", "stopStream", "snapshot", "sendStreamEvent",
    ]

    /// Reads one text frame.
    public static func parse(_ text: String) throws(WCSParseError) -> WCSClientMessage {
        let envelope = try WCSEnvelope.parse(text)
        let fields = envelope.fields
        switch envelope.message {
        case "connection": return .connection(try ConnectionRequest(fields))
        case "call": return .call(try CallRequest(fields))
        case "answer": return .answer(try AnswerRequest(fields))
        case "hangup": return .hangup(callID: try fields.callID())
        case "hold": return .hold(callID: try fields.callID(), forTransfer: try fields.bool("holdForTransfer") ?? false)
        case "unhold": return .unhold(callID: try fields.callID())
        case "transfer": return .transfer(callID: try fields.callID(), target: try fields.required("target"))
        case "sendDtmf": return .sendDtmf(try DTMFRequest(fields))
        default: return try parseOther(envelope)
        }
    }

    private static func parseOther(_ envelope: WCSEnvelope) throws(WCSParseError) -> WCSClientMessage {
        let fields = envelope.fields
        switch envelope.message {
        case "sendData":
            return .sendData(operationID: try fields.required("operationId"), payload: fields.value("payload") ?? .null)
        case "DataStatusEvent": return .dataStatusEvent(try DataStatusEvent(fields))
        case "pong": return .pong
        case "ping": return .ping
        case "pushLogs": return .pushLogs(try fields.string("logs") ?? "")
        case "submitBugReport": return .submitBugReport(envelope.data.first ?? .emptyObject)
        case "sessionDebug": return .sessionDebug(command: try fields.string("command") ?? "")
        case "availableStream": return .availableStream(try StreamRequest(fields))
        case let name where streamNames.contains(name): return .stream(name: name, try StreamRequest(fields))
        case let name: return .unknown(name: name)
        }
    }

    /// The text frame, for clients.
    public var text: String { WCSEnvelope(message: name, data: [argument]).text }

    /// The message's name on the wire.
    public var name: String {
        switch self {
        case .connection: "connection"
        case .call: "call"
        case .answer: "answer"
        case .hangup: "hangup"
        case .hold: "hold"
        case .unhold: "unhold"
        case .transfer: "transfer"
        case .sendDtmf: "sendDtmf"
        case .sendData: "sendData"
        case .dataStatusEvent: "DataStatusEvent"
        case .pong: "pong"
        case .ping: "ping"
        case .pushLogs: "pushLogs"
        case .submitBugReport: "submitBugReport"
        case .sessionDebug: "sessionDebug"
        case .availableStream: "availableStream"
        case .stream(let name, _), .unknown(let name): name
        }
    }

    private var argument: JSONValue {
        switch self {
        case .connection(let request): request.json
        case .call(let request): request.json
        case .answer(let request): request.json
        case .hangup(let callID), .unhold(let callID): .object(["callId": .string(callID)])
        case .hold(let callID, let forTransfer):
            .members(["callId": .string(callID), "holdForTransfer": forTransfer ? .bool(true) : nil])
        case .transfer(let callID, let target): .object(["callId": .string(callID), "target": .string(target)])
        case .sendDtmf(let request): request.json
        case .sendData(let operationID, let payload): .object(["operationId": .string(operationID), "payload": payload])
        case .dataStatusEvent(let event): event.json
        case .pushLogs(let logs): .object(["logs": .string(logs)])
        case .submitBugReport(let report): report
        case .sessionDebug(let command): .object(["command": .string(command)])
        case .stream(_, let request), .availableStream(let request): request.json
        case .pong, .ping, .unknown: .null
        }
    }
}
