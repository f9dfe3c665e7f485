import SRTP

/// Protects what one leg sends: SRTP, or nothing on a plain leg.
struct PacketSealer: ~Copyable {
    private var sender: SRTPSender?
    private let isPlain: Bool

    /// A plain leg.
    init() {
        sender = nil
        isPlain = true
    }

    init(_ keys: SRTPKeyMaterial) throws(MediaGraphError) {
        do { sender = try SRTPSender(keys) } catch { throw MediaGraphError("\(error)") }
        isPlain = false
    }

    /// - Returns: the new length; 0 if the packet must not go out.
    mutating func protect(_ datagram: inout MutableSpan<UInt8>, length: Int, isRTCP: Bool) -> Int {
        guard !isPlain, length > 0 else { return length }
        do {
            return isRTCP
                ? try sender?.protectRTCP(&datagram, length: length) ?? 0
                : try sender?.protectRTP(&datagram, length: length) ?? 0
        } catch { return 0 }
    }
}

/// Opens what one leg receives: SRTP, or nothing on a plain leg.
struct PacketOpener: ~Copyable {
    private var receiver: SRTPReceiver?
    let isPlain: Bool
    /// Packets that failed authentication or replay checks: dropped, counted, and nothing else (case H61).
    private(set) var failures = 0

    /// A plain leg.
    init() {
        receiver = nil
        isPlain = true
    }

    init(_ keys: SRTPKeyMaterial) throws(MediaGraphError) {
        do { receiver = try SRTPReceiver(keys) } catch { throw MediaGraphError("\(error)") }
        isPlain = false
    }

    /// - Parameter isStranger: whether a failure is a stranger's, and no sign of trouble with the peer.
    /// - Returns: the length of the opened packet; nil if it is to be dropped.
    mutating func open(
        _ datagram: inout MutableSpan<UInt8>, length: Int, isRTCP: Bool, isStranger: Bool = false
    ) -> Int? {
        guard !isPlain else { return length }
        do {
            return isRTCP
                ? try receiver?.unprotectRTCP(&datagram, length: length)
                : try receiver?.unprotectRTP(&datagram, length: length)
        } catch {
            if !isStranger { failures += 1 }
            return nil
        }
    }
}
