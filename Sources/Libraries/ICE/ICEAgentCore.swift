internal import CGLib
internal import CNice
internal import GLibLoop

/// The part of an agent that lives on the loop.
///
/// libnice's callbacks carry a retained pointer to it, given up by `close`. Unchecked but safe to send: everything but the
/// initializer runs on the loop's thread.
final class ICEAgentCore: @unchecked Sendable {
    /// More than any client has; each costs a check of every local candidate, sent wherever the remote says (RFC 8445 19.5.1).
    private static let maximumRemoteCandidates = 50

    private let loop: GLibLoop
    private let configuration: ICEAgent.Configuration
    private let onEvent: @Sendable (ICEEvent) -> Void

    private var agent: OpaquePointer?
    private var stream: guint = 0
    private var selfReference: Unmanaged<ICEAgentCore>?
    private var hasRemoteCredentials = false
    private var isClosed = false

    init(loop: GLibLoop, configuration: ICEAgent.Configuration, onEvent: @escaping @Sendable (ICEEvent) -> Void) {
        self.loop = loop
        self.configuration = configuration
        self.onEvent = onEvent
    }

    func gather() {
        guard !isClosed, agent == nil else { return }
        do throws(ICEError) { try open() } catch { report(.failed(error)) }
    }

    private func open() throws(ICEError) {
        guard let agent = shim_nice_agent_new(loop.rawContext, configuration.isControlling ? 1 : 0) else {
            throw .noAgent
        }
        self.agent = agent
        for host in configuration.localAddresses where shim_nice_add_local_address(agent, host) == 0 {
            throw .badLocalAddress(host)
        }
        stream = nice_agent_add_stream(agent, 1)
        guard stream != 0 else { throw .noAgent }
        if let range = configuration.portRange {
            nice_agent_set_port_range(agent, stream, 1, guint(range.lowerBound), guint(range.upperBound))
        }
        let reference = Unmanaged.passRetained(self)
        selfReference = reference
        let data = reference.toOpaque()
        shim_nice_on_state(agent, stateChanged, data)
        shim_nice_on_gathered(agent, gatheringDone, data)
        shim_nice_on_selected(agent, pairSelected, data)
        guard shim_nice_attach(agent, stream, loop.rawContext, datagramReceived, data) != 0,
            nice_agent_gather_candidates(agent, stream) != 0
        else { throw .gatheringFailed }
    }

    func setRemote(ufrag: String, password: String, candidates: [ICECandidate]) {
        guard let agent, !isClosed else { return }
        // Lengths by RFC 8839 section 5.4; libnice does not check them.
        guard (4...256).contains(ufrag.utf8.count), (22...256).contains(password.utf8.count),
            nice_agent_set_remote_credentials(agent, stream, ufrag, password) != 0
        else { return report(.failed(.badRemoteCredentials)) }
        hasRemoteCredentials = true
        addRemote(candidates: candidates)
    }

    func addRemote(candidates: [ICECandidate]) {
        guard let agent, !isClosed, hasRemoteCredentials else { return }
        var list: UnsafeMutablePointer<GSList>?
        for candidate in candidates.lazy.filter(\.isUsable).prefix(Self.maximumRemoteCandidates) {
            let made = shim_candidate_new(
                Int32(candidate.kind.code), candidate.host, candidate.port, candidate.priority, candidate.foundation, stream
            )
            if let made { list = g_slist_append(list, made) }
        }
        if list != nil { _ = shim_nice_set_remote_candidates(agent, stream, list) }
    }

    func restart() {
        guard let agent, !isClosed else { return }
        hasRemoteCredentials = false
        guard nice_agent_restart_stream(agent, stream) != 0 else { return report(.failed(.restartFailed)) }
        reportGathered()
    }

    func send(_ datagrams: [[UInt8]]) {
        guard let agent, !isClosed else { return }
        for datagram in datagrams {
            datagram.withUnsafeBytes { bytes in
                _ = nice_agent_send(
                    agent, stream, 1, guint(bytes.count), bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
            }
        }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        if let agent {
            if let data = selfReference?.toOpaque() { shim_nice_disconnect(agent, data) }
            if stream != 0 {
                _ = shim_nice_attach(agent, stream, loop.rawContext, nil, nil)
                nice_agent_remove_stream(agent, stream)
            }
            shim_nice_unref(agent)
        }
        agent = nil
        selfReference?.release()
        selfReference = nil
    }

    private func report(_ event: ICEEvent) {
        guard !isClosed else { return }
        onEvent(event)
    }

    fileprivate func reportGathered() {
        guard let agent, !isClosed else { return }
        var ufrag: UnsafeMutablePointer<gchar>?
        var password: UnsafeMutablePointer<gchar>?
        guard nice_agent_get_local_credentials(agent, stream, &ufrag, &password) != 0, let ufrag, let password else {
            return report(.failed(.gatheringFailed))
        }
        defer {
            g_free(ufrag)
            g_free(password)
        }
        let candidates = localCandidates(of: agent)
        guard !candidates.isEmpty else { return report(.failed(.gatheringFailed)) }
        report(
            .gathered(
                ICELocalDescription(
                    ufrag: String(cString: ufrag), password: String(cString: password), candidates: candidates)))
    }

    private func localCandidates(of agent: OpaquePointer) -> [ICECandidate] {
        let list = nice_agent_get_local_candidates(agent, stream, 1)
        defer { g_slist_free(list) }
        var candidates: [ICECandidate] = []
        var next = list
        while let item = next {
            if let raw = item.pointee.data?.assumingMemoryBound(to: NiceCandidate.self) {
                candidates.append(ICECandidate(raw))
                nice_candidate_free(raw)
            }
            next = item.pointee.next
        }
        return candidates.filter(\.isUsable)
    }

    fileprivate func reportState(_ raw: guint) {
        if let state = ICEState(rawValue: raw) { report(.stateChanged(state)) }
    }

    fileprivate func reportSelected(local: ICECandidate, remote: ICECandidate) {
        guard let agent, !isClosed else { return }
        let descriptor = shim_nice_selected_descriptor(agent, stream)
        report(
            .selectedPair(
                ICESelectedPair(local: local, remote: remote, socketDescriptor: descriptor < 0 ? nil : descriptor)))
    }

    fileprivate func reportReceived(_ datagram: [UInt8]) { report(.received(datagram)) }
}

extension ICECandidate {
    fileprivate init(_ raw: UnsafePointer<NiceCandidate>) {
        let (host, port) = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 46) { text in
            text.initialize(repeating: 0)
            let port = text.baseAddress.map { shim_candidate_address(raw, 0, $0) } ?? 0
            return (text.baseAddress.map { String(cString: $0) } ?? "", port)
        }
        self.init(
            foundation: shim_candidate_foundation(raw).map { String(cString: $0) } ?? "1", priority: raw.pointee.priority,
            host: host, port: port, kind: Kind(code: raw.pointee.type.rawValue))
        if raw.pointee.transport != NICE_CANDIDATE_TRANSPORT_UDP { transport = "tcp" }
    }
}

extension ICECandidate.Kind {
    /// libnice counts host 0, server reflexive 1, peer reflexive 2, relayed 3.
    fileprivate init(code: UInt32) {
        switch code {
        case NICE_CANDIDATE_TYPE_SERVER_REFLEXIVE.rawValue: self = .serverReflexive
        case NICE_CANDIDATE_TYPE_PEER_REFLEXIVE.rawValue: self = .peerReflexive
        case NICE_CANDIDATE_TYPE_RELAYED.rawValue: self = .relayed
        default: self = .host
        }
    }

    fileprivate var code: UInt32 {
        switch self {
        case .host: NICE_CANDIDATE_TYPE_HOST.rawValue
        case .serverReflexive: NICE_CANDIDATE_TYPE_SERVER_REFLEXIVE.rawValue
        case .peerReflexive: NICE_CANDIDATE_TYPE_PEER_REFLEXIVE.rawValue
        case .relayed: NICE_CANDIDATE_TYPE_RELAYED.rawValue
        }
    }
}

/// The object a callback is for. A callback runs while libnice may drop the last outside reference, so it holds one itself.
private func core(_ data: gpointer?) -> ICEAgentCore? {
    data.map { Unmanaged<ICEAgentCore>.fromOpaque($0).takeUnretainedValue() }
}

private func stateChanged(_: OpaquePointer?, _: guint, _: guint, _ state: guint, _ data: gpointer?) {
    core(data)?.reportState(state)
}

private func gatheringDone(_: OpaquePointer?, _: guint, _ data: gpointer?) {
    core(data)?.reportGathered()
}

private func pairSelected(
    _: OpaquePointer?, _: guint, _: guint, _ local: UnsafeMutablePointer<NiceCandidate>?,
    _ remote: UnsafeMutablePointer<NiceCandidate>?, _ data: gpointer?
) {
    guard let local, let remote else { return }
    core(data)?.reportSelected(local: ICECandidate(local), remote: ICECandidate(remote))
}

private func datagramReceived(
    _: OpaquePointer?, _: guint, _: guint, _ count: guint, _ bytes: UnsafeMutablePointer<gchar>?,
    _ data: gpointer?
) {
    guard let bytes else { return }
    core(data)?.reportReceived(Array(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
}
