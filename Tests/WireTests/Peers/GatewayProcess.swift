import Foundation
import GatewayTesting
import Glibc

/// The gateway under test, run as a person runs it: `trunkline serve --config FILE` in a process of its own.
final class GatewayProcess: Sendable {
    /// Ports that a configuration may use, free when the gateway starts.
    struct Ports: Sendable {
        let web: Int
        let sip: Int
        let demo: Int
        /// Ranges for media, inclusive.
        let clientMedia: ClosedRange<Int>
        let trunkMedia: ClosedRange<Int>
        let demoMedia: ClosedRange<Int>

        /// - Parameter count: how many ports each range of media has.
        init(mediaPorts count: Int = 100) throws {
            web = try Loopback.freePort()
            sip = try Loopback.freePort()
            demo = try Loopback.freePort()
            clientMedia = try Loopback.freePorts(count)
            trunkMedia = try Loopback.freePorts(count)
            demoMedia = try Loopback.freePorts(count)
        }

        /// The text of a configuration file with these ports, all on loopback.
        func configuration(_ settings: Settings = [:]) throws -> Data {
            var sections: Settings = [
                "web": ["port": web],
                "sip": ["port": sip],
                "media": [
                    "clientAddresses": ["127.0.0.1"], "clientPorts": text(clientMedia), "trunkPorts": text(trunkMedia),
                ],
                "demo": ["sipPort": demo, "mediaPorts": text(demoMedia)],
            ]
            for (name, section) in settings { sections[name, default: [:]].merge(section) { _, new in new } }
            return try JSONSerialization.data(withJSONObject: sections, options: [.prettyPrinted, .sortedKeys])
        }

        private func text(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound)-\(range.upperBound)" }
    }

    /// Whether the executable can serve yet; the tests that need it wait for that.
    static let serves = true

    let ports: Ports
    let process: ChildProcess
    private let folder: ScratchFolder

    /// The soft-phone page.
    var page: String { "http://127.0.0.1:\(ports.web)/" }
    var pid: Int32 { process.pid }
    /// Threads, descriptors, ports and memory.
    var resources: ResourceWatch { ResourceWatch(pid: pid) }

    /// A configuration: what stands here is laid over free ports and the defaults, section by section.
    typealias Settings = [String: [String: any Sendable]]

    /// Starts a gateway and waits until it says that it is ready.
    static func start(
        _ settings: Settings = [:], environment: [String: String] = [:], mediaPorts: Int = 100,
        within limit: Duration = .seconds(15)
    ) async throws -> GatewayProcess {
        let gateway = try GatewayProcess(settings, environment, Ports(mediaPorts: mediaPorts))
        do {
            try await gateway.process.waitForLine(containing: "is ready", timeout: limit)
        } catch {
            await gateway.process.terminate(grace: .zero)
            throw PeerFailure("the gateway does not start: \(error)")
        }
        return gateway
    }

    private init(_ settings: Settings, _ environment: [String: String], _ ports: Ports) throws {
        self.ports = ports
        folder = try ScratchFolder("gateway")
        let file = folder.file("trunkline.json5")
        try ports.configuration(settings).write(to: file)
        process = try ChildProcess.start(
            Self.executable().path, arguments: ["serve", "--config", file.path], environment: environment)
    }

    deinit { for range in [ports.clientMedia, ports.trunkMedia, ports.demoMedia] { Loopback.giveBack(range) } }

    /// Asks it to end as an operator does (SIGTERM); the end should be `.status(0)`, and is nil if it had to be killed.
    @discardableResult
    func stop(within limit: Duration = .seconds(10)) async -> ChildExit? {
        process.send(signal: SIGTERM)
        if let end = await process.end(within: limit) { return end }
        await process.terminate(grace: .zero)
        return nil
    }

    /// Runs any command of the executable to its end: how it ended and every line it wrote.
    static func run(
        _ arguments: [String], within limit: Duration = .seconds(30)
    ) async throws -> (end: ChildExit, text: String) {
        let process = try ChildProcess.start(try executable().path, arguments: arguments)
        guard let end = await process.end(within: limit) else {
            await process.terminate(grace: .zero)
            throw PeerFailure("`trunkline \(arguments.joined(separator: " "))` does not end. \(process.transcript)")
        }
        return (end, process.output.joined(separator: "\n"))
    }

    /// The executable that this test run has built: it lies beside the test bundle.
    ///
    /// `TRUNKLINE_EXECUTABLE` names another, such as one built with a sanitizer.
    static func executable() throws -> URL {
        if let other = ProcessEnvironment.value(of: "TRUNKLINE_EXECUTABLE") { return URL(filePath: other) }
        let url = Bundle.module.bundleURL.deletingLastPathComponent().appending(path: "trunkline")
        guard FileManager.default.isExecutableFile(atPath: url.path) else { throw PeerFailure("\(url.path) was not built") }
        return url
    }
}
