internal import COpus

/// A refusal of libopus: its code, its own words, and what was asked of it.
public struct OpusError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The library's code, negative (`OPUS_BAD_ARG` and so on).
    public let code: Int32
    /// What was attempted.
    public let operation: StaticString

    /// Code and words for a log.
    public var description: String { "\(operation): \(String(cString: opus_strerror(code))) (\(code))" }

    /// Errors are equal by code.
    public static func == (a: OpusError, b: OpusError) -> Bool { a.code == b.code }
    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
