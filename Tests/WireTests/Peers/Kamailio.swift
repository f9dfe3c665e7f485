import Foundation
import GatewayTesting

/// Kamailio as registrar and proxy on loopback, UDP and TCP, with digest authentication from a table of its own.
///
/// It keeps registrations in memory, record-routes calls, and asks each caller whose name is in the table for its password.
/// Media does not pass through it.
final class Kamailio: Sendable {
    static let realm = "trunk.test"

    let port: Int
    private let folder: ScratchFolder
    private let process: ChildProcess

    /// The registrar and outbound proxy as a SIP URI.
    var uri: String { "sip:127.0.0.1:\(port)" }

    /// - Parameters:
    ///   - users: names with their passwords.
    ///   - routes: numbers that are not registered, with the SIP URI that each is sent to.
    static func start(users: [String: String], routes: [String: String] = [:]) async throws -> Kamailio {
        let kamailio = try Kamailio(users: users, routes: routes)
        let answers = await eventually(timeout: .seconds(10)) { Loopback.answersOptions(kamailio.port) }
        guard answers else {
            await kamailio.stop()
            throw PeerFailure("Kamailio does not answer. \(kamailio.process.transcript)")
        }
        return kamailio
    }

    private init(users: [String: String], routes: [String: String]) throws {
        port = try Loopback.freePort()
        folder = try ScratchFolder("kamailio")
        let template = try String(contentsOf: Fixtures.file("kamailio.cfg"), encoding: .utf8)
        let modules = try Self.modules()
        let text =
            template
            .replacing("@PORT@", with: String(port))
            .replacing("@MODULES@", with: modules)
            .replacing("@REALM@", with: Self.realm)
            .replacing("@USERS@", with: Self.table("users", users))
            .replacing("@ROUTES@", with: Self.table("routes", routes))
        try text.write(to: folder.file("kamailio.cfg"), atomically: true, encoding: .utf8)
        process = try ChildProcess.peer(
            "/usr/sbin/kamailio",
            [
                "-DD", "-E", "-f", folder.file("kamailio.cfg").path, "-Y", folder.url.path,
                "-P", folder.file("pid").path, "-m", "16", "-M", "4",
            ])
    }

    func stop() async { _ = await process.terminate() }

    /// Whether a user is registered: a request for one who is not ends at the proxy itself.
    func knows(_ user: String) -> Bool { Loopback.optionsStatus(at: port, user: user).map { $0 != 404 } ?? false }

    var log: String { process.output.joined(separator: "\n") }

    private static func table(_ name: String, _ entries: [String: String]) -> String {
        entries.sorted { $0.key < $1.key }.map { "$sht(\(name)=>\($0)) = \"\($1)\";" }.joined(separator: "\n    ")
    }

    private static func modules() throws -> String {
        let places = ["x86_64-linux-gnu", "aarch64-linux-gnu"].map { "/usr/lib/\($0)/kamailio/modules/" }
        guard let place = places.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw PeerFailure("Kamailio is not installed: `make peers` installs it")
        }
        return place
    }
}
