/// Reads the keys of one section, remembers which were asked for, and refuses the rest.
///
/// A class, so that a section that is read in several steps keeps one memory.
final class SectionReader {
    private let file: String
    private let path: String
    private let line: Int?
    private let members: [JSON5Value.Member]
    private var asked: Set<String> = []
    private let environment: [String: String]
    /// Hears each key path that the schema knows; tests compare them with the commented sample.
    private let onKnownKey: ((String) -> Void)?

    init(
        root: JSON5Value, file: String, environment: [String: String], onKnownKey: ((String) -> Void)? = nil
    ) throws(ConfigurationError) {
        guard case .object(let members) = root.content else {
            throw ConfigurationError(
                file: file, place: .line(root.line, column: 1), message: "the settings must stand in { }")
        }
        self.file = file
        path = ""
        line = root.line
        self.members = members
        self.environment = environment
        self.onKnownKey = onKnownKey
    }

    private init(parent: SectionReader, path: String, line: Int?, members: [JSON5Value.Member]) {
        file = parent.file
        self.path = path
        self.line = line
        self.members = members
        environment = parent.environment
        onKnownKey = parent.onKnownKey
    }

    /// The section under a key, empty if it is absent.
    func section(_ key: String) throws(ConfigurationError) -> SectionReader {
        guard let value = take(key) else { return SectionReader(parent: self, path: full(key), line: nil, members: []) }
        guard case .object(let members) = value.content else { throw wrongKind(key, value, "a section in { }") }
        return SectionReader(parent: self, path: full(key), line: value.line, members: members)
    }

    func string(_ key: String, default fallback: String) throws(ConfigurationError) -> String {
        try optionalString(key) ?? fallback
    }

    /// A text; `env:NAME` takes it from the environment, so that a file need hold no secret.
    func optionalString(_ key: String) throws(ConfigurationError) -> String? {
        guard let value = take(key) else { return nil }
        if case .null = value.content { return nil }
        guard case .string(let text) = value.content else { throw wrongKind(key, value, "a text") }
        guard text.hasPrefix("env:") else { return text }
        let name = String(text.dropFirst(4))
        guard let found = environment[name] else {
            throw error(key, value.line, "the environment has no variable '\(name)'")
        }
        return found
    }

    func bool(_ key: String, default fallback: Bool) throws(ConfigurationError) -> Bool {
        guard let value = take(key) else { return fallback }
        guard case .bool(let truth) = value.content else { throw wrongKind(key, value, "true or false") }
        return truth
    }

    func integer(_ key: String, default fallback: Int, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
        guard let value = take(key) else { return fallback }
        guard case .number(let number) = value.content, let whole = Int(exactly: number) else {
            throw wrongKind(key, value, "a whole number")
        }
        guard range.contains(whole) else {
            throw error(key, value.line, "\(whole) is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return whole
    }

    func port(_ key: String, default fallback: UInt16) throws(ConfigurationError) -> UInt16 {
        UInt16(try integer(key, default: Int(fallback), in: 0...65535))
    }

    func duration(_ key: String, default seconds: Int, in range: ClosedRange<Int>) throws(ConfigurationError) -> Duration {
        .seconds(try integer(key, default: seconds, in: range))
    }

    /// One of a few words.
    func word<Word: RawRepresentable & CaseIterable>(
        _ key: String, default fallback: Word
    ) throws(ConfigurationError) -> Word where Word.RawValue == String {
        guard let value = take(key) else { return fallback }
        let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        guard case .string(let text) = value.content else { throw wrongKind(key, value, "one of \(words)") }
        guard let word = Word(rawValue: text) else {
            throw error(key, value.line, "takes one of \(words), not \"\(text)\"")
        }
        return word
    }

    /// A list of a few words, each once.
    func words<Word: RawRepresentable & CaseIterable & Equatable>(
        _ key: String, default fallback: [Word]
    ) throws(ConfigurationError) -> [Word] where Word.RawValue == String {
        guard let (texts, line) = try list(key) else { return fallback }
        var words: [Word] = []
        for text in texts {
            guard let word = Word(rawValue: text), !words.contains(word) else {
                let all = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
                throw error(key, line, "'\(text)' is not one of \(all), each once")
            }
            words.append(word)
        }
        guard !words.isEmpty else { throw error(key, line, "the list is empty") }
        return words
    }

    /// A list of texts; nil if the key is absent or reads "auto".
    func strings(_ key: String) throws(ConfigurationError) -> [String]? { try list(key)?.texts }

    /// A range of UDP ports such as "40000-49999".
    func portRange(_ key: String, default fallback: ClosedRange<UInt16>) throws(ConfigurationError) -> ClosedRange<UInt16> {
        guard let value = take(key) else { return fallback }
        guard case .string(let text) = value.content else { throw wrongKind(key, value, "a range such as \"40000-49999\"") }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt16($0) }
        guard ends.count == 2, let first = ends[0], let last = ends[1], first >= 1024, first < last else {
            throw error(key, value.line, "'\(text)' is not a range of ports above 1023 such as \"40000-49999\"")
        }
        return first...last
    }

    /// A host name or an address with an optional port; nil if the key is absent.
    func optionalHostAndPort(_ key: String) throws(ConfigurationError) -> String? {
        guard let text = try optionalString(key) else { return nil }
        guard Self.isHostAndPort(text) else {
            throw error(key, "takes a host or an address, with a port if it is not 5060, not \"\(text)\"")
        }
        return text
    }

    private static func isHostAndPort(_ text: String) -> Bool {
        let isPort = { (text: Substring) -> Bool in UInt16(text).map { $0 > 0 } ?? false }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            return rest.isEmpty || rest.hasPrefix(":") && isPort(rest.dropFirst())
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // More than one colon outside brackets makes a bare IPv6 address.
        if parts.count > 2 { return parts.allSatisfy { $0.allSatisfy { $0.isHexDigit || $0 == "." } } }
        guard let host = parts.first, !host.isEmpty, parts.count == 1 || isPort(parts[1]) else { return false }
        return !host.contains { $0.isWhitespace || "/@;<>[]\"".contains($0) }
    }

    /// An error about a key of this section, for rules that the reader does not know.
    func error(_ key: String, _ message: String) -> ConfigurationError {
        error(key, members.first { $0.name == key }?.value.line, message)
    }

    /// Refuses every key that nobody asked for.
    func finish() throws(ConfigurationError) {
        for member in members where !asked.contains(member.name) {
            let known = asked.sorted().joined(separator: ", ")
            throw error(member.name, member.value.line, "unknown key; this section knows \(known)")
        }
    }

    private func list(_ key: String) throws(ConfigurationError) -> (texts: [String], line: Int)? {
        guard let value = take(key) else { return nil }
        if case .string("auto") = value.content { return nil }
        guard case .array(let elements) = value.content else { throw wrongKind(key, value, "a list of texts") }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element.content else { throw wrongKind(key, element, "a list of texts") }
            texts.append(text)
        }
        return (texts, value.line)
    }

    private func take(_ key: String) -> JSON5Value? {
        asked.insert(key)
        onKnownKey?(full(key))
        return members.first { $0.name == key }?.value
    }

    private func full(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private func error(_ key: String, _ line: Int?, _ message: String) -> ConfigurationError {
        ConfigurationError(file: file, place: .key(full(key), line: line), message: message)
    }

    private func wrongKind(_ key: String, _ value: JSON5Value, _ wanted: String) -> ConfigurationError {
        error(key, value.line, "takes \(wanted), not \(value.kind)")
    }
}
