/// Names one call from the first message to the last, on every face.
///
/// Clients choose the identifier of the calls they make; the gateway mints a UUID (RFC 9562, lower case) for the others.
public struct CallID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The identifier's text, at most ``maximumLength`` characters.
    public let rawValue: String

    /// Longest identifier that a client may choose.
    public static let maximumLength = 128

    /// Takes a client's identifier; nil if it is empty, longer than ``maximumLength`` or holds a control character.
    public init?(rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.count <= Self.maximumLength,
            rawValue.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self.rawValue = rawValue
    }

    /// Mints an identifier from 128 random bits.
    public init(randomBits: (UInt64, UInt64)) { rawValue = uuidText(randomBits) }

    /// The identifier's text.
    public var description: String { rawValue }
}

/// Names one signed-in client's session.
public struct SessionID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The identifier's text.
    public let rawValue: String

    /// Takes the identifier as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Mints an identifier from 128 random bits.
    public init(randomBits: (UInt64, UInt64)) { rawValue = uuidText(randomBits) }

    /// The identifier's text.
    public var description: String { rawValue }
}

/// Version 4 UUID text from 128 bits, of which six are overwritten (RFC 9562 section 5.4).
private func uuidText(_ bits: (UInt64, UInt64)) -> String {
    let high = (bits.0 & 0xFFFF_FFFF_FFFF_0FFF) | 0x4000
    let low = (bits.1 & 0x3FFF_FFFF_FFFF_FFFF) | 0x8000_0000_0000_0000
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (index, word) in [high, low].enumerated() {
        for nibble in 0..<16 {
            let position = index * 16 + nibble
            if position == 8 || position == 12 || position == 16 || position == 20 { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int((word >> UInt64(60 - 4 * nibble)) & 0xF)])
        }
    }
    return String(decoding: text, as: UTF8.self)
}
