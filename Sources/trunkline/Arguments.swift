/// The words behind a command, read once and asked by name; what nobody asked for is an error.
struct Arguments {
    /// Why the words cannot be taken.
    enum Problem: Error, CustomStringConvertible {
        case missingValue(String)
        case unknown(String)
        case missing(String)
        case notSeconds(String, String)
        case notAPort(String, String)
        case unusable(option: String, value: String, takes: String)

        var description: String {
            switch self {
            case .missingValue(let option): "\(option) needs a value"
            case .unknown(let word): "unexpected '\(word)'"
            case .missing(let option): "\(option) is required"
            case .notSeconds(let option, let value): "\(option) takes seconds above 0, a day at most, not '\(value)'"
            case .notAPort(let option, let value): "\(option) takes a port, 1 to 65535, not '\(value)'"
            case .unusable(let option, let value, let takes): "\(option) takes \(takes), not '\(value)'"
            }
        }
    }

    private var words: [String]

    init(_ words: some Sequence<String>) { self.words = Array(words) }

    /// Whether help is asked for, in either spelling.
    var asksForHelp: Bool { words.contains("--help") || words.contains("-h") }

    /// Whether a word is still there.
    func has(_ word: String) -> Bool { words.contains(word) }

    /// Takes `--name value` out; nil if it is absent.
    mutating func value(of option: String) throws(Problem) -> String? {
        guard let index = words.firstIndex(of: option) else { return nil }
        guard index + 1 < words.count, !words[index + 1].hasPrefix("--") else { throw .missingValue(option) }
        let value = words[index + 1]
        words.removeSubrange(index...index + 1)
        return value
    }

    /// Takes `--name seconds` out: above zero, a day at most.
    mutating func seconds(of option: String) throws(Problem) -> Duration? {
        guard let text = try value(of: option) else { return nil }
        guard let number = Double(text), number > 0, number <= 86_400 else { throw .notSeconds(option, text) }
        return .milliseconds(Int(number * 1000))
    }

    /// Takes `--name port` out.
    mutating func port(of option: String) throws(Problem) -> UInt16? {
        guard let text = try value(of: option) else { return nil }
        guard let port = UInt16(text), port > 0 else { throw .notAPort(option, text) }
        return port
    }

    /// Takes `--name` out; false if it is absent.
    mutating func flag(_ option: String) -> Bool {
        guard let index = words.firstIndex(of: option) else { return false }
        words.remove(at: index)
        return true
    }

    /// Throws if a word is left that nobody took.
    func finish() throws(Problem) {
        if let word = words.first { throw .unknown(word) }
    }
}
