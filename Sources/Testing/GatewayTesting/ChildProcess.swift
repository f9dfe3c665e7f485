internal import Foundation
internal import Synchronization

/// A program run by a test: its lines as they come, pipes on chosen descriptors, always reaped, never left behind.
///
/// The child leads a process group of its own, which is killed when the child ends, when the last reference to it is
/// released, and when the test process exits. All calls are safe from any thread. stdin is empty unless a pipe to descriptor
/// 0 was asked for.
public final class ChildProcess: Sendable {
    /// The child's process id, and its group's.
    public let pid: Int32
    private let record: ChildRecord

    private init(pid: Int32, record: ChildRecord) {
        self.pid = pid
        self.record = record
    }

    deinit { record.signal(SIGKILL) }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name to be looked for in `PATH`.
    ///   - arguments: without the program's own name.
    ///   - environment: variables added to, or taking the place of, the test's own.
    ///   - pipes: descriptors of the child, beside stdout and stderr, to be joined to the test.
    public static func start(
        _ executable: String, arguments: [String] = [], environment: [String: String] = [:], pipes: [ChildPipe] = []
    ) throws(ChildError) -> ChildProcess {
        let spawned = try ChildSpawn.spawn(executable, arguments, environment: environment, pipes: pipes)
        let record = ChildRecord(pid: spawned.pid, inputs: spawned.inputs)
        for descriptor in spawned.lineOutputs {
            ChildReader.read(
                descriptor, delimiter: UInt8(ascii: "\n"), message: { record.add(line: $0) }, end: { record.readerEnded() })
        }
        for (pipe, descriptor) in spawned.messageOutputs {
            let continuation = record.makeStream(for: pipe.descriptor)
            ChildReader.read(
                descriptor, delimiter: pipe.delimiter, message: { continuation.yield($0) }, end: { continuation.finish() })
        }
        ChildRecord.reapInBackground(record)
        return ChildProcess(pid: spawned.pid, record: record)
    }

    /// Starts a program, runs `body` with it, and ends the program whatever comes of `body`.
    public static func running<Value>(
        _ executable: String, arguments: [String] = [], environment: [String: String] = [:], pipes: [ChildPipe] = [],
        isolation: isolated (any Actor)? = #isolation, _ body: (ChildProcess) async throws -> Value
    ) async throws -> Value {
        let child = try start(executable, arguments: arguments, environment: environment, pipes: pipes)
        do {
            let value = try await body(child)
            await child.terminate()
            return value
        } catch {
            await child.terminate()
            throw error
        }
    }

    /// All lines of stdout and stderr so far, in the order of their coming.
    public var output: [String] { record.lines }

    /// How the child ended, or nil while it runs.
    public var exit: ChildExit? { record.exit }

    /// Waits until a line has come that contains `text`, whether it came before the call or comes after.
    @discardableResult
    public func waitForLine(containing text: String, timeout: Duration = .seconds(10)) async throws(ChildError) -> String {
        let deadline = ContinuousClock.now + timeout
        var seen = 0
        while true {
            // An end seen before the lines are read means that they are all there, or will be within a moment.
            let hasEnded = exit != nil
            let lines = output
            if let line = lines[min(seen, lines.count)...].first(where: { $0.contains(text) }) { return line }
            seen = lines.count
            guard ContinuousClock.now < deadline, !Task.isCancelled, !(hasEnded && record.readersAreDone) else {
                throw .noLine(containing: text, output: lines)
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Writes all bytes to a pipe of the child's; blocks while the pipe is full.
    public func write(_ bytes: [UInt8], to descriptor: Int32 = 0) throws(ChildError) {
        try record.write(bytes, to: descriptor)
    }

    /// Closes a pipe to the child: it reads the end there.
    public func closeInput(_ descriptor: Int32 = 0) { record.closeInput(descriptor) }

    /// The messages of a pipe from the child, from its start on, for one reader; empty if there is no such pipe.
    public func messages(from descriptor: Int32) -> AsyncStream<[UInt8]> {
        record.takeStream(for: descriptor) ?? AsyncStream { $0.finish() }
    }

    /// Sends a signal to the child alone.
    public func send(signal: Int32) { record.signal(signal, toGroup: false) }

    /// Asks the child's group to end (SIGTERM), kills it when the grace is over, and waits for the child's end.
    @discardableResult
    public func terminate(grace: Duration = .seconds(3)) async -> ChildExit? {
        record.signal(SIGTERM)
        if !(await eventually(timeout: grace, { exit != nil })) {
            record.signal(SIGKILL)
            _ = await eventually(timeout: .seconds(5)) { exit != nil }
        }
        return exit
    }

    /// Waits until the child has ended by itself.
    @discardableResult
    public func waitForExit(timeout: Duration = .seconds(10)) async throws(ChildError) -> ChildExit {
        _ = await eventually(timeout: timeout) { exit != nil }
        guard let exit else { throw .stillRunning }
        return exit
    }
}
