/// Why a text is no message of the protocol. It names keys and offsets but never repeats what the peer sent.
public enum WCSParseError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The text is longer than ``WCSEnvelope/maximumBytes``.
    case tooLarge(bytes: Int)
    /// The text is no JSON; `offset` counts bytes.
    case notJSON(offset: Int, what: String)
    /// The nesting is deeper than 64.
    case tooDeep
    /// The text is JSON, but no object with a `message` name.
    case notAnEnvelope
    /// The message lacks a key that it cannot do without.
    case missing(message: String, key: String)
    /// The key's value is of a type, or has a value, that cannot be used.
    case badValue(message: String, key: String)

    /// One sentence.
    public var description: String {
        switch self {
        case .tooLarge(let bytes): "the message has \(bytes) bytes, more than \(WCSEnvelope.maximumBytes)"
        case .notJSON(let offset, let what): "the message is not JSON: \(what) at byte \(offset)"
        case .tooDeep: "the message is nested too deeply"
        case .notAnEnvelope: "the message has no name"
        case .missing(let message, let key): "'\(message)' lacks '\(key)'"
        case .badValue(let message, let key): "'\(message)' has an unusable '\(key)'"
        }
    }
}
