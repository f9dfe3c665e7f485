internal import DTLS
internal import Dispatch

/// Runs one DTLS connection on a serial queue of its own, off the ICE loop and off the lanes: a handshake takes milliseconds
/// of arithmetic, and no other call waits for it.
///
/// Unchecked but safe to send: `connection`, `timerGeneration` and `isOver` are touched on `queue` only.
final class Handshake: @unchecked Sendable {
    private static let pool = DispatchQueue(label: "dtls", attributes: .concurrent)

    private let queue = DispatchQueue(label: "dtls.connection", target: Handshake.pool)
    private let send: @Sendable ([[UInt8]]) -> Void
    private let onChange: @Sendable (DTLSState) -> Void
    private var connection: DTLSConnection?
    private var timerGeneration = 0
    private var isOver = false

    /// - Parameters:
    ///   - send: carries datagrams to the peer; called on the queue.
    ///   - onChange: hears of each new state; called on the queue, after what the change had to say was sent.
    init(send: @escaping @Sendable ([[UInt8]]) -> Void, onChange: @escaping @Sendable (DTLSState) -> Void) {
        self.send = send
        self.onChange = onChange
    }

    /// Makes the connection and begins.
    func start(certificate: DTLSCertificate, role: DTLSRole, fingerprints: [DTLSFingerprint]) {
        queue.async { [self] in
            guard !isOver, connection == nil else { return }
            do throws(DTLSError) {
                let connection = try DTLSConnection(certificate: certificate, role: role, fingerprints: fingerprints)
                self.connection = connection
                handle(connection.start())
            } catch {
                isOver = true
                onChange(.failed(error))
            }
        }
    }

    func feed(_ datagram: [UInt8]) {
        queue.async { [self] in
            if let connection, !isOver { handle(connection.feed(datagram)) }
        }
    }

    /// Says close_notify if there is someone to say it to, then calls `done` on the queue. No state is reported any more.
    func close(done: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            if let connection, !isOver {
                let output = connection.close()
                if !output.datagrams.isEmpty { send(output.datagrams) }
            }
            isOver = true
            connection = nil
            done()
        }
    }

    private func handle(_ output: DTLSOutput) {
        if !output.datagrams.isEmpty { send(output.datagrams) }
        armTimer()
        if let change = output.change { onChange(change) }
    }

    /// Each call replaces the timer before it: an older one finds its number out of date.
    private func armTimer() {
        timerGeneration += 1
        guard let wait = connection?.nextTimeout else { return }
        let generation = timerGeneration
        let (seconds, attoseconds) = wait.components
        // A millisecond late is better than a microsecond early, which would only fire again.
        let microseconds = Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000) + 1000
        queue.asyncAfter(deadline: .now() + .microseconds(microseconds)) { [weak self] in
            guard let self, generation == timerGeneration, let connection, !isOver else { return }
            handle(connection.handleTimeout())
        }
    }
}
