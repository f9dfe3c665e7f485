import Foundation
import GatewayTesting

/// SIPp with one of our scenarios (Fixtures/sipp/*.xml): a far end or a caller that follows a script to the letter.
///
/// Its exit code is the verdict: 0 when every call went as the scenario says.
final class SIPp: Sendable {
    /// The port it listens on, UDP.
    let port: Int
    /// The port of its audio.
    let mediaPort: Int
    private let process: ChildProcess
    private let folder: ScratchFolder

    var uri: String { "sip:sipp@127.0.0.1:\(port)" }

    var resources: ResourceWatch { ResourceWatch(pid: process.pid) }

    /// - Parameters:
    ///   - scenario: the name of a file in Fixtures/sipp, without ".xml".
    ///   - target: host:port that a calling scenario calls; nil for one that waits to be called.
    ///   - number: the number that a calling scenario dials.
    ///   - calls: after how many calls it ends.
    ///   - keys: values for the scenario's words between @.
    ///   - echoes: whether it sends audio back to where it comes from.
    static func start(
        _ scenario: String, target: String? = nil, number: String = "1000", calls: Int = 1, atOnce: Int = 1,
        keys: [String: String] = [:], echoes: Bool = false, within limit: Int = 30
    ) async throws -> SIPp {
        let sipp = try SIPp(
            scenario, target: target, number: number, calls: calls, atOnce: atOnce, keys: keys, echoes: echoes, limit: limit
        )
        if target == nil {
            let bound = await eventually(timeout: .seconds(5)) {
                sipp.resources.udpPorts.contains(sipp.port)
            }
            guard bound else { throw PeerFailure("SIPp does not listen. \(sipp.process.transcript)") }
        }
        return sipp
    }

    private init(
        _ scenario: String, target: String?, number: String, calls: Int, atOnce: Int, keys: [String: String], echoes: Bool,
        limit: Int
    ) throws {
        port = try Loopback.freePort()
        mediaPort = try Loopback.freePorts(4).lowerBound
        folder = try ScratchFolder("sipp")
        var script = try String(contentsOf: Fixtures.file("sipp/\(scenario).xml"), encoding: .utf8)
        for (name, value) in keys { script = script.replacing("@\(name)@", with: value) }
        let file = folder.file("\(scenario).xml")
        try script.write(to: file, atomically: true, encoding: .utf8)
        var command = [
            "-sf", file.path, "-i", "127.0.0.1", "-p", String(port),
            "-mi", "127.0.0.1", "-mp", String(mediaPort), "-m", String(calls), "-l", String(atOnce), "-nostdin",
            "-timeout", "\(limit)s", "-timeout_error", "-trace_err", "-error_file", folder.file("errors.log").path,
            "-trace_msg", "-message_file", folder.file("messages.log").path, "-s", number,
        ]
        if echoes { command.append("-rtp_echo") }
        if let target { command.append(target) }
        process = try ChildProcess.peer("sipp", command)
    }

    /// Waits for the end of the script; throws with its messages when a call did not go as written.
    func finish(within limit: Duration = .seconds(30)) async throws {
        guard let end = await process.end(within: limit) else {
            await stop()
            throw PeerFailure("SIPp has not finished. \(messages)")
        }
        guard end == .status(0) else { throw PeerFailure("SIPp ended with \(end). \(messages)") }
    }

    func stop() async { _ = await process.terminate(grace: .zero) }

    /// Every message sent and received, and every complaint.
    var messages: String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
        return process.transcript
            + names.sorted().filter { $0.hasSuffix(".log") }.map { name in
                "\(name):\n" + ((try? String(contentsOf: folder.file(name), encoding: .utf8)) ?? "").suffix(12000)
            }.joined(separator: "\n")
    }
}
