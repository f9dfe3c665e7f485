internal import COpus

/// One Opus decoder with mono output, whatever the packets hold.
///
/// - Threads: one owner at a time. Making it allocates; decoding does not.
public struct OpusDecoder: ~Copyable, @unchecked Sendable {  // safe: the handle has one owner and no thread of its own
    private let handle: OpaquePointer
    /// Samples a second of the output.
    public let sampleRate: Int32

    /// - Parameter sampleRate: 8 000, 12 000, 16 000, 24 000 or 48 000 Hz.
    public init(sampleRate: Int32) throws(OpusError) {
        var code: Int32 = 0
        guard let handle = opus_decoder_create(sampleRate, 1, &code), code == OPUS_OK else {
            throw OpusError(code: code, operation: "make Opus decoder")
        }
        self.handle = handle
        self.sampleRate = sampleRate
    }

    deinit { opus_decoder_destroy(handle) }

    /// Decodes one packet; a stereo packet is mixed down.
    /// - Parameter samples: room for the packet's whole duration (120 ms at most).
    /// - Returns: samples written.
    public mutating func decode(_ packet: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(OpusError) -> Int {
        // An empty payload would ask the library for concealment; to us it is a malformed packet.
        guard !packet.isEmpty else { throw OpusError(code: OPUS_INVALID_PACKET, operation: "decode") }
        let room = Int32(clamping: samples.count)
        return try run(packet, frameSize: room, fec: 0, into: &samples, "decode")
    }

    /// Rebuilds the frame before `next` from the coarse copy that `next` carries; without one, conceals.
    /// - Parameter count: samples that were lost, a multiple of 2.5 ms.
    public mutating func recover(
        from next: Span<UInt8>, count: Int, into samples: inout MutableSpan<Int16>
    ) throws(OpusError) -> Int {
        guard !next.isEmpty else { return try conceal(count: count, into: &samples) }
        return try run(next, frameSize: Int32(clamping: min(count, samples.count)), fec: 1, into: &samples, "recover")
    }

    /// Makes up for a lost packet out of what was heard before.
    /// - Parameter count: samples that were lost, a multiple of 2.5 ms.
    public mutating func conceal(count: Int, into samples: inout MutableSpan<Int16>) throws(OpusError) -> Int {
        let handle = handle
        let room = min(count, samples.count)
        let made = samples.withUnsafeMutableBufferPointer { output -> Int32 in
            guard let to = output.baseAddress else { return OPUS_BAD_ARG }
            return opus_decode(handle, nil, 0, to, Int32(clamping: room), 0)
        }
        guard made >= 0 else { throw OpusError(code: made, operation: "conceal") }
        return Int(made)
    }

    /// Forgets the stream so far, as at a new source.
    public mutating func reset() { _ = trunkline_opus_decoder_reset(handle) }

    private func run(
        _ packet: Span<UInt8>, frameSize: Int32, fec: Int32, into samples: inout MutableSpan<Int16>,
        _ operation: StaticString
    ) throws(OpusError) -> Int {
        let handle = handle
        let made = packet.withUnsafeBufferPointer { input in
            samples.withUnsafeMutableBufferPointer { output -> Int32 in
                guard let from = input.baseAddress, let to = output.baseAddress else { return OPUS_BAD_ARG }
                return opus_decode(handle, from, Int32(clamping: input.count), to, frameSize, fec)
            }
        }
        guard made >= 0 else { throw OpusError(code: made, operation: operation) }
        return Int(made)
    }
}
