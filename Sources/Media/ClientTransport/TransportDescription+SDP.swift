internal import DTLS
internal import ICE
public import SDP

// Between what an offer and an answer have settled and what a transport is told, both ways: the gateway and the headless
// client stand on the two sides of the same lines.

extension RemoteTransportDescription {
    /// The transport's part of what was agreed.
    public init(_ audio: NegotiatedClientAudio) {
        self.init(
            iceUfrag: audio.iceUfrag, icePwd: audio.icePwd,
            candidates: audio.candidates.compactMap { ICECandidate(sdp: $0) },
            fingerprints: audio.fingerprints.map { DTLSFingerprint(algorithm: $0.algorithm, bytes: $0.bytes) },
            // What the peer said of setup is what makes our role, which the negotiation has decided.
            setup: audio.localSetup == .active ? .passive : .active)
    }
}

extension ClientTransportValues {
    /// This side's lines.
    public init(_ local: LocalTransportDescription) {
        self.init(
            iceUfrag: local.iceUfrag, icePwd: local.icePwd, candidates: local.candidates.map(\.description),
            fingerprint: Fingerprint(algorithm: local.fingerprint.algorithm, bytes: local.fingerprint.bytes))
    }
}
