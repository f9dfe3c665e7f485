internal import CSpeexDSP

/// A refusal of the resampler: the library's code and words.
public struct ResamplerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The library's code (`RESAMPLER_ERR_...`).
    public let code: Int32
    /// Code and words for a log.
    public var description: String { "resampler: \(String(cString: speex_resampler_strerror(code))) (\(code))" }
}

/// Changes the sample rate of one running mono stream. Keep one for the stream's whole life: a fresh one at each packet
/// clicks at every border (case H22).
///
/// - Threads: one owner at a time. Making it allocates; processing does not.
public struct SpeexResampler: ~Copyable, @unchecked Sendable {  // safe: the handle has one owner and no thread of its own
    private let handle: OpaquePointer
    /// Samples a second in.
    public let inputRate: Int
    /// Samples a second out.
    public let outputRate: Int

    /// How far one call got.
    public struct Progress: Sendable, Hashable {
        /// Input samples used.
        public let consumed: Int
        /// Output samples written.
        public let produced: Int
    }

    /// - Parameter quality: 0 (least CPU) to 10; 3 is meant for speech.
    public init(inputRate: Int, outputRate: Int, quality: Int32 = 3) throws(ResamplerError) {
        var code: Int32 = 0
        let made = speex_resampler_init(1, UInt32(clamping: inputRate), UInt32(clamping: outputRate), quality, &code)
        guard let made, code == 0 else { throw ResamplerError(code: code) }
        handle = made
        self.inputRate = inputRate
        self.outputRate = outputRate
    }

    deinit { speex_resampler_destroy(handle) }

    /// Drops the filter's silent start, so that the first output sample is sound at once.
    public mutating func skipZeros() { _ = speex_resampler_skip_zeros(handle) }

    /// Delay of the filter, in samples at ``outputRate``.
    public var latency: Int { Int(speex_resampler_get_output_latency(handle)) }

    /// Converts what fits: all of the input when `output` has room for its length at the new rate and one more.
    public mutating func process(_ input: Span<Int16>, into output: inout MutableSpan<Int16>) -> Progress {
        let handle = handle
        var used = UInt32(clamping: input.count)
        var made = UInt32(clamping: output.count)
        input.withUnsafeBufferPointer { from in
            output.withUnsafeMutableBufferPointer { to in
                guard let source = from.baseAddress, let target = to.baseAddress else {
                    used = 0
                    made = 0
                    return
                }
                _ = speex_resampler_process_int(handle, 0, source, &used, target, &made)
            }
        }
        return Progress(consumed: Int(used), produced: Int(made))
    }

    /// Forgets the stream so far.
    public mutating func reset() { _ = speex_resampler_reset_mem(handle) }
}
