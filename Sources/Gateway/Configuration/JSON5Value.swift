/// A value of a configuration file, with the line it stands on.
struct JSON5Value: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON5Value])
        case object([Member])
    }

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSON5Value
    }

    var content: Content
    var line: Int

    /// The kind of value, in words for an error message.
    var kind: String {
        switch content {
        case .null: "null"
        case .bool: "a truth value"
        case .number: "a number"
        case .string: "a text"
        case .array: "a list"
        case .object: "a section"
        }
    }
}
