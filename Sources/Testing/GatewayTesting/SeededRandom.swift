/// A source of randomness that begins again from its seed: a failed run can be had once more.
///
/// The seed comes from the environment variable `TEST_SEED` if that is set, else it is drawn; either way it is printed.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    /// What it began from.
    public let seed: UInt64
    private var state: UInt64

    /// Begins from a given seed.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Begins from the environment's seed or a drawn one, and prints it under the test's name.
    public init(printedFor name: String) {
        let given = ProcessEnvironment.value(of: "TEST_SEED").flatMap { UInt64($0) }
        self.init(seed: given ?? UInt64.random(in: 1...UInt64.max))
        print("\(name): TEST_SEED=\(seed)")
    }

    // A counter of odd step, its bits mixed by two multiplications (splitmix64).
    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Evenly distributed over 0..<1.
    public mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

    /// Random bytes of a random length up to `maximum`.
    public mutating func bytes(upTo maximum: Int) -> [UInt8] {
        (0..<Int.random(in: 0...maximum, using: &self)).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// The bytes with one to four bits turned over and, now and then, the end cut off.
    public mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var result = bytes
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            result[Int.random(in: 0..<result.count, using: &self)] ^= 1 << UInt8.random(in: 0...7, using: &self)
        }
        if Int.random(in: 0..<4, using: &self) == 0 { result.removeLast(Int.random(in: 0...result.count, using: &self)) }
        return result
    }
}
