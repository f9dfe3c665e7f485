internal import COpenSSL

/// Who sends the ClientHello (RFC 4145, RFC 5763 section 5).
public enum DTLSRole: Sendable {
    /// The client of the handshake: `a=setup:active`.
    case active
    /// The server: `a=setup:passive`.
    case passive
}

/// What a handshake yields for SRTP (RFC 5764 section 4.2), as seen from this side.
public struct DTLSSRTPKeys: Sendable, Equatable, CustomStringConvertible {
    /// The chosen profile's registry number.
    public let profile: UInt16
    /// Master key and salt of what this side sends.
    public let sendKey: [UInt8], sendSalt: [UInt8]
    /// Master key and salt of what the other side sends.
    public let receiveKey: [UInt8], receiveSalt: [UInt8]

    /// The profile only.
    public var description: String { "DTLSSRTPKeys(profile \(profile), redacted)" }
}

/// Where a connection stands.
public enum DTLSState: Sendable, Equatable {
    /// The handshake goes on.
    case handshaking
    /// The peer is who its SDP says, and here are the keys.
    case connected(DTLSSRTPKeys)
    /// One side has said close_notify.
    case closed
    /// It will never connect.
    case failed(DTLSError)
}

/// What a call on a connection asks of its owner.
public struct DTLSOutput: Sendable {
    /// Datagrams to send, in order, each at most ``DTLSConnection/maximumDatagram`` bytes.
    public var datagrams: [[UInt8]] = []
    /// The new state, if the call changed it.
    public var change: DTLSState?
}

/// One DTLS 1.2 connection in memory: datagrams in, datagrams and a state out. It makes the keys of SRTP and carries no data.
///
/// - Threads: one at a time (it is not Sendable). The clock of the retransmission timer is OpenSSL's own: ask for
///   ``nextTimeout`` after each call and call ``handleTimeout()`` when it has passed.
public final class DTLSConnection {
    /// The longest datagram it sends, in bytes: fits any path (RFC 8261 section 5 has the same figure).
    public static let maximumDatagram = 1200

    /// Which part this side plays. It never changes (RFC 8842).
    public let role: DTLSRole
    /// Where the connection stands.
    public private(set) var state = DTLSState.handshaking

    private let ssl: OpaquePointer
    private let queue = DatagramQueue()
    private let peer: DTLSPeerCheck
    private let certificate: DTLSCertificate

    /// - Parameters:
    ///   - certificate: this side's.
    ///   - fingerprints: the peer's, from its SDP; its certificate must match one of them.
    public init(certificate: DTLSCertificate, role: DTLSRole, fingerprints: [DTLSFingerprint]) throws(DTLSError) {
        ERR_clear_error()
        guard let ssl = SSL_new(certificate.context.raw) else { throw .fromQueue(.library) }
        guard let bio = queue.makeBIO() else {
            SSL_free(ssl)
            throw .fromQueue(.library)
        }
        self.ssl = ssl
        self.role = role
        self.certificate = certificate
        peer = DTLSPeerCheck(fingerprints: fingerprints)
        SSL_set_bio(ssl, bio, bio)  // takes the one reference for both directions
        _ = shim_set_app_data(ssl, Unmanaged.passUnretained(peer).toOpaque())
        _ = shim_set_mtu(ssl, Self.maximumDatagram)
        DTLS_set_timer_cb(ssl, retransmissionTime)
        switch role {
        case .active: SSL_set_connect_state(ssl)
        case .passive: SSL_set_accept_state(ssl)
        }
    }

    deinit { SSL_free(ssl) }

    /// Begins: the active side's ClientHello comes out; the passive side has nothing to say yet.
    public func start() -> DTLSOutput { advance() }

    /// Takes a datagram from the peer. Bytes that are no DTLS record change nothing (RFC 6347 section 4.1.2.7).
    public func feed(_ datagram: [UInt8]) -> DTLSOutput {
        guard Self.looksLikeRecord(datagram) else { return DTLSOutput() }
        queue.offer(datagram)
        return advance()
    }

    /// How long until ``handleTimeout()`` is due; nil if nothing waits for an answer.
    public var nextTimeout: Duration? {
        guard case .handshaking = state else { return nil }
        let left = shim_timeout_us(ssl)
        return left < 0 ? nil : .microseconds(left)
    }

    /// Sends the last flight again if its time has come.
    public func handleTimeout() -> DTLSOutput {
        guard case .handshaking = state else { return DTLSOutput() }
        ERR_clear_error()
        guard shim_handle_timeout(ssl) >= 0 else { return output(enter(.failed(.fromQueue(.handshake)))) }
        return output(nil)
    }

    /// Says close_notify, once. Nothing that comes later changes the state.
    public func close() -> DTLSOutput {
        switch state {
        case .closed, .failed: return DTLSOutput()
        case .connected:
            ERR_clear_error()
            _ = SSL_shutdown(ssl)
        case .handshaking: break  // there is no one to whom a close could be proved
        }
        return output(enter(.closed))
    }

    /// Lets OpenSSL take what was offered and go as far as it can.
    private func advance() -> DTLSOutput {
        ERR_clear_error()
        switch state {
        case .handshaking: return output(handshake())
        case .connected: return output(readOn())
        case .closed, .failed: return DTLSOutput()
        }
    }

    private func handshake() -> DTLSState? {
        let answer = SSL_do_handshake(ssl)
        if answer == 1 { return enter(finish()) }
        switch SSL_get_error(ssl, answer) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
        default: return enter(.failed(.fromQueue(peer.hasRefused ? .fingerprintMismatch : .handshake)))
        }
    }

    private func finish() -> DTLSState {
        if let keys = exportKeys() { return .connected(keys) }
        _ = SSL_shutdown(ssl)
        return .failed(DTLSError(.noCommonProfile))
    }

    /// Reads after the handshake: alerts, and flights that the peer sends again. Application data is thrown away.
    private func readOn() -> DTLSState? {
        withUnsafeTemporaryAllocation(byteCount: 2048, alignment: 8) { scratch in
            while true {
                let count = SSL_read(ssl, scratch.baseAddress, Int32(scratch.count))
                if count > 0 { continue }
                switch SSL_get_error(ssl, count) {
                case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
                case SSL_ERROR_ZERO_RETURN:
                    _ = SSL_shutdown(ssl)  // close_notify is answered with the same
                    return enter(.closed)
                default: return enter(.failed(.fromQueue(.handshake)))
                }
            }
        }
    }

    private func enter(_ new: DTLSState) -> DTLSState {
        state = new
        return new
    }

    private func output(_ change: DTLSState?) -> DTLSOutput { DTLSOutput(datagrams: queue.takeOutgoing(), change: change) }

    /// Client key, server key, client salt, server salt, in this order (RFC 5764 section 4.2).
    private func exportKeys() -> DTLSSRTPKeys? {
        guard let profile = SSL_get_selected_srtp_profile(ssl),
            let id = UInt16(exactly: profile.pointee.id), certificate.profiles.contains(id)
        else { return nil }
        let (key, salt) =
            switch id {
            case 0x0001: (16, 14)
            case 0x0008: (32, 12)
            default: (16, 12)
            }
        var material = [UInt8](repeating: 0, count: 2 * (key + salt))
        let label = "EXTRACTOR-dtls_srtp"
        guard SSL_export_keying_material(ssl, &material, material.count, label, label.utf8.count, nil, 0, 0) == 1 else {
            return nil
        }
        let clientKey = Array(material[..<key])
        let serverKey = Array(material[key..<2 * key])
        let clientSalt = Array(material[2 * key..<2 * key + salt])
        let serverSalt = Array(material[(2 * key + salt)...])
        return role == .active
            ? DTLSSRTPKeys(
                profile: id, sendKey: clientKey, sendSalt: clientSalt, receiveKey: serverKey, receiveSalt: serverSalt)
            : DTLSSRTPKeys(
                profile: id, sendKey: serverKey, sendSalt: serverSalt, receiveKey: clientKey, receiveSalt: clientSalt)
    }

    /// A record header of DTLS 1.0 to 1.2: type 20-63 (RFC 7983), version 254.x, and a length that the datagram holds.
    private static func looksLikeRecord(_ datagram: [UInt8]) -> Bool {
        guard datagram.count >= 13, (20...63).contains(datagram[0]), datagram[1] == 0xFE else { return false }
        return Int(datagram[11]) << 8 | Int(datagram[12]) <= datagram.count - 13
    }
}

/// Holds what the peer must prove, where OpenSSL's verify callback finds it.
final class DTLSPeerCheck {
    private let fingerprints: [DTLSFingerprint]
    private(set) var hasRefused = false

    init(fingerprints: [DTLSFingerprint]) { self.fingerprints = fingerprints }

    func accepts(_ certificate: OpaquePointer) -> Bool {
        if fingerprints.contains(where: { $0.matches(certificate) }) { return true }
        hasRefused = true
        return false
    }
}

/// The path has passed an ICE check, so the first retransmission may come sooner than the standard's second (DTL-5); it
/// doubles up to 4 s.
private func retransmissionTime(_: OpaquePointer?, _ last: UInt32) -> UInt32 {
    last == 0 ? 250_000 : min(last * 2, 4_000_000)
}
