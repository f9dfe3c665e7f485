internal import Foundation
internal import Synchronization

/// Starts a program with its descriptors in place.
enum ChildSpawn {
    struct Spawned {
        var pid: Int32
        var lineOutputs: [Int32]
        var messageOutputs: [(ChildPipe, Int32)]
        var inputs: [Int32: Int32]
    }

    // One at a time: a pipe made by another test between its making and its mark "close on exec" would leak into a child.
    private static let oneAtATime = Mutex(())

    static func spawn(
        _ executable: String, _ arguments: [String], environment: [String: String], pipes: [ChildPipe]
    ) throws(ChildError) -> Spawned {
        let result: Result<Spawned, ChildError> = oneAtATime.withLock { _ in
            do throws(ChildError) {
                return .success(try spawnAlone(executable, arguments, environment: environment, pipes: pipes))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func spawnAlone(
        _ executable: String, _ arguments: [String], environment: [String: String], pipes: [ChildPipe]
    ) throws(ChildError) -> Spawned {
        var spawned = Spawned(pid: 0, lineOutputs: [], messageOutputs: [], inputs: [:])
        var childEnds: [(childEnd: Int32, target: Int32)] = []
        var ownEnds: [Int32] = []
        defer { for end in childEnds { close(end.childEnd) } }
        do throws(ChildError) {
            for target in [STDOUT_FILENO, STDERR_FILENO] {
                let ends = try makePipe()
                childEnds.append((ends.write, target))
                ownEnds.append(ends.read)
                spawned.lineOutputs.append(ends.read)
            }
            for pipe in pipes {
                let ends = try makePipe()
                childEnds.append((pipe.direction == .toChild ? ends.read : ends.write, pipe.descriptor))
                ownEnds.append(pipe.direction == .toChild ? ends.write : ends.read)
                if pipe.direction == .toChild {
                    spawned.inputs[pipe.descriptor] = ends.write
                } else {
                    spawned.messageOutputs.append((pipe, ends.read))
                }
            }
            spawned.pid = try launch(executable, arguments, environment: environment, descriptors: childEnds)
            return spawned
        } catch {
            for end in ownEnds { close(end) }
            throw error
        }
    }

    /// Both ends lie above any number that a child may want, so that putting one in place covers no other.
    private static func makePipe() throws(ChildError) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .system(call: "pipe", code: errno) }
        let moved = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 100) }
        for end in ends { close(end) }
        guard moved[0] >= 0, moved[1] >= 0 else { throw .system(call: "fcntl", code: errno) }
        return (moved[0], moved[1])
    }

    private static func launch(
        _ executable: String, _ arguments: [String], environment: [String: String],
        descriptors: [(childEnd: Int32, target: Int32)]
    ) throws(ChildError) -> Int32 {
        #if canImport(Glibc)
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #else
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for (childEnd, target) in descriptors { posix_spawn_file_actions_adddup2(&actions, childEnd, target) }
        // Sockets of other tests, not all of them marked "close on exec", would keep their ports while the child lives.
        let wanted = Set(descriptors.map(\.target))
        for other in STDERR_FILENO + 1..<1024 where !wanted.contains(other) {
            posix_spawn_file_actions_addclose(&actions, other)
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))
        let merged = ProcessEnvironment.all.merging(environment) { $1 }
        var words = ([executable] + arguments).map { strdup($0) } + [nil]
        var variables = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, executable, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw .system(call: "posix_spawn \(executable)", code: code) }
        return pid
    }
}
