/// The frame of every message, both ways: a name and positional arguments (wcs.md 1.2).
public struct WCSEnvelope: Sendable, Equatable {
    /// The greatest text that is read. Descriptions take 1-5 kB, pushed logs far more.
    public static let maximumBytes = 1 << 20

    /// The message's name.
    public var message: String
    /// The arguments. Clients leave `data` out, or send null, `[]` or `[null]` where there are none; all give an empty array.
    public var data: [JSONValue]

    /// An envelope of a name and arguments.
    public init(message: String, data: [JSONValue]) {
        self.message = message
        self.data = data
    }

    /// Reads one text frame.
    public static func parse(_ text: String) throws(WCSParseError) -> WCSEnvelope {
        let size = text.utf8.count
        guard size <= maximumBytes else { throw .tooLarge(bytes: size) }
        guard let members = try JSONReader.parse(text).members, case .string(let name)? = members["message"], !name.isEmpty
        else { throw .notAnEnvelope }
        switch members["data"] {
        case .array(let arguments)?:
            return WCSEnvelope(message: name, data: arguments == [.null] ? [] : arguments)
        case nil, .null?: return WCSEnvelope(message: name, data: [])
        case let single?: return WCSEnvelope(message: name, data: [single])
        }
    }

    /// The text frame. `data` is always an array: the Web SDK reads its element 0 before anything else.
    public var text: String {
        JSONValue.object(["message": .string(message), "data": .array(data)]).text
    }

    /// The first argument's members, or none.
    var fields: Fields { Fields(message: message, members: data.first?.members ?? [:]) }
}

/// Reads the members of a message's argument liberally (wcs.md 1.3): scalars may come as strings, numbers or booleans, and
/// null is as good as absent.
struct Fields {
    let message: String
    let members: [String: JSONValue]

    func bad(_ key: String) -> WCSParseError { .badValue(message: message, key: key) }

    func value(_ key: String) -> JSONValue? {
        guard let value = members[key], value != .null else { return nil }
        return value
    }

    func string(_ key: String) throws(WCSParseError) -> String? {
        switch value(key) {
        case nil: nil
        case .string(let text)?: text
        case .number(let number)?: JSONValue.numberText(number)
        case .bool(let flag)?: flag ? "true" : "false"
        default: throw bad(key)
        }
    }

    /// The string, or nil if it is absent or empty.
    func filledString(_ key: String) throws(WCSParseError) -> String? {
        guard let text = try string(key), !text.isEmpty else { return nil }
        return text
    }

    func filledString(_ key: String, or other: String) throws(WCSParseError) -> String? {
        if let text = try filledString(key) { return text }
        return try filledString(other)
    }

    func required(_ key: String) throws(WCSParseError) -> String {
        guard let text = try filledString(key) else { throw .missing(message: message, key: key) }
        return text
    }

    /// A call's identifier. It becomes the key of our tables and part of log lines, so it must be short and printable.
    func callID(_ key: String = "callId") throws(WCSParseError) -> String {
        let text = try required(key)
        guard text.utf8.count <= 128, text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F }) else {
            throw bad(key)
        }
        return text
    }

    func bool(_ key: String) throws(WCSParseError) -> Bool? {
        switch value(key) {
        case nil: return nil
        case .bool(let flag)?: return flag
        case .number(let number)?: return number != 0
        case .string(let text)?:
            switch text.lowercased() {
            case "true", "1", "yes": return true
            case "false", "0", "no": return false
            case "": return nil
            default: throw bad(key)
            }
        default: throw bad(key)
        }
    }

    func integer(_ key: String) throws(WCSParseError) -> Int? {
        switch value(key) {
        case nil: return nil
        case .number(let number)?:
            guard let whole = Int(exactly: number) else { throw bad(key) }
            return whole
        case .string(let text)?:
            let digits = String(text.filter { $0 != " " })
            if digits.isEmpty { return nil }
            guard let whole = Int(digits) else { throw bad(key) }
            return whole
        default: throw bad(key)
        }
    }

    func port(_ key: String) throws(WCSParseError) -> UInt16? {
        guard let number = try integer(key) else { return nil }
        guard let port = UInt16(exactly: number), port > 0 else { throw bad(key) }
        return port
    }

    /// An array of strings; a single string counts as one element, and elements that are no scalars are left out.
    func strings(_ key: String) -> [String] {
        switch value(key) {
        case .array(let elements)?: elements.compactMap(\.scalarText)
        case let single?: single.scalarText.map { [$0] } ?? []
        case nil: []
        }
    }

    /// An object of strings; members that are no scalars are left out.
    func stringMap(_ key: String) -> [String: String] {
        value(key)?.members?.compactMapValues(\.scalarText) ?? [:]
    }

    /// An object, kept as it came; anything else gives the empty object.
    func object(_ key: String) -> JSONValue {
        guard let value = value(key), value.members != nil else { return .emptyObject }
        return value
    }
}

extension JSONValue {
    /// A scalar as text; nil for null, arrays and objects.
    var scalarText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): Self.numberText(number)
        case .bool(let flag): flag ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// An object of strings.
    static func stringMap(_ map: [String: String]) -> JSONValue { .object(map.mapValues { .string($0) }) }

    /// An object of the members that are given; those that are nil are left out, never null.
    static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
        var answer: [String: JSONValue] = [:]
        for (key, value) in members {
            if let value { answer[key] = value }
        }
        return .object(answer)
    }

    static func optional(_ text: String?) -> JSONValue? { text.map { .string($0) } }
}
