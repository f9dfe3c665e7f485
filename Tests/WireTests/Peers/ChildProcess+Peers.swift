import Foundation
import GatewayTesting

extension ChildProcess {
    /// Starts a program that `make peers` installs.
    static func peer(_ program: String, _ arguments: [String], pipes: [ChildPipe] = []) throws -> ChildProcess {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let places = program.contains("/") ? [program] : path.split(separator: ":").map { "\($0)/\(program)" }
        guard places.contains(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw PeerFailure("\(program) is not installed: `make peers` installs it")
        }
        return try start(program, arguments: arguments, pipes: pipes)
    }

    /// The last lines it wrote, for a test's report.
    var transcript: String { output.suffix(150).joined(separator: "\n") }

    /// Waits for its end; nil when it still runs at the limit.
    func end(within limit: Duration) async -> ChildExit? {
        await eventually(timeout: limit) { exit != nil } ? exit : nil
    }
}
