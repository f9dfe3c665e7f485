import DTLS
import Foundation
import GatewayTesting
import Testing

@Suite struct DTLSCertificateFileTests {
    private func made(_ folder: URL, protection: [String] = ["-nodes"]) async throws -> (certificate: String, key: String) {
        let certificate = folder.appending(path: "cert.pem").path
        let key = folder.appending(path: "key.pem").path
        let child = try ChildProcess.start(
            "/usr/bin/openssl",
            arguments: [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", key, "-out",
                certificate, "-days", "5", "-subj", "/CN=test",
            ] + protection)
        _ = try await child.waitForExit()
        return (certificate, key)
    }

    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dtls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test func aCertificateFromFilesKeepsItsFingerprint() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try await made(folder)
        let first = try DTLSCertificate(certificateFile: files.certificate, privateKeyFile: files.key)
        let second = try DTLSCertificate(certificateFile: files.certificate, privateKeyFile: files.key)
        #expect(first.fingerprint == second.fingerprint)
        #expect(first.fingerprint.bytes.count == 32)
    }

    /// OpenSSL would ask for the pass phrase on the terminal, and a gateway would hang at its start.
    @Test func aKeyThatWantsAPassPhraseIsRefused() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try await made(folder, protection: ["-passout", "pass:secret"])
        #expect(throws: DTLSError.self) {
            try DTLSCertificate(certificateFile: files.certificate, privateKeyFile: files.key)
        }
    }

    @Test func filesThatDoNotBelongTogetherAreRefused() async throws {
        let folder = try folder()
        let other = try self.folder()
        defer {
            try? FileManager.default.removeItem(at: folder)
            try? FileManager.default.removeItem(at: other)
        }
        let files = try await made(folder)
        let others = try await made(other)
        #expect(throws: DTLSError.self) {
            try DTLSCertificate(certificateFile: files.certificate, privateKeyFile: others.key)
        }
        #expect(throws: DTLSError.self) { try DTLSCertificate(certificateFile: files.key, privateKeyFile: files.key) }
        #expect(throws: DTLSError.self) { try DTLSCertificate(certificateFile: "/nowhere", privateKeyFile: files.key) }
    }
}
