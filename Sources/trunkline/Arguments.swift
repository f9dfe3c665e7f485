/// The words behind a command, read once and asked by name; what nobody asked for is an error.
struct Arguments {
    /// Why the words cannot be taken.
    enum Problem: Error, CustomStringConvertible {
        case missingValue(String)
        case unknown(String)
        case missing(String)
        case notANumber(String, String)

        var description: String {
            switch self {
            case .missingValue(let option): "\(option) needs a value"
            case .unknown(let word): "unknown argument '\(word)'"
            case .missing(let option): "\(option) is required"
            case .notANumber(let option, let value): "\(option) takes a number above 0, not '\(value)'"
            }
        }
    }

    private var words: [String]

    init(_ words: some Sequence<String>) { self.words = Array(words) }

    /// Takes `--name value` out; nil if it is absent.
    mutating func value(of option: String) throws(Problem) -> String? {
        guard let index = words.firstIndex(of: option) else { return nil }
        guard index + 1 < words.count, !words[index + 1].hasPrefix("--") else { throw .missingValue(option) }
        let value = words[index + 1]
        words.removeSubrange(index...index + 1)
        return value
    }

    /// Takes `--name seconds` out as a number above zero.
    mutating func seconds(of option: String) throws(Problem) -> Double? {
        guard let text = try value(of: option) else { return nil }
        guard let number = Double(text), number > 0, number.isFinite else { throw .notANumber(option, text) }
        return number
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
