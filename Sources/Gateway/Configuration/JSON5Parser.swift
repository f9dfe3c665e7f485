/// Why a text is not JSON5, and where.
struct JSON5Error: Error, Equatable {
    var message: String
    var line: Int
    var column: Int
}

/// Reads JSON5 (the JSON5 1.0 grammar: comments, bare keys, single quotes, trailing commas, hexadecimal numbers).
///
/// Foundation's decoder reads JSON5 too, but says no line for a syntax error and takes a key that stands twice.
struct JSON5Parser {
    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var line = 1
    private var lineStart = 0

    /// Deepest nesting; a configuration needs four levels.
    private static let deepest = 32

    private init(_ text: String) { scalars = Array(text.unicodeScalars) }

    static func parse(_ text: String) throws(JSON5Error) -> JSON5Value {
        var parser = JSON5Parser(text)
        if parser.peek == "\u{FEFF}" { parser.advance() }
        try parser.skipBlanks()
        let value = try parser.value(depth: 0)
        try parser.skipBlanks()
        if let extra = parser.peek { throw parser.error("'\(extra)' stands after the end of the settings") }
        return value
    }
}

// MARK: - Values

extension JSON5Parser {
    private mutating func value(depth: Int) throws(JSON5Error) -> JSON5Value {
        guard depth < Self.deepest else { throw error("nested too deeply") }
        let line = line
        let content: JSON5Value.Content
        switch peek {
        case nil: throw error("the text ends where a value should stand")
        case "{": content = .object(try members(depth: depth))
        case "[": content = .array(try elements(depth: depth))
        case "\"", "'": content = .string(try string())
        case let scalar? where Self.startsNumber(scalar): content = .number(try number())
        case _: content = try word()
        }
        return JSON5Value(content: content, line: line)
    }

    private mutating func members(depth: Int) throws(JSON5Error) -> [JSON5Value.Member] {
        var members: [JSON5Value.Member] = []
        advance()
        while true {
            try skipBlanks()
            if peek == "}" {
                advance()
                return members
            }
            let name = try key()
            guard !members.contains(where: { $0.name == name }) else { throw error("the key '\(name)' stands twice") }
            try skipBlanks()
            guard peek == ":" else { throw expected("':' after the key '\(name)'") }
            advance()
            try skipBlanks()
            members.append(.init(name: name, value: try value(depth: depth + 1)))
            try separator(before: "}")
        }
    }

    private mutating func elements(depth: Int) throws(JSON5Error) -> [JSON5Value] {
        var elements: [JSON5Value] = []
        advance()
        while true {
            try skipBlanks()
            if peek == "]" {
                advance()
                return elements
            }
            elements.append(try value(depth: depth + 1))
            try separator(before: "]")
        }
    }

    private mutating func separator(before end: Unicode.Scalar) throws(JSON5Error) {
        try skipBlanks()
        if peek == "," {
            advance()
        } else if peek != end {
            throw expected("',' or '\(end)'")
        }
    }

    private mutating func key() throws(JSON5Error) -> String {
        if peek == "\"" || peek == "'" { return try string() }
        var name = String.UnicodeScalarView()
        while let scalar = peek, Self.isNameScalar(scalar) {
            name.append(scalar)
            advance()
        }
        guard !name.isEmpty else { throw expected("a key") }
        return String(name)
    }

    private mutating func word() throws(JSON5Error) -> JSON5Value.Content {
        let begin = self
        var word = String.UnicodeScalarView()
        while let scalar = peek, Self.isNameScalar(scalar) {
            word.append(scalar)
            advance()
        }
        switch String(word) {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default: throw begin.expected("a value")
        }
    }
}

// MARK: - Texts and numbers

extension JSON5Parser {
    private mutating func string() throws(JSON5Error) -> String {
        guard let quote = peek else { throw expected("a text") }
        advance()
        var text = String.UnicodeScalarView()
        while let scalar = peek, scalar != quote {
            if scalar == "\n" { throw error("a text ends with its line; its closing \(quote) is missing") }
            advance()
            if scalar == "\\" {
                if let escaped = try escape() { text.append(escaped) }
            } else {
                text.append(scalar)
            }
        }
        guard peek == quote else { throw error("the text ends inside a quoted text") }
        advance()
        return String(text)
    }

    private mutating func escape() throws(JSON5Error) -> Unicode.Scalar? {
        guard let scalar = peek else { throw error("the text ends inside an escape") }
        advance()
        switch scalar {
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "v": return "\u{B}"
        case "0": return "\0"
        case "x": return try hexScalar(digits: 2)
        case "u": return try hexScalar(digits: 4)
        case "\n": return nil  // an escaped line end continues the text
        case "1"..."9": throw error("'\\\(scalar)' is no escape")
        default: return scalar
        }
    }

    private mutating func hexScalar(digits: Int) throws(JSON5Error) -> Unicode.Scalar {
        var code: UInt32 = 0
        for _ in 0..<digits {
            guard let scalar = peek, let digit = Character(scalar).hexDigitValue else {
                throw expected("a hexadecimal digit")
            }
            code = code * 16 + UInt32(digit)
            advance()
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair is no character") }
        return scalar
    }

    private mutating func number() throws(JSON5Error) -> Double {
        let begin = self
        var text = ""
        while let scalar = peek, Self.isNameScalar(scalar) || "+-.".unicodeScalars.contains(scalar) {
            text.unicodeScalars.append(scalar)
            advance()
        }
        let isNegative = text.hasPrefix("-")
        let unsigned = text.hasPrefix("-") || text.hasPrefix("+") ? String(text.dropFirst()) : text
        let magnitude: Double?
        if unsigned.lowercased().hasPrefix("0x") {
            magnitude = UInt64(unsigned.dropFirst(2), radix: 16).map { Double($0) }
        } else if unsigned.first?.isNumber == true || unsigned.first == "." {
            magnitude = Double(unsigned.first == "." ? "0" + unsigned : unsigned.last == "." ? unsigned + "0" : unsigned)
        } else {
            magnitude = nil
        }
        guard let magnitude, magnitude.isFinite else { throw begin.error("'\(text)' is not a number") }
        return isNegative ? -magnitude : magnitude
    }

    private static func startsNumber(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar) || "+-.".unicodeScalars.contains(scalar)
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "$" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }
}

// MARK: - Blanks and places

extension JSON5Parser {
    private var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func advance() {
        if peek == "\n" {
            line += 1
            lineStart = position + 1
        }
        position += 1
    }

    private mutating func skipBlanks() throws(JSON5Error) {
        while let scalar = peek {
            if scalar == "/" {
                try skipComment()
            } else if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                advance()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(JSON5Error) {
        let begin = self
        advance()
        switch peek {
        case "/":
            while let scalar = peek, scalar != "\n" { advance() }
        case "*":
            advance()
            while let scalar = peek {
                advance()
                if scalar == "*", peek == "/" {
                    advance()
                    return
                }
            }
            throw begin.error("a comment does not end")
        default: throw begin.error("'/' stands alone")
        }
    }

    private func error(_ message: String) -> JSON5Error {
        JSON5Error(message: message, line: line, column: position - lineStart + 1)
    }

    private func expected(_ what: String) -> JSON5Error {
        guard let scalar = peek else { return error("the text ends where \(what) should stand") }
        return error("'\(scalar)' stands where \(what) should stand")
    }
}
