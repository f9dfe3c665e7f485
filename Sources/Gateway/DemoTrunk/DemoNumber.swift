/// What a number of the demo trunk does. Each has a number for phones and a word for terminals.
public enum DemoNumber: String, CaseIterable, Sendable {
    /// Sends back what it hears.
    case echo
    /// Speaks once and hangs up.
    case speech
    /// Plays music until the caller hangs up.
    case music
    /// Says each key that is pressed.
    case keys
    /// Is busy.
    case busy
    /// Rings and never answers.
    case silent
    /// Plays music before it answers, then speaks.
    case early
    /// Hangs up and calls back.
    case callback

    /// The telephone number.
    public var number: String {
        switch self {
        case .echo: "100"
        case .speech: "101"
        case .music: "102"
        case .keys: "103"
        case .busy: "104"
        case .silent: "105"
        case .early: "106"
        case .callback: "107"
        }
    }

    /// The number or word that was called; nil for any other.
    public init?(called user: String) {
        guard let found = Self.allCases.first(where: { $0.number == user || $0.rawValue == user.lowercased() }) else {
            return nil
        }
        self = found
    }
}
