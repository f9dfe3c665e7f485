import DTLS

/// Two connections and the wire between them.
final class DTLSPair {
    let active: DTLSConnection
    let passive: DTLSConnection
    /// Every datagram that crossed, for tests that look at sizes.
    private(set) var crossed: [[UInt8]] = []
    /// What the wire does to a datagram: the list it returns arrives. The number counts datagrams from 0.
    var wire: (_ number: Int, _ fromActive: Bool, _ datagram: [UInt8]) -> [[UInt8]] = { _, _, datagram in [datagram] }

    static let certificates = Result { try (DTLSCertificate(), DTLSCertificate()) }

    init(
        active activeCertificate: DTLSCertificate? = nil, passive passiveCertificate: DTLSCertificate? = nil,
        activeExpects: [DTLSFingerprint]? = nil, passiveExpects: [DTLSFingerprint]? = nil
    ) throws {
        let (one, two) = try Self.certificates.get()
        let mine = activeCertificate ?? one
        let theirs = passiveCertificate ?? two
        active = try DTLSConnection(
            certificate: mine, role: .active, fingerprints: activeExpects ?? [theirs.fingerprint])
        passive = try DTLSConnection(
            certificate: theirs, role: .passive, fingerprints: passiveExpects ?? [mine.fingerprint])
    }

    /// Starts both sides and lets datagrams cross until none is under way.
    func start() {
        let first = active.start()
        _ = passive.start()
        cross(first.datagrams, fromActive: true)
    }

    func cross(_ datagrams: [[UInt8]], fromActive: Bool) {
        var underWay = datagrams.map { (fromActive, $0) }
        while !underWay.isEmpty {
            let (fromActive, datagram) = underWay.removeFirst()
            let number = crossed.count
            crossed.append(datagram)
            for arrived in wire(number, fromActive, datagram) {
                let answer = (fromActive ? passive : active).feed(arrived)
                underWay += answer.datagrams.map { (!fromActive, $0) }
            }
        }
    }

    /// Lets retransmission timers run, waiting for them, until both sides are done or `turns` timers have fired.
    func runTimers(turns: Int = 60) async throws {
        for _ in 0..<turns {
            let waits = [active.nextTimeout, passive.nextTimeout].compactMap(\.self)
            guard let wait = waits.min() else { return }
            try await Task.sleep(for: wait + .milliseconds(1))
            cross(active.handleTimeout().datagrams, fromActive: true)
            cross(passive.handleTimeout().datagrams, fromActive: false)
        }
    }

    var keys: (active: DTLSSRTPKeys, passive: DTLSSRTPKeys)? {
        guard case .connected(let one) = active.state, case .connected(let two) = passive.state else { return nil }
        return (one, two)
    }
}

/// The records of a datagram: header and body in one.
func records(_ datagram: [UInt8]) -> [[UInt8]] {
    var records: [[UInt8]] = []
    var rest = datagram[...]
    while rest.count >= 13 {
        let start = rest.startIndex
        let length = 13 + Int(rest[start + 11]) << 8 + Int(rest[start + 12])
        records.append(Array(rest.prefix(length)))
        rest = rest.dropFirst(length)
    }
    return records
}
