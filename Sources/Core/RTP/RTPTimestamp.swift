/// A sampling instant in units of the payload type's clock: 32 bits that wrap (RFC 3550 5.1).
public struct RTPTimestamp: Hashable, Sendable {
    /// The timestamp as it stands on the wire.
    public var rawValue: UInt32

    /// Takes the timestamp from the wire.
    @inlinable public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// How many clock units `other` lies ahead: -2^31..<2^31, the shorter way round.
    @inlinable public func distance(to other: RTPTimestamp) -> Int {
        Int(Int32(truncatingIfNeeded: Int64(other.rawValue) - Int64(rawValue)))
    }

    /// The timestamp `units` on (or back, if negative), wrapping.
    @inlinable public func advanced(by units: Int) -> RTPTimestamp {
        RTPTimestamp(UInt32(truncatingIfNeeded: Int(rawValue) &+ units))
    }
}
