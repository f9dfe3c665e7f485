/// Reads one JSON text (RFC 8259). It is total: any bytes give a value or an error, in time proportional to their number and
/// with bounded depth. (Foundation's decoder would take seconds over a hostile megabyte, on the loop that all sessions share.)
struct JSONReader {
    /// Deeper nesting than any client needs is refused, so that recursion cannot exhaust the stack.
    static let maximumDepth = 64

    private let bytes: [UInt8]
    private var position = 0

    static func parse(_ text: String) throws(WCSParseError) -> JSONValue {
        var reader = JSONReader(bytes: Array(text.utf8))
        let value = try reader.value(depth: 0)
        reader.skipBlanks()
        guard reader.position == reader.bytes.count else { throw reader.unexpected("text after the end") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func unexpected(_ what: String) -> WCSParseError { .notJSON(offset: position, what: what) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(WCSParseError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"): return try number()
        case let byte? where isDigit(byte): return try number()
        case nil: throw unexpected("the end")
        default: throw unexpected("a character that begins no value")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(WCSParseError) -> JSONValue {
        let length = word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer { expected in
            position + length <= bytes.count && bytes[position..<position + length].elementsEqual(expected)
        }
        guard matches else { throw unexpected("an unknown word") }
        position += length
        return value
    }

    private mutating func object(depth: Int) throws(WCSParseError) -> JSONValue {
        position += 1
        var members: [String: JSONValue] = [:]
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw unexpected("no key") }
            let key = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw unexpected("no colon") }
            members[key] = try value(depth: depth + 1)
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw unexpected("neither comma nor brace") }
        }
    }

    private mutating func array(depth: Int) throws(WCSParseError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value(depth: depth + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw unexpected("neither comma nor bracket") }
        }
    }

    private mutating func number() throws(WCSParseError) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if take(UInt8(ascii: "0")) {
            if let byte = next, isDigit(byte) { throw unexpected("a leading zero") }
        } else {
            try digits()
        }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)), value.isFinite else {
            throw unexpected("a number out of range")
        }
        return .number(value)
    }

    private mutating func digits() throws(WCSParseError) {
        let start = position
        while let byte = next, isDigit(byte) { position += 1 }
        guard position > start else { throw unexpected("no digit") }
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func string() throws(WCSParseError) -> String {
        position += 1
        var out: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: out, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &out)
            case 0..<0x20: throw unexpected("a control character in a string")
            default: out.append(byte)
            }
        }
        throw unexpected("the end within a string")
    }

    private mutating func escape(into out: inout [UInt8]) throws(WCSParseError) {
        guard let byte = next else { throw unexpected("the end within an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"): out.append(contentsOf: Array(String(try escapedScalar()).utf8))
        default: throw unexpected("an unknown escape")
        }
    }

    /// A `\u` escape, and the second half of a surrogate pair. JavaScript strings may hold lone halves; these become U+FFFD.
    private mutating func escapedScalar() throws(WCSParseError) -> Unicode.Scalar {
        let unit = try hexadecimal()
        if (0xD800..<0xDC00).contains(unit), position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u")
        {
            let mark = position
            position += 2
            let low = try hexadecimal()
            if (0xDC00..<0xE000).contains(low) {
                return Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)) ?? "\u{FFFD}"
            }
            position = mark
        }
        return Unicode.Scalar(unit) ?? "\u{FFFD}"
    }

    private mutating func hexadecimal() throws(WCSParseError) -> UInt32 {
        guard position + 4 <= bytes.count else { throw unexpected("the end within an escape") }
        var value: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw unexpected("no hexadecimal digit")
            }
            value = value << 4 | UInt32(digit)
        }
        position += 4
        return value
    }
}
