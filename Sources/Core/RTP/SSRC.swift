/// The random name of one stream's source (RFC 3550 8).
public struct SSRC: Hashable, Sendable {
    /// The identifier as it stands on the wire.
    public var rawValue: UInt32

    /// Takes the identifier from the wire, or a random number for a new source.
    @inlinable public init(_ rawValue: UInt32) { self.rawValue = rawValue }
}
