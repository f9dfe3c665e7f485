internal import CSRTP

/// libsrtp's own start-up, done once a process.
enum SRTPLibrary {
    /// The status of `srtp_init`. A Swift global is made once, by whoever comes first, so no thread can see it half done.
    private static let status: UInt32 = shim_srtp_init().rawValue

    static func ensureStarted() throws(SRTPError) {
        guard status == 0 else { throw SRTPError(libraryStatus: status) }
    }
}
