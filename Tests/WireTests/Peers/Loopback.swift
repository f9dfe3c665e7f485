import Foundation
import Glibc
import Synchronization

/// Free ports of the loopback interface, below the range from which the kernel takes those that nobody chose.
enum Loopback {
    private static let given = Mutex<Set<Int>>([])

    /// A port that is free for UDP and TCP now, and was not given to another peer before.
    static func freePort() throws -> Int { try free(1, in: 12000..<20000) }

    /// As many neighbouring ports, from an even one on; to be given back.
    static func freePorts(_ count: Int) throws -> ClosedRange<Int> {
        let first = try free(count, in: 20000..<32000)
        return first...first + count - 1
    }

    /// Lets ports be given to somebody else.
    static func giveBack(_ ports: ClosedRange<Int>) { given.withLock { $0.subtract(ports) } }

    private static func free(_ count: Int, in range: Range<Int>) throws -> Int {
        for _ in 0..<500 {
            let first = Int.random(in: range.lowerBound / 2..<(range.upperBound - count) / 2) * 2
            let ports = Set(first..<first + count)
            guard given.withLock({ $0.isDisjoint(with: ports) }), ports.allSatisfy(isFree) else { continue }
            given.withLock { $0.formUnion(ports) }
            return first
        }
        throw PeerFailure("no free port on loopback")
    }

    private static func isFree(_ port: Int) -> Bool {
        for kind in [SOCK_DGRAM, SOCK_STREAM] {
            let descriptor = socket(AF_INET, Int32(kind.rawValue), 0)
            defer { close(descriptor) }
            guard bind(descriptor, port) else { return false }
        }
        return true
    }

    fileprivate static func bind(_ descriptor: Int32, _ port: Int) -> Bool {
        withAddress(port) { Glibc.bind(descriptor, $0, $1) == 0 }
    }

    fileprivate static func withAddress<R>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    /// Sends one datagram to a loopback port from a socket made for it.
    static func throwDatagram(_ bytes: [UInt8], at port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        _ = withAddress(port) { sendto(descriptor, bytes, bytes.count, 0, $0, $1) }
    }

    /// Whether a SIP element answers OPTIONS at this port (RFC 3261, 11) with any final response.
    static func answersOptions(_ port: Int) -> Bool { optionsStatus(at: port) != nil }

    /// The status with which OPTIONS for a user, or for the element itself, is answered (RFC 3261, 11); nil for silence.
    static func optionsStatus(at port: Int, user: String? = nil) -> Int? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        guard bind(descriptor, 0) else { return nil }
        let token = UUID().uuidString
        let target = "sip:" + (user.map { "\($0)@" } ?? "") + "127.0.0.1:\(port)"
        let request = [
            "OPTIONS \(target) SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1;rport;branch=z9hG4bK\(token)",
            "Max-Forwards: 10", "From: <sip:probe@127.0.0.1>;tag=\(token)", "To: <\(target)>",
            "Call-ID: \(token)", "CSeq: 1 OPTIONS", "Content-Length: 0", "", "",
        ].joined(separator: "\r\n")
        let bytes = Array(request.utf8)
        guard withAddress(port, { sendto(descriptor, bytes, bytes.count, 0, $0, $1) }) == bytes.count else { return nil }
        while true {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, user == nil ? 100 : 500) == 1 else { return nil }
            var answer = [UInt8](repeating: 0, count: 2048)
            let count = recv(descriptor, &answer, answer.count, 0)
            guard count > 0, answer.starts(with: Array("SIP/2.0 ".utf8)) else { return nil }
            let status = Int(String(decoding: answer[8..<11], as: UTF8.self)) ?? 0
            if status >= 200 { return status }
        }
    }
}

/// A folder for one peer's files, removed with its owner.
final class ScratchFolder: Sendable {
    let url: URL

    init(_ name: String) throws {
        url = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appending(path: name) }
}

/// The files that lie beside the wire tests.
enum Fixtures {
    static func file(_ name: String) throws -> URL {
        guard let folder = Bundle.module.resourceURL else { throw PeerFailure("the test bundle has no resources") }
        let url = folder.appending(path: "Fixtures").appending(path: name)
        guard FileManager.default.fileExists(atPath: url.path) else { throw PeerFailure("no fixture \(name)") }
        return url
    }

    /// The Python that has PJSIP, as `make peers` sets it up.
    static func python() throws -> URL {
        let url = root.appending(path: ".build/python/bin/python")
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw PeerFailure("\(url.path) is missing: `make peers` installs it")
        }
        return url
    }

    /// A folder of the build where tests leave what a person may want to look at.
    static func buildFolder(_ name: String) throws -> URL {
        let url = root.appending(path: ".build/\(name)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    private static var root: URL { URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL }
}
