import Foundation
import Glibc

/// The gateway under test, run as a person runs it: `trunkline serve --config FILE` in a process of its own.
final class GatewayProcess: Sendable {
    /// Ports that a configuration may use, free when the gateway starts.
    struct Ports: Sendable {
        let web: Int
        let sip: Int
        let demo: Int
        let metrics: Int
        /// Ranges for media, inclusive.
        let clientMedia: ClosedRange<Int>
        let trunkMedia: ClosedRange<Int>

        init() throws {
            web = try Loopback.freePort()
            sip = try Loopback.freePort()
            demo = try Loopback.freePort()
            metrics = try Loopback.freePort()
            let client = try Loopback.freePort(following: 99)
            let trunk = try Loopback.freePort(following: 99)
            clientMedia = client...client + 99
            trunkMedia = trunk...trunk + 99
        }
    }

    let ports: Ports
    let process: PeerProcess
    private let folder: ScratchFolder

    /// The soft-phone page.
    var page: String { "http://127.0.0.1:\(ports.web)/" }
    var pid: pid_t { process.pid }
    /// Threads, descriptors, ports and memory.
    var resources: ResourceWatch { ResourceWatch(pid: pid) }

    /// Starts a gateway and waits until it says that it is ready.
    ///
    /// - Parameter configuration: the text of its configuration file, given free ports.
    static func start(within limit: Duration = .seconds(15), configuration: (Ports) -> String) async throws
        -> GatewayProcess
    {
        let gateway = try GatewayProcess(configuration)
        do {
            _ = try await gateway.process.line(within: limit) { $0.hasSuffix("is ready") }
        } catch {
            await gateway.process.stop(SIGKILL)
            throw PeerFailure("the gateway does not start: \(error)")
        }
        return gateway
    }

    private init(_ configuration: (Ports) -> String) throws {
        ports = try Ports()
        folder = try ScratchFolder("gateway")
        let file = folder.file("trunkline.json5")
        try configuration(ports).write(to: file, atomically: true, encoding: .utf8)
        process = try PeerProcess.start([try Self.executable().path, "serve", "--config", file.path])
    }

    deinit { process.signal(SIGKILL) }

    /// Asks it to end as an operator does (SIGTERM); the end should be `.exited(0)`.
    @discardableResult
    func stop(within limit: Duration = .seconds(10)) async -> PeerProcess.End { await process.stop(SIGTERM, within: limit) }

    /// Runs any command of the executable to its end: its exit and what it wrote.
    static func run(
        _ arguments: [String], within limit: Duration = .seconds(30)
    ) async throws -> (end: PeerProcess.End, output: String, errors: String) {
        let process = try PeerProcess.start([try executable().path] + arguments)
        process.closeInput()
        guard let end = await process.end(within: limit) else {
            await process.stop(SIGKILL)
            throw PeerFailure("`trunkline \(arguments.joined(separator: " "))` does not end. \(process.transcript)")
        }
        return (end, process.outputText, process.errorText)
    }

    /// The executable that this test run has built: it lies beside the test bundle.
    static func executable() throws -> URL {
        let url = Bundle.module.bundleURL.deletingLastPathComponent().appending(path: "trunkline")
        guard FileManager.default.isExecutableFile(atPath: url.path) else { throw PeerFailure("\(url.path) was not built") }
        return url
    }
}
