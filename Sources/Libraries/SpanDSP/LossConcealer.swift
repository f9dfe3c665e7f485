internal import CSpanDSP

/// Makes up for lost G.711 packets by repeating the last pitch period with a fade (in the manner of G.711 Appendix I).
/// It adds no delay.
///
/// - Threads: one owner at a time. Making it allocates; the rest does not.
public struct LossConcealer: ~Copyable, @unchecked Sendable {  // safe: the state has one owner and no thread of its own
    private let state: UnsafeMutablePointer<plc_state_t>

    /// - Returns: nil when memory is short.
    public init?() {
        guard let state = plc_init(nil) else { return nil }
        self.state = state
    }

    deinit { plc_free(state) }

    /// Notes the first `count` samples at 8 kHz, which did arrive; after a gap their start is blended with what was made up.
    public mutating func receive(_ samples: inout MutableSpan<Int16>, count: Int) {
        let state = state
        samples.withUnsafeMutableBufferPointer { buffer in
            _ = plc_rx(state, buffer.baseAddress, Int32(clamping: min(count, buffer.count)))
        }
    }

    /// Fills the first `count` samples with a guess at what did not arrive, at 8 kHz. After 50 ms it is silence.
    public mutating func conceal(into samples: inout MutableSpan<Int16>, count: Int) {
        let state = state
        samples.withUnsafeMutableBufferPointer { buffer in
            _ = plc_fillin(state, buffer.baseAddress, Int32(clamping: min(count, buffer.count)))
        }
    }

    /// Forgets the stream so far, as at a new source.
    public mutating func reset() { _ = plc_init(state) }
}
