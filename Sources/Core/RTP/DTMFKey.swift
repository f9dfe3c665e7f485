/// A key of the telephone: event codes 0...15, and 16 for the hook flash (RFC 4733 3.2).
public struct DTMFKey: Hashable, Sendable, CustomStringConvertible {
    /// The event code, 0...16.
    public let event: UInt8

    /// The key of an event code, or nil for events that are no keys.
    public init?(event: UInt8) {
        guard event <= 16 else { return nil }
        self.event = event
    }

    /// The key of a character: `0`-`9`, `*`, `#`, `A`-`D` in either case, `!` for the hook flash.
    public init?(_ character: Character) {
        switch character {
        case "0"..."9":
            guard let digit = character.wholeNumberValue else { return nil }
            event = UInt8(digit)
        case "*": event = 10
        case "#": event = 11
        case "A", "a": event = 12
        case "B", "b": event = 13
        case "C", "c": event = 14
        case "D", "d": event = 15
        case "!": event = 16
        default: return nil
        }
    }

    /// The key's character.
    public var character: Character {
        switch event {
        case 0...9: return Character(Unicode.Scalar(UInt8(ascii: "0") + event))
        case 10: return "*"
        case 11: return "#"
        case 12...15: return Character(Unicode.Scalar(UInt8(ascii: "A") + event - 12))
        default: return "!"
        }
    }

    /// The key's character as text.
    public var description: String { String(character) }
}
