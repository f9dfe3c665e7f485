import Foundation

/// What a process holds at this moment, read from /proc.
struct ResourceWatch: Sendable {
    let pid: Int32

    /// Threads, descriptors, bound UDP ports and memory, taken together.
    struct Holding: Sendable, CustomStringConvertible {
        let threads: Int
        let descriptors: Int
        let udpPorts: [Int]
        let residentKilobytes: Int

        var description: String {
            "\(threads) threads, \(descriptors) descriptors, \(udpPorts.count) UDP ports, \(residentKilobytes) kB resident"
        }
    }

    var now: Holding {
        Holding(
            threads: threads, descriptors: descriptors.count, udpPorts: udpPorts, residentKilobytes: residentKilobytes)
    }

    var isAlive: Bool { FileManager.default.fileExists(atPath: "/proc/\(pid)") }
    var threads: Int { status("Threads") }
    var residentKilobytes: Int { status("VmRSS") }

    /// Targets of its descriptors, such as "socket:[4711]".
    var descriptors: [String] {
        let folder = "/proc/\(pid)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
    }

    /// Local UDP ports of sockets that this process holds, IPv4 and IPv6, one entry a socket, in order.
    var udpPorts: [Int] { ports(of: ["udp", "udp6"]) { _ in true } }

    /// TCP ports that it listens on.
    var listeningPorts: [Int] { ports(of: ["tcp", "tcp6"]) { $0 == "0A" } }

    private func ports(of tables: [String], where wants: (Substring) -> Bool) -> [Int] {
        let inodes = Set(descriptors.filter { $0.hasPrefix("socket:[") }.map { $0.dropFirst(8).dropLast() })
        var ports: [Int] = []
        for table in tables {
            let text = (try? String(contentsOfFile: "/proc/\(pid)/net/\(table)", encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                guard fields.count > 9, inodes.contains(fields[9]), wants(fields[3]) else { continue }
                guard let port = fields[1].split(separator: ":").last.flatMap({ Int($0, radix: 16) }) else { continue }
                ports.append(port)
            }
        }
        return ports.sorted()
    }

    private func status(_ key: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(key):") }
        return line?.split(whereSeparator: { $0 == "\t" || $0 == " " }).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
