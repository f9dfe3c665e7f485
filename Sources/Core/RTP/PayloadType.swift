/// The number that names a codec in the header and on an m-line: 0...127 (RFC 3551 6).
public struct PayloadType: Hashable, Sendable {
    /// The number, 0...127.
    public var rawValue: UInt8

    /// Takes the low seven bits of `rawValue`; the eighth is the marker's.
    @inlinable public init(_ rawValue: UInt8) { self.rawValue = rawValue & 0x7F }

    /// G.711 mu-law at 8000 Hz.
    public static let pcmu = PayloadType(0)
    /// G.711 A-law at 8000 Hz.
    public static let pcma = PayloadType(8)
    /// G.722: 16 kHz sound on a clock of 8000 Hz.
    public static let g722 = PayloadType(9)
    /// Comfort noise at 8000 Hz (RFC 3389).
    public static let comfortNoise = PayloadType(13)

    /// Whether the number's meaning comes from an rtpmap only (96...127).
    @inlinable public var isDynamic: Bool { rawValue >= 96 }
}
