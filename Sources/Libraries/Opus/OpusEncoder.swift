internal import COpus

/// How an encoder trades quality, bits and CPU. Every value may be changed while the stream runs.
public struct OpusEncoderSettings: Sendable, Hashable {
    /// 0 (least CPU) to 10.
    public var complexity: Int32
    /// Bits a second, 6 000 to 510 000.
    public var bitrate: Int32
    /// Whether each packet carries a coarse copy of the one before (RFC 6716, 2.1.7).
    public var inbandFEC: Bool
    /// The loss that FEC is tuned for, 0 to 100 percent. FEC stays off at 0.
    public var expectedLossPercent: Int32
    /// Whether silence may be sent as a packet every 400 ms (RFC 7587, 3.1.3).
    public var discontinuous: Bool

    /// The defaults are those measured best for telephone speech at 8 kHz.
    public init(
        complexity: Int32 = 1, bitrate: Int32 = 24_000, inbandFEC: Bool = true, expectedLossPercent: Int32 = 5,
        discontinuous: Bool = false
    ) {
        self.complexity = complexity
        self.bitrate = bitrate
        self.inbandFEC = inbandFEC
        self.expectedLossPercent = expectedLossPercent
        self.discontinuous = discontinuous
    }
}

/// One mono Opus encoder for speech.
///
/// - Threads: one owner at a time. Making it allocates; encoding does not.
public struct OpusEncoder: ~Copyable, @unchecked Sendable {  // safe: the handle has one owner and no thread of its own
    private let handle: OpaquePointer
    /// Samples a second of the input.
    public let sampleRate: Int32

    /// - Parameter sampleRate: 8 000, 12 000, 16 000, 24 000 or 48 000 Hz.
    public init(sampleRate: Int32, settings: OpusEncoderSettings = OpusEncoderSettings()) throws(OpusError) {
        var code: Int32 = 0
        guard let handle = opus_encoder_create(sampleRate, 1, OPUS_APPLICATION_VOIP, &code), code == OPUS_OK else {
            throw OpusError(code: code, operation: "make Opus encoder")
        }
        do {
            try check(trunkline_opus_set_voice(handle), "set signal type")
            try configure(handle, settings)
        } catch {
            opus_encoder_destroy(handle)
            throw error
        }
        self.handle = handle
        self.sampleRate = sampleRate
    }

    deinit { opus_encoder_destroy(handle) }

    /// Takes up new settings from the next packet on.
    public mutating func apply(_ settings: OpusEncoderSettings) throws(OpusError) { try configure(handle, settings) }

    /// Tunes FEC to the loss that the peer reports.
    public mutating func setExpectedLoss(percent: Int32) throws(OpusError) {
        try check(trunkline_opus_set_packet_loss(handle, max(0, min(100, percent))), "set expected loss")
    }

    /// Encodes one frame of 2.5, 5, 10, 20, 40 or 60 ms.
    /// - Parameter offset: where in `packet` the first byte goes, as behind a header.
    /// - Returns: the packet's length in bytes; at most 2 means that it need not be sent when DTX is on.
    public mutating func encode(
        _ samples: Span<Int16>, into packet: inout MutableSpan<UInt8>, at offset: Int = 0
    ) throws(OpusError) -> Int {
        let handle = handle
        let length = samples.withUnsafeBufferPointer { input in
            packet.withUnsafeMutableBufferPointer { output -> Int32 in
                guard let from = input.baseAddress, let to = output.baseAddress, offset >= 0, offset < output.count else {
                    return OPUS_BAD_ARG
                }
                // A packet of more than one frame may be longer, but no setting here makes one.
                let room = min(1275, output.count - offset)
                return opus_encode(handle, from, Int32(clamping: input.count), to + offset, Int32(clamping: room))
            }
        }
        guard length >= 0 else { throw OpusError(code: length, operation: "encode") }
        return Int(length)
    }

    /// Delay of the encoder itself, in samples at ``sampleRate``.
    public var lookahead: Int {
        var value: Int32 = 0
        return trunkline_opus_get_lookahead(handle, &value) == OPUS_OK ? Int(value) : 0
    }

    /// Forgets the stream so far.
    public mutating func reset() { _ = trunkline_opus_encoder_reset(handle) }
}

private func configure(_ handle: OpaquePointer, _ settings: OpusEncoderSettings) throws(OpusError) {
    try check(trunkline_opus_set_complexity(handle, settings.complexity), "set complexity")
    try check(trunkline_opus_set_bitrate(handle, settings.bitrate), "set bit rate")
    try check(trunkline_opus_set_inband_fec(handle, settings.inbandFEC ? 1 : 0), "set in-band FEC")
    let loss = max(0, min(100, settings.expectedLossPercent))
    try check(trunkline_opus_set_packet_loss(handle, loss), "set expected loss")
    try check(trunkline_opus_set_dtx(handle, settings.discontinuous ? 1 : 0), "set DTX")
}

private func check(_ code: Int32, _ operation: StaticString) throws(OpusError) {
    guard code == OPUS_OK else { throw OpusError(code: code, operation: operation) }
}
