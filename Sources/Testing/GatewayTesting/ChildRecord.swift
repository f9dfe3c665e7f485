internal import Foundation
internal import Synchronization

/// What is known of one child. Shared by its owner, its readers and its reaper.
final class ChildRecord: Sendable {
    private struct State {
        var lines: [String] = []
        var exit: ChildExit?
        var openReaders = 2
        var streams: [Int32: AsyncStream<[UInt8]>] = [:]
    }

    private let pid: Int32
    private let state = Mutex(State())
    private let inputs: Mutex<[Int32: Int32]>  // the child's descriptor: ours

    init(pid: Int32, inputs: [Int32: Int32]) {
        self.pid = pid
        self.inputs = Mutex(inputs)
        LivingChildren.add(pid)
    }

    var lines: [String] { state.withLock { $0.lines } }
    var exit: ChildExit? { state.withLock { $0.exit } }
    var readersAreDone: Bool { state.withLock { $0.openReaders == 0 } }

    func add(line: [UInt8]) {
        let trimmed = line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...]
        let text = String(decoding: trimmed, as: UTF8.self)
        state.withLock { $0.lines.append(text) }
    }

    func readerEnded() { state.withLock { $0.openReaders -= 1 } }

    func makeStream(for descriptor: Int32) -> AsyncStream<[UInt8]>.Continuation {
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        state.withLock { $0.streams[descriptor] = stream }
        return continuation
    }

    func takeStream(for descriptor: Int32) -> AsyncStream<[UInt8]>? {
        state.withLock { $0.streams.removeValue(forKey: descriptor) }
    }

    func write(_ bytes: [UInt8], to descriptor: Int32) throws(ChildError) {
        let failure: ChildError? = inputs.withLock { inputs in
            guard let own = inputs[descriptor] else { return .noPipe(descriptor) }
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Foundation.write(own, $0.baseAddress?.advanced(by: written), $0.count - written)
                }
                if count > 0 { written += count } else if errno != EINTR { return .system(call: "write", code: errno) }
            }
            return nil
        }
        if let failure { throw failure }
    }

    func closeInput(_ descriptor: Int32) {
        inputs.withLock { inputs in
            if let own = inputs.removeValue(forKey: descriptor) { close(own) }
        }
    }

    /// Under the lock that reaping takes too, so that the number still is this child's.
    func signal(_ number: Int32, toGroup: Bool = true) {
        state.withLock { state in
            guard state.exit == nil else { return }
            _ = kill(toGroup ? -pid : pid, number)
        }
    }

    static func reapInBackground(_ record: ChildRecord) { Thread.detachNewThread { record.reap() } }

    private func reap() {
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.withLock { state in
            // While the child is unreaped its group's number cannot be given to anyone else.
            _ = kill(-pid, SIGKILL)
            LivingChildren.remove(pid)
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            state.exit = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
        }
        inputs.withLock { inputs in
            for own in inputs.values { close(own) }
            inputs.removeAll()
        }
    }
}

/// The groups to be killed when the test process exits.
private enum LivingChildren {
    private static let groups = Mutex<Set<Int32>>([])
    private static let killAtExit: Void = {
        signal(SIGPIPE, SIG_IGN)
        atexit { LivingChildren.groups.withLock { for group in $0 { _ = kill(-group, SIGKILL) } } }
    }()

    static func add(_ pid: Int32) {
        _ = killAtExit
        groups.withLock { _ = $0.insert(pid) }
    }

    static func remove(_ pid: Int32) { groups.withLock { _ = $0.remove(pid) } }
}

/// Reads a pipe on a thread of its own and cuts it into messages.
enum ChildReader {
    static func read(
        _ descriptor: Int32, delimiter: UInt8, message: @escaping @Sendable ([UInt8]) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        Thread.detachNewThread {
            var pending: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = Foundation.read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for byte in buffer[..<count] {
                    if byte == delimiter {
                        message(pending)
                        pending.removeAll(keepingCapacity: true)
                    } else {
                        pending.append(byte)
                    }
                }
            }
            if !pending.isEmpty { message(pending) }
            close(descriptor)
            end()
        }
    }
}
