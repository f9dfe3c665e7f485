// One call: its peer connection and its place in the protocol.

export const finalStatuses = new Set(["FINISH", "BUSY", "FAILED"]);

/// What the microphone is asked for; tests may change it.
export const audioConstraints = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };

/// Events: "change" (status, muted, held or streams changed).
export class Call extends EventTarget {
  status = "NEW";
  sipStatus = 0;
  info = "";
  muted = false;
  establishedAt = 0;
  endedAt = 0;
  microphone = null;
  remoteStream = null;
  keysSent = "";
  hungUpHere = false;
  #client;
  #peer = null;
  #offer = null;
  #hasRemoteDescription = false;

  constructor(client, { id = crypto.randomUUID(), incoming = false, party = "", name = "", offer = null }) {
    super();
    this.#client = client;
    this.id = id;
    this.incoming = incoming;
    this.party = party;
    this.name = name;
    this.#offer = offer;
  }

  get isOver() { return finalStatuses.has(this.status); }
  get isHeld() { return this.status === "HOLD"; }
  get isTalking() { return this.status === "ESTABLISHED" || this.status === "HOLD"; }

  /// Calls `party`. The offer goes out at once, without candidates: the gateway has them all.
  async start() {
    this.#become("PENDING");
    const peer = await this.#open();
    if (this.isOver) return;
    await peer.setLocalDescription(await peer.createOffer());
    if (this.isOver) return;
    const sent = this.#client.send("call", {
      callId: this.id, incoming: false, hasAudio: true, hasVideo: false, status: "PENDING", mediaProvider: "WebRTC",
      sdp: peer.localDescription.sdp, caller: this.#client.session?.sipLogin ?? "", callee: this.party,
    });
    if (!sent) this.end("FAILED", "The connection to the gateway is lost");
  }

  /// Takes an incoming call.
  async answer() {
    if (!this.incoming || this.isTalking || this.isOver) return;
    this.#become("PENDING");
    const peer = await this.#open();
    // The caller may have given up while the browser asked for the microphone.
    if (this.isOver) return;
    await peer.setRemoteDescription({ type: "offer", sdp: this.#offer });
    this.#hasRemoteDescription = true;
    await peer.setLocalDescription(await peer.createAnswer());
    if (this.isOver) return;
    this.#client.send("answer", {
      callId: this.id, incoming: true, hasAudio: true, hasVideo: false, status: "PENDING", mediaProvider: "WebRTC",
      sdp: peer.localDescription.sdp, callee: this.#client.session?.sipLogin ?? "",
    });
  }

  /// Our description has come; exactly once per call.
  async receivedDescription(sdp) {
    if (!this.#peer) {
      this.#offer = sdp;
      return;
    }
    if (this.#hasRemoteDescription || this.#peer.signalingState !== "have-local-offer") return;
    this.#hasRemoteDescription = true;
    await this.#peer.setRemoteDescription({ type: "answer", sdp });
  }

  /// An event of the call has come.
  receivedEvent(object) {
    this.sipStatus = object.sipStatus || this.sipStatus;
    this.info = object.info ?? this.info;
    // The second RING of an incoming call must not undo an answer under way.
    if (this.incoming && this.status === "PENDING" && object.status === "RING") return;
    if (object.status === "ESTABLISHED" && !this.establishedAt) this.establishedAt = performance.now();
    this.#become(object.status);
    if (this.isOver) this.#close();
  }

  hangUp() {
    if (this.isOver) return;
    this.hungUpHere = true;
    this.#client.send("hangup", { callId: this.id });
    this.end("FINISH", "");
  }

  /// Ends the call on our side.
  end(status, info) {
    if (this.isOver) return;
    this.info = info;
    this.#become(status);
    this.#close();
  }

  setHeld(held) {
    if (this.isTalking && held !== this.isHeld) this.#client.send(held ? "hold" : "unhold", { callId: this.id });
  }

  setMuted(muted) {
    this.muted = muted;
    for (const track of this.microphone?.getAudioTracks() ?? []) track.enabled = !muted;
    this.#changed();
  }

  sendKey(key) {
    if (!this.#client.send("sendDtmf", { callId: this.id, type: "RFC2833", dtmf: key })) return;
    this.keysSent = (this.keysSent + key).slice(-24);
    this.#changed();
  }

  /// The peer connection's statistics, as plain objects.
  async statistics() {
    const report = await this.#peer?.getStats();
    return report ? [...report.values()] : [];
  }

  async #open() {
    if (!navigator.mediaDevices?.getUserMedia) {
      throw new DOMException("no microphone in this context", "SecurityError");
    }
    this.microphone = await navigator.mediaDevices.getUserMedia({ audio: audioConstraints });
    if (this.isOver) {
      this.#close();
      return null;
    }
    this.setMuted(this.muted);
    const peer = new RTCPeerConnection({ bundlePolicy: "max-bundle", rtcpMuxPolicy: "require" });
    this.#peer = peer;
    peer.ontrack = (event) => {
      this.remoteStream = event.streams[0] ?? new MediaStream([event.track]);
      this.#changed();
    };
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === "failed" && !this.isOver) {
        this.#client.send("hangup", { callId: this.id });
        this.end("FAILED", "No way for the sound was found");
      }
      this.#changed();
    };
    for (const track of this.microphone.getAudioTracks()) peer.addTrack(track, this.microphone);
    return peer;
  }

  get mediaState() { return this.#peer?.connectionState ?? "none"; }

  #close() {
    for (const track of this.microphone?.getTracks() ?? []) track.stop();
    this.microphone = null;
    this.remoteStream = null;
    this.#peer?.close();
    this.#peer = null;
    this.#changed();
  }

  #become(status) {
    this.status = status;
    if (this.isOver) this.endedAt ||= performance.now();
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
