internal import COpenSSL

/// A self-signed P-256 certificate made in memory, with the OpenSSL context that every connection under it shares.
///
/// Peers know it only by its ``fingerprint`` in the SDP, so nothing is stored and nobody signs it (RFC 8827 section 6.5).
///
/// - Threads: any, once made. One may serve all connections of a process; make a new one before it is 30 days old.
public final class DTLSCertificate: Sendable {
    /// The longest that a certificate may live.
    public static let maximumLifetime = Duration.seconds(30 * 24 * 3600)

    /// The SHA-256 hash, for the SDP.
    public let fingerprint: DTLSFingerprint
    /// The DTLS-SRTP profiles that connections offer or accept, by registry number, the dearest first.
    public let profiles: [UInt16]
    let context: ContextHandle

    /// - Parameters:
    ///   - lifetime: how long it is valid, counted from an hour ago (peers' clocks differ); at most 30 days.
    ///   - profiles: DTLS-SRTP profile numbers in order of preference: 0x0007 AEAD_AES_128_GCM, 0x0008 AEAD_AES_256_GCM, 0x0001
    ///     AES128_CM_HMAC_SHA1_80. Others are left out.
    public convenience init(
        lifetime: Duration = .seconds(29 * 24 * 3600), profiles: [UInt16] = [0x0007, 0x0008, 0x0001]
    ) throws(DTLSError) {
        ERR_clear_error()
        guard let key = shim_generate_p256() else { throw .fromQueue(.library) }
        defer { EVP_PKEY_free(key) }
        guard let certificate = X509_new() else { throw .fromQueue(.library) }
        defer { X509_free(certificate) }
        try Self.fill(certificate, key: key, lifetime: min(lifetime, Self.maximumLifetime))
        try self.init(certificate: certificate, key: key, profiles: profiles)
    }

    /// Borrows both pointers; OpenSSL's context takes references of its own.
    init(certificate: OpaquePointer, key: OpaquePointer, profiles: [UInt16]) throws(DTLSError) {
        guard let fingerprint = DTLSFingerprint.of(certificate, algorithm: "sha-256") else { throw .fromQueue(.library) }
        self.fingerprint = fingerprint
        self.profiles = profiles.filter { Self.profileNames[$0] != nil }
        context = try ContextHandle(certificate: certificate, key: key, profiles: self.profiles)
    }

    private static let profileNames: [UInt16: String] = [
        0x0001: "SRTP_AES128_CM_SHA1_80", 0x0007: "SRTP_AEAD_AES_128_GCM", 0x0008: "SRTP_AEAD_AES_256_GCM",
    ]

    private static func fill(_ certificate: OpaquePointer, key: OpaquePointer, lifetime: Duration) throws(DTLSError) {
        let hour = 3600
        var serial: UInt64 = 0
        withUnsafeMutableBytes(of: &serial) { bytes in
            _ = RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
        }
        let name = X509_get_subject_name(certificate)
        let textType: Int32 = 0x1000 | 1  // MBSTRING_ASC
        guard X509_set_version(certificate, 2) == 1,  // X.509 v3
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1,
            X509_gmtime_adj(X509_getm_notBefore(certificate), -hour) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), Int(lifetime.components.seconds) - hour) != nil,
            X509_set_pubkey(certificate, key) == 1,
            X509_NAME_add_entry_by_txt(name, "CN", textType, "trunkline", -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, name) == 1,
            X509_sign(certificate, key, EVP_sha256()) > 0
        else { throw .fromQueue(.library) }
    }

    /// Owns the SSL_CTX. Unchecked but safe: it is not changed after it was made, and OpenSSL counts references to it with
    /// atomics, so connections may be made from any thread.
    final class ContextHandle: @unchecked Sendable {
        let raw: OpaquePointer

        init(certificate: OpaquePointer, key: OpaquePointer, profiles: [UInt16]) throws(DTLSError) {
            guard let context = SSL_CTX_new(DTLS_method()) else { throw .fromQueue(.library) }
            raw = context
            let names = profiles.compactMap { profileNames[$0] }.joined(separator: ":")
            let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES128:!aNULL:!PSK"
            // SSL_CTX_set_tlsext_use_srtp answers 0 for success, unlike its neighbours.
            guard shim_configure_dtls12(context) == 1,
                SSL_CTX_set_cipher_list(context, ciphers) == 1,
                SSL_CTX_use_certificate(context, certificate) == 1,
                SSL_CTX_use_PrivateKey(context, key) == 1,
                SSL_CTX_set_tlsext_use_srtp(context, names) == 0
            else { throw .fromQueue(.library) }
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            SSL_CTX_set_cert_verify_callback(context, verifyPeer, nil)
        }

        deinit { SSL_CTX_free(raw) }
    }
}

/// Called within a handshake when the peer's certificate has come: the fingerprints in its SDP are the only authority.
private func verifyPeer(_ store: OpaquePointer?, _ data: UnsafeMutableRawPointer?) -> Int32 {
    guard let store, let ssl = shim_verifying_connection(store), let owner = shim_get_app_data(ssl),
        let certificate = X509_STORE_CTX_get0_cert(store)
    else { return 0 }
    let peer = Unmanaged<DTLSPeerCheck>.fromOpaque(owner).takeUnretainedValue()
    if peer.accepts(certificate) { return 1 }
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    return 0
}
