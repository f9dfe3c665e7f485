/// A key pressed, in the body of an INFO request (DTM-20, case H28).
public struct InfoDigit: Sendable, Hashable {
    /// One of 0-9, *, #, A-D, or `!` for a hook flash.
    public var key: Character
    /// How long it was pressed, in ms; `nil` when unsaid.
    public var duration: Int?

    /// A key of a length.
    public init(key: Character, duration: Int? = nil) {
        self.key = key
        self.duration = duration
    }

    /// The body as `application/dtmf-relay`.
    public var relayBody: String { "Signal=\(key)\r\nDuration=\(duration ?? 160)\r\n" }

    /// Reads `application/dtmf-relay` and `application/dtmf`; of several keys the first counts.
    ///
    /// - Returns: `nil` for another type or a body without a key.
    init?(contentType: String?, body: String?) {
        guard let contentType, let body else { return nil }
        switch contentType {
        case "application/dtmf":
            guard let key = Self.key(body) else { return nil }
            self.init(key: key)
        case "application/dtmf-relay":
            var fields: [String: String] = [:]
            for line in body.split(whereSeparator: { $0.isNewline }) {
                let halves = line.split(separator: "=", maxSplits: 1)
                guard halves.count == 2 else { continue }
                fields[halves[0].trimmingBlanks().lowercased()] = halves[1].trimmingBlanks()
            }
            guard let signal = fields["signal"], let key = Self.key(signal) else { return nil }
            let duration = fields["duration"].flatMap { Int($0) }
            self.init(key: key, duration: duration.flatMap { (1...60000).contains($0) ? $0 : nil })
        default: return nil
        }
    }

    /// A key by its sign, or by its event number as many phones write it: 10 is *, 11 is #, 12...15 are A...D.
    private static func key(_ text: String) -> Character? {
        let word = text.trimmingBlanks().uppercased()
        if word.utf8.count == 2, let number = Int(word), (10...16).contains(number) {
            return Array("*#ABCD!")[number - 10]
        }
        guard let first = word.first, "0123456789*#ABCD!".contains(first) else { return nil }
        return first
    }
}
