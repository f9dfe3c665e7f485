/// The name that joins one endpoint's sources: 96 random bits as 16 base64 characters, telling nothing of anyone (RFC 7022).
public struct CanonicalName: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt32

    /// The length on the wire, in bytes.
    public static let length = 16

    /// Takes 96 random bits; make new ones for each call.
    public init(randomHigh: UInt64, randomLow: UInt32) {
        high = randomHigh
        low = randomLow
    }

    /// Draws a new name.
    public init<Generator: RandomNumberGenerator>(using generator: inout Generator) {
        self.init(randomHigh: generator.next(), randomLow: UInt32(truncatingIfNeeded: generator.next() as UInt64))
    }

    /// The name as text, for `a=ssrc:... cname:`.
    public var description: String {
        String(decoding: (0..<Self.length).map(character(at:)), as: UTF8.self)
    }

    func character(at index: Int) -> UInt8 {
        // Six bits a character, from the top; the characters 10 and on reach into the low word.
        let bit = 96 - 6 * (index + 1)
        let six: UInt64
        if bit >= 32 {
            six = high >> UInt64(bit - 32)
        } else {
            six = (high << UInt64(32 - bit)) | UInt64(low) >> UInt64(bit)
        }
        switch UInt8(truncatingIfNeeded: six & 0x3F) {
        case let value where value < 26: return UInt8(ascii: "A") + value
        case let value where value < 52: return UInt8(ascii: "a") + value - 26
        case let value where value < 62: return UInt8(ascii: "0") + value - 52
        case 62: return UInt8(ascii: "+")
        default: return UInt8(ascii: "/")
        }
    }
}
