public import Opus

/// How keys are sent.
public struct KeySettings: Sendable, Hashable {
    /// Shorter keys are lengthened to this (case H29).
    public var minimumMilliseconds: Int
    /// Silence between two keys.
    public var gapMilliseconds: Int

    /// The defaults are safe for old equipment.
    public init(minimumMilliseconds: Int = 80, gapMilliseconds: Int = 60) {
        self.minimumMilliseconds = minimumMilliseconds
        self.gapMilliseconds = gapMilliseconds
    }
}

/// What a bridge is made with; none of it changes during the call.
public struct BridgeConfiguration: Sendable {
    /// When rates are matched by the resampler.
    public var resampler: ResamplerUse
    /// The encoder towards the client.
    public var opus: OpusEncoderSettings
    /// The buffer for the client's packets.
    public var jitter: JitterSettings
    /// Keys towards the trunk and the client.
    public var keys: KeySettings
    /// Whose packets the trunk leg takes.
    public var trunkSource: TrunkSourceRule
    /// Unix time at `MediaTime(nanoseconds: 0)`, in nanoseconds: what sender reports are stamped by.
    public var wallClockOffset: Int64
    /// Source of SSRCs, sequence and timestamp starts and report times. Random but for tests.
    public var seed: UInt64

    /// The defaults are the cheapest that meet the figures of the design.
    public init(
        resampler: ResamplerUse = .whenNeeded, opus: OpusEncoderSettings = OpusEncoderSettings(),
        jitter: JitterSettings = JitterSettings(), keys: KeySettings = KeySettings(), trunkSource: TrunkSourceRule = .exact,
        wallClockOffset: Int64 = 0, seed: UInt64 = .random(in: .min ... .max)
    ) {
        self.resampler = resampler
        self.opus = opus
        self.jitter = jitter
        self.keys = keys
        self.trunkSource = trunkSource
        self.wallClockOffset = wallClockOffset
        self.seed = seed
    }
}

/// What one leg is given to hear.
public enum MediaFlow: UInt8, Sendable, Hashable {
    /// What the other leg says.
    case audio
    /// Packets of silence: keeps NAT and far ends content while held.
    case silence
    /// No packets at all: `inactive`, `sendonly` of the peer, or early media one way.
    case nothing
}
