internal import COpenSSL

/// A certificate's hash, as an `a=fingerprint` line carries it (RFC 8122).
public struct DTLSFingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The hash function's name in lower case, such as "sha-256".
    public let algorithm: String
    /// The hash.
    public let bytes: [UInt8]

    /// A fingerprint by its parts; the name's case does not matter.
    public init(algorithm: String, bytes: [UInt8]) {
        self.algorithm = algorithm.lowercased()
        self.bytes = bytes
    }

    /// Parses the value of the SDP attribute: "sha-256 4A:AD:..."; the case of letters does not matter.
    ///
    /// - Returns: nil for anything else. A hash function we do not have is kept: it just matches nothing.
    public init?(sdp value: some StringProtocol) {
        let parts = value.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2 else { return nil }
        var bytes: [UInt8] = []
        for pair in parts[1].split(separator: ":", omittingEmptySubsequences: false) {
            guard pair.utf8.count == 2, pair.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let byte = UInt8(pair, radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        self.init(algorithm: String(parts[0]), bytes: bytes)
    }

    /// The value of the SDP attribute, hash in upper case.
    public var description: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text = Array(algorithm.utf8) + [UInt8(ascii: " ")]
        for (index, byte) in bytes.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ":")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Hashes that are still strong; SHA-1 and MD5 prove nothing any more.
    private static let digests: [String: @Sendable () -> OpaquePointer?] = [
        "sha-224": { EVP_sha224() }, "sha-256": { EVP_sha256() }, "sha-384": { EVP_sha384() }, "sha-512": { EVP_sha512() },
    ]

    /// Whether this side can check a fingerprint of this kind.
    public var isSupported: Bool { Self.digests[algorithm] != nil }

    /// The hash of a certificate by one of the functions we have.
    static func of(_ certificate: OpaquePointer, algorithm: String) -> DTLSFingerprint? {
        guard let digest = digests[algorithm]?() else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard X509_digest(certificate, digest, &bytes, &count) == 1 else { return nil }
        return DTLSFingerprint(algorithm: algorithm, bytes: Array(bytes[..<Int(count)]))
    }

    /// Whether the certificate has this hash.
    func matches(_ certificate: OpaquePointer) -> Bool {
        Self.of(certificate, algorithm: algorithm).map { $0.bytes == bytes } ?? false
    }
}
