internal import CSRTP

/// Owns one `srtp_t`.
///
/// Unchecked but safe to send: the struct is the context's only owner and cannot be copied, so only one thread at a time can
/// reach it.
struct SRTPContext: ~Copyable, @unchecked Sendable {
    let handle: srtp_t

    init(_ keys: SRTPKeyMaterial, isOutbound: Bool, replayWindow: Int) throws(SRTPError) {
        try SRTPLibrary.ensureStarted()
        // libsrtp takes windows from 64 up to 32767.
        let window = UInt(min(max(replayWindow, 64), 0x7FFF))
        var handle: srtp_t?
        let status = (keys.key + keys.salt).withUnsafeBufferPointer { bytes in
            shim_srtp_create(&handle, keys.profile.libraryProfile, bytes.baseAddress, isOutbound ? 1 : 0, window)
        }
        try SRTPError.check(status)
        guard let handle else { throw SRTPError(.library) }
        self.handle = handle
    }

    deinit { srtp_dealloc(handle) }
}
