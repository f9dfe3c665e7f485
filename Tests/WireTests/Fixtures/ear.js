// Runs before the page's own scripts. It hears what the page's calls hear, next to what they say, on one clock, and can
// put a tone in the microphone's place. The test reads it through window.__ear.
(() => {
    const wishes = /* WISHES */ {};
    const chunks = [];
    const tapped = new WeakSet();
    let context, recorder, ready;

    const worklet = `
        registerProcessor("ear", class extends AudioWorkletProcessor {
            constructor() { super(); this.fill = 0; this.pair = this.empty(); }
            empty() { return [new Int16Array(3840), new Int16Array(3840)]; }
            process(inputs) {
                for (const side of [0, 1]) {
                    const samples = inputs[side][0];
                    for (let n = 0; n < 128; n++) {
                        const value = samples ? Math.max(-1, Math.min(1, samples[n])) : 0;
                        this.pair[side][this.fill + n] = Math.round(value * 32767);
                    }
                }
                this.fill += 128;
                if (this.fill === 3840) {
                    this.port.postMessage(this.pair);
                    this.pair = this.empty();
                    this.fill = 0;
                }
                return true;
            }
        });`;

    const open = () => {
        ready ??= (async () => {
            context = new AudioContext({ sampleRate: 48000, latencyHint: "interactive" });
            await context.audioWorklet.addModule("data:text/javascript," + encodeURIComponent(worklet));
            recorder = new AudioWorkletNode(context, "ear", { numberOfInputs: 2, numberOfOutputs: 1 });
            recorder.port.onmessage = (message) => chunks.push(message.data);
            const silence = new GainNode(context, { gain: 0 });
            recorder.connect(silence).connect(context.destination);
            await context.resume();
        })();
        return ready;
    };

    const tap = async (track, side) => {
        if (!track || track.kind !== "audio" || tapped.has(track)) return;
        tapped.add(track);
        await open();
        const stream = new MediaStream([track]);
        if (side === 0) {
            // Chromium feeds a remote track to Web Audio only while a media element plays it.
            const element = new Audio();
            element.muted = true;
            element.srcObject = stream;
            element.play().catch(() => {});
            (window.__earElements ??= []).push(element);
        }
        new MediaStreamAudioSourceNode(context, { mediaStream: stream }).connect(recorder, 0, side);
    };

    const peers = [];
    const Native = window.RTCPeerConnection;
    window.RTCPeerConnection = class RTCPeerConnection extends Native {
        constructor(...settings) {
            super(...settings);
            if (wishes.unheard) return;
            peers.push(this);
            const tapSenders = () => this.getSenders().forEach((sender) => tap(sender.track, 1));
            this.addEventListener("track", (event) => tap(event.track, 0));
            this.addEventListener("connectionstatechange", tapSenders);
            this.addEventListener("signalingstatechange", tapSenders);
        }
    };

    const media = navigator.mediaDevices;
    const microphone = media?.getUserMedia.bind(media);
    const tone = async () => {
        await open();
        const oscillator = new OscillatorNode(context, { frequency: wishes.tone.hertz });
        const gain = new GainNode(context, { gain: Math.SQRT2 * 10 ** (wishes.tone.level / 20) });
        const mouth = new MediaStreamAudioDestinationNode(context, { channelCount: 1 });
        oscillator.connect(gain).connect(mouth);
        oscillator.start();
        return mouth.stream;
    };
    if (media) {
        media.getUserMedia = (constraints) => {
            if (wishes.tone && constraints?.audio) return tone();
            if (wishes.raw && constraints?.audio) {
                const plain = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
                const audio = typeof constraints.audio === "object" ? { ...constraints.audio, ...plain } : plain;
                return microphone({ ...constraints, audio });
            }
            return microphone(constraints);
        };
    }

    const text = (side) => {
        const length = chunks.reduce((sum, chunk) => sum + chunk[side].length, 0);
        const samples = new Int16Array(length);
        let at = 0;
        for (const chunk of chunks) {
            samples.set(chunk[side], at);
            at += chunk[side].length;
        }
        const bytes = new Uint8Array(samples.buffer);
        let binary = "";
        for (let n = 0; n < bytes.length; n += 32768) binary += String.fromCharCode(...bytes.subarray(n, n + 32768));
        return btoa(binary);
    };

    window.__ear = {
        peers,
        seconds: () => (chunks.length * 3840) / 48000,
        clear: () => { chunks.length = 0; },
        take: () => ({ rate: 48000, heard: text(0), said: text(1) }),
        reports: async () => {
            const reports = [];
            for (const peer of peers) (await peer.getStats()).forEach((report) => reports.push(report));
            return reports;
        },
    };
})();
