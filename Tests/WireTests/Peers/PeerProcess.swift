import Foundation
import Glibc
import Synchronization

/// A child process of the tests: its standard output line by line, its end awaited, nothing of it left behind.
///
/// It runs in a session of its own. When its first process ends, whatever remains of that session's process group is killed;
/// when the test process itself dies, the child gets SIGTERM (`setpriv --pdeathsig`, which watches the thread that
/// started the child; so that thread lives as long as the child does).
final class PeerProcess: Sendable {
    /// How a process ended.
    enum End: Equatable, Sendable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// The process to look at in /proc: the command itself, not a shell around it.
    let pid: pid_t
    /// Lines of standard output that nobody has taken yet.
    let lines = Mailbox<String>()
    /// The extra pipe, if one was asked for: what is written here the child reads as descriptor 3.
    let controlInput: Int32
    /// And what it writes to descriptor 4 is read here.
    let controlOutput: Int32

    private let name: String
    private let input: Mutex<Int32>
    private let ends = Mailbox<End>()
    private let text = Mutex(Transcript())
    private let readers = DispatchGroup()

    private struct Transcript {
        var output = Data()
        var errors = Data()
    }

    /// Starts `command`, whose first word is looked up in PATH.
    static func start(
        _ command: [String], in folder: URL? = nil, environment: [String: String] = [:], withControlPipes: Bool = false
    ) throws -> PeerProcess {
        let command = [try path(of: command[0])] + command.dropFirst()
        let started = Mutex<Result<PeerProcess, any Error>?>(nil)
        let ready = DispatchSemaphore(value: 0)
        let thread = Thread {
            let result = Result {
                try PeerProcess(command, folder: folder, environment: environment, withControlPipes: withControlPipes)
            }
            started.withLock { $0 = result }
            ready.signal()
            if case .success(let process) = result { process.waitForTheEnd() }
        }
        thread.start()
        ready.wait()
        guard let result = started.withLock({ $0 }) else { throw PeerFailure("\(command[0]) was not started") }
        return try result.get()
    }

    private static func path(of command: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
        let places = command.contains("/") ? [command] : folders.map { "\($0)/\(command)" }
        guard let place = places.first(where: { access($0, X_OK) == 0 }) else {
            throw PeerFailure("\(command) is not installed: `make peers` installs it")
        }
        return place
    }

    private init(_ command: [String], folder: URL?, environment: [String: String], withControlPipes: Bool) throws {
        name = command[0]
        let stdin = try Pipe()
        let stdout = try Pipe()
        let stderr = try Pipe()
        let toControl = withControlPipes ? try Pipe() : nil
        let fromControl = withControlPipes ? try Pipe() : nil
        let place = folder.map { ["env", "--chdir=\($0.path)"] } ?? []
        var spawning = Spawning(
            command: ["setpriv", "--pdeathsig", "TERM", "--"] + place + command, environment: environment)
        spawning.descriptors = [stdin.reading, stdout.writing, stderr.writing]
        if let toControl, let fromControl { spawning.descriptors += [toControl.reading, fromControl.writing] }
        defer { for descriptor in spawning.descriptors { close(descriptor) } }
        do {
            pid = try spawning.spawn()
        } catch {
            for pipe in [stdin, toControl].compactMap(\.self) { close(pipe.writing) }
            for pipe in [stdout, stderr, fromControl].compactMap(\.self) { close(pipe.reading) }
            throw error
        }
        input = Mutex(stdin.writing)
        controlInput = toControl?.writing ?? -1
        controlOutput = fromControl?.reading ?? -1
        readLines(stdout.reading)
        readErrors(stderr.reading)
    }

    deinit {
        closeInput()
        if controlInput >= 0 { close(controlInput) }
    }

    /// Everything the process has written, for a test's report.
    var transcript: String {
        text.withLock {
            "\(name):\n" + String(decoding: $0.output.suffix(8000), as: UTF8.self)
                + String(decoding: $0.errors.suffix(8000), as: UTF8.self)
        }
    }

    /// What it wrote to standard error.
    var errorText: String { text.withLock { String(decoding: $0.errors, as: UTF8.self) } }

    /// What it wrote to standard output, lines that were taken included.
    var outputText: String { text.withLock { String(decoding: $0.output, as: UTF8.self) } }

    /// Writes one line to its standard input.
    func send(_ line: String) throws { try input.withLock { try writeAll(Array((line + "\n").utf8), to: $0) } }

    /// Ends its standard input.
    func closeInput() {
        input.withLock {
            if $0 >= 0 { close($0) }
            $0 = -1
        }
    }

    /// Sends a signal to the process (not to its children).
    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for its end; nil when it still runs at the limit.
    func end(within limit: Duration) async -> End? { await ends.first(within: limit, keeping: true) }

    /// Asks it to end, insists with SIGKILL after the limit, and says how it ended.
    @discardableResult
    func stop(_ number: Int32 = SIGTERM, within limit: Duration = .seconds(5)) async -> End {
        if ends.letters.isEmpty { kill(pid, number) }
        if let end = await end(within: limit) { return end }
        kill(-pid, SIGKILL)
        return await end(within: .seconds(5)) ?? .killed(signal: SIGKILL)
    }

    /// A line of standard output, or a failure that tells what was written instead.
    func line(within limit: Duration, where wants: @escaping @Sendable (String) -> Bool) async throws -> String {
        if let line = await lines.first(within: limit, where: wants) { return line }
        throw PeerFailure("\(name) did not say what was awaited. \(transcript)")
    }

    private func waitForTheEnd() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        kill(-pid, SIGKILL)  // not reaped yet, so the group's number is still its own
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        readers.wait()
        ends.post(status & 0x7f == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: status & 0x7f))
        lines.close()
    }

    private func readLines(_ descriptor: Int32) {
        readers.enter()
        Thread {
            var rest: [UInt8] = []
            readAll(descriptor) { bytes in
                self.text.withLock { $0.output.append(contentsOf: bytes) }
                rest += bytes
                let parts = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                for part in parts.dropLast() { self.lines.post(String(decoding: part, as: UTF8.self)) }
                rest = parts.last.map(Array.init) ?? []
            }
            self.readers.leave()
        }.start()
    }

    private func readErrors(_ descriptor: Int32) {
        readers.enter()
        Thread {
            readAll(descriptor) { bytes in self.text.withLock { $0.errors.append(contentsOf: bytes) } }
            self.readers.leave()
        }.start()
    }
}

/// Reads a descriptor to its end, then closes it.
func readAll(_ descriptor: Int32, _ take: (ArraySlice<UInt8>) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count > 0 { take(buffer[..<count]) } else if count == 0 || errno != EINTR { break }
    }
    close(descriptor)
}

/// Writes all bytes, waiting for room as needed.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            rest = rest.dropFirst(count)
        } else if errno != EINTR {
            throw PeerFailure("cannot write to the peer: \(String(cString: strerror(errno)))")
        }
    }
}

/// Both ends of a pipe, with numbers above those that a child's own descriptors get.
private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw PeerFailure("no pipe: \(String(cString: strerror(errno)))") }
        reading = fcntl(ends[0], F_DUPFD_CLOEXEC, 16)
        writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 16)
        close(ends[0])
        close(ends[1])
    }
}

/// What posix_spawn needs to know.
private struct Spawning {
    let command: [String]
    let environment: [String: String]
    /// Becomes descriptor 0, 1, 2 and so on in the child; all others are closed there.
    var descriptors: [Int32] = []

    func spawn() throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        for other in Int32(descriptors.count)..<1024 { posix_spawn_file_actions_addclose(&actions, other) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(
            &attributes, Int16(Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | newSession))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let arguments = command.map { strdup($0) } + [nil]
        let settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for copy in arguments + settings { free(copy) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, command[0], &actions, &attributes, arguments, settings)
        guard code == 0 else { throw PeerFailure("\(command[0]): \(String(cString: strerror(code)))") }
        return pid
    }
}
