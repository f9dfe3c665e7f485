/// Turns wrapping sequence numbers into ones that only ever grow with the stream.
///
/// Each number is placed within half a turn of the highest so far, so that a wrap is silent in whatever order the packets
/// around it arrive. One subtraction per packet, however wild the jump. A number from before the first may come out negative.
public struct SequenceUnwrapper: Sendable {
    /// The highest number so far, or nil before the first. Its low 16 bits are the wire's.
    public private(set) var highest: Int64?

    /// An unwrapper that has seen nothing. The first number comes out as itself.
    public init() {}

    /// The place of `number` in the stream.
    public mutating func unwrap(_ number: SequenceNumber) -> Int64 {
        guard let reference = highest else {
            highest = Int64(number.rawValue)
            return Int64(number.rawValue)
        }
        let step = SequenceNumber(UInt16(truncatingIfNeeded: reference)).distance(to: number)
        let place = reference + Int64(step)
        if place > reference { highest = place }
        return place
    }

    /// Forgets the stream: the next number is a first one again.
    public mutating func reset() { highest = nil }
}

/// Turns wrapping timestamps into ones that only ever grow with the stream, from an origin of the caller's choice.
///
/// With an origin of 0 the values count clock units since the first packet, so that arithmetic on them cannot overflow
/// wherever the peer's own timestamps began.
public struct TimestampUnwrapper: Sendable {
    private let origin: Int64
    private var last: RTPTimestamp?
    private var lastPlace: Int64

    /// - Parameter origin: what the first timestamp comes out as.
    public init(origin: Int64 = 0) {
        self.origin = origin
        lastPlace = origin
    }

    /// The highest value so far, or nil before the first.
    public var highest: Int64? { last == nil ? nil : lastPlace }

    /// The place of `timestamp` in clock units; within half a turn of the highest so far.
    public mutating func unwrap(_ timestamp: RTPTimestamp) -> Int64 {
        guard let reference = last else {
            last = timestamp
            lastPlace = origin
            return origin
        }
        let place = lastPlace + Int64(reference.distance(to: timestamp))
        if place > lastPlace {
            last = timestamp
            lastPlace = place
        }
        return place
    }

    /// Forgets the stream: the next timestamp becomes the origin again.
    public mutating func reset() { last = nil }
}
