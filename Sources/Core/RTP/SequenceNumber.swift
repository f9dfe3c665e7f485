/// A packet's place in its stream: 16 bits that wrap (RFC 3550 5.1).
public struct SequenceNumber: Hashable, Sendable {
    /// The number as it stands on the wire.
    public var rawValue: UInt16

    /// Takes the number from the wire.
    @inlinable public init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// How many packets `other` is ahead of this one: -32768...32767, the shorter way round.
    @inlinable public func distance(to other: SequenceNumber) -> Int {
        Int(Int16(truncatingIfNeeded: Int(other.rawValue) - Int(rawValue)))
    }

    /// The number `count` packets on (or back, if negative), wrapping.
    @inlinable public func advanced(by count: Int) -> SequenceNumber {
        SequenceNumber(UInt16(truncatingIfNeeded: Int(rawValue) &+ count))
    }

    /// The number of the packet after this one.
    @inlinable public var next: SequenceNumber { SequenceNumber(rawValue &+ 1) }
}
