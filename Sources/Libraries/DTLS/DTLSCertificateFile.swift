internal import COpenSSL

extension DTLSCertificate {
    /// Reads a certificate and its key from PEM files, for gateways whose fingerprint must stay the same over restarts.
    ///
    /// - Throws: OpenSSL's error when a file cannot be read or is no PEM, when the key wants a pass phrase, or when it is not the
    ///   certificate's.
    public convenience init(
        certificateFile: String, privateKeyFile: String, profiles: [UInt16] = [0x0007, 0x0008, 0x0001]
    ) throws(DTLSError) {
        ERR_clear_error()
        guard let certificateInput = BIO_new_file(certificateFile, "r") else { throw .fromQueue(.library) }
        defer { BIO_free(certificateInput) }
        guard let certificate = PEM_read_bio_X509(certificateInput, nil, nil, nil) else { throw .fromQueue(.library) }
        defer { X509_free(certificate) }
        guard let keyInput = BIO_new_file(privateKeyFile, "r") else { throw .fromQueue(.library) }
        defer { BIO_free(keyInput) }
        // With an empty pass phrase a key that wants one is refused; with none OpenSSL would ask for it on the terminal.
        let read = "".withCString { PEM_read_bio_PrivateKey(keyInput, nil, nil, UnsafeMutableRawPointer(mutating: $0)) }
        guard let key = read else { throw .fromQueue(.library) }
        defer { EVP_PKEY_free(key) }
        guard X509_check_private_key(certificate, key) == 1 else { throw .fromQueue(.library) }
        try self.init(certificate: certificate, key: key, profiles: profiles)
    }
}
