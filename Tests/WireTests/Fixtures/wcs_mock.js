// Takes the WebSocket's place in wcs_client.html and plays a gateway within the page: echo for who calls, a tone for who is
// called. So the client is tried before a gateway is.
(() => {
    const gathered = async (peer) => {
        await peer.setLocalDescription();
        if (peer.iceGatheringState !== "complete") {
            await new Promise((done) => {
                peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && done();
            });
        }
        return peer.localDescription.sdp;
    };

    window.WebSocket = class {
        constructor() {
            this.peers = {};
            window.mock = this;
            setTimeout(() => this.onopen());
        }

        tell(message, ...data) { this.onmessage({ data: JSON.stringify({ message, data }) }); }
        state(message, callId, status) { this.tell(message, { callId, status, sipStatus: 0, incoming: false }); }

        async send(text) {
            const { message, data: [first] } = JSON.parse(text);
            if (message === "connection") this.tell("getUserData", { sipLogin: "7001", authToken: "t" });
            if (message === "call") {
                if (first.sdp.includes("a=candidate")) throw new Error("the Web SDK sends no candidates");
                this.state("notifyTryingResponse", first.callId, "TRYING");
                const peer = this.peers[first.callId] = new RTCPeerConnection();
                await peer.setRemoteDescription({ type: "offer", sdp: first.sdp });
                const [transceiver] = peer.getTransceivers();
                transceiver.direction = "sendrecv";
                await transceiver.sender.replaceTrack(transceiver.receiver.track);
                this.tell("setRemoteSDP", first.callId, await gathered(peer), true);
                this.state("ring", first.callId, "RING");
                this.state("talk", first.callId, "ESTABLISHED");
            }
            if (message === "answer") {
                await this.peers[first.callId].setRemoteDescription({ type: "answer", sdp: first.sdp });
                this.state("talk", first.callId, "ESTABLISHED");
            }
            if (message === "hangup") {
                this.peers[first.callId].close();
                this.state("finish", first.callId, "FINISH");
            }
        }

        async callClient(callId, hertz) {
            const context = new AudioContext();
            const oscillator = new OscillatorNode(context, { frequency: hertz });
            const mouth = new MediaStreamAudioDestinationNode(context);
            oscillator.connect(mouth);
            oscillator.start();
            const peer = this.peers[callId] = new RTCPeerConnection();
            peer.addTrack(mouth.stream.getAudioTracks()[0], mouth.stream);
            this.tell("setRemoteSDP", callId, await gathered(peer), false);
            this.tell("notifyIncomingCall", { callId, status: "RING", incoming: true, caller: "5551", callee: "7001" });
            this.state("ring", callId, "RING");
        }
    };
})();
