// Everything that is heard besides the call itself, and the measuring and recording of streams.

let shared = null;

/// One context for tones and meters; it may stay suspended until the first gesture of the user.
function context() {
  shared ??= new AudioContext();
  if (shared.state === "suspended") shared.resume().catch(() => {});
  return shared;
}

function burst(frequencies, start, length, volume) {
  const audio = context();
  const gain = audio.createGain();
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(volume, start + 0.01);
  gain.gain.setValueAtTime(volume, start + length - 0.02);
  gain.gain.linearRampToValueAtTime(0, start + length);
  gain.connect(audio.destination);
  for (const frequency of frequencies) {
    const tone = audio.createOscillator();
    tone.frequency.value = frequency;
    tone.connect(gain);
    tone.start(start);
    tone.stop(start + length + 0.02);
  }
  return gain;
}

/// A tone that repeats until it is stopped. Kinds: "ringback", "ring".
export class Ringer {
  kind = "";
  #timer = null;
  #gains = [];

  play(kind) {
    if (this.kind === kind) return;
    this.stop();
    this.kind = kind;
    if (!kind) return;
    this.#once();
    this.#timer = setInterval(() => this.#once(), kind === "ring" ? 3000 : 5000);
  }

  stop() {
    this.kind = "";
    clearInterval(this.#timer);
    for (const gain of this.#gains) gain.disconnect();
    this.#gains = [];
  }

  #once() {
    const now = context().currentTime + 0.03;
    for (const gain of this.#gains) gain.disconnect();
    this.#gains = [];
    if (this.kind === "ringback") {
      this.#gains.push(burst([425], now, 1, 0.06));
    } else {
      for (let step = 0; step < 12; step += 1) {
        this.#gains.push(burst([step % 2 ? 784 : 988], now + step * 0.1, 0.095, 0.1));
      }
    }
  }
}

/// Three beeps: the far side is busy or the call failed.
export function beepBusy() {
  const now = context().currentTime + 0.03;
  for (let beep = 0; beep < 3; beep += 1) burst([425], now + beep * 0.5, 0.25, 0.06);
}

const rows = [697, 770, 852, 941];
const columns = [1209, 1336, 1477];
const layout = "123456789*0#";

/// The key's own two tones, quietly, for the one who presses it.
export function beepKey(key) {
  const place = layout.indexOf(key);
  if (place < 0) return;
  burst([rows[Math.floor(place / 3)], columns[place % 3]], context().currentTime, 0.12, 0.03);
}

/// Measures a stream's level.
export class Meter {
  #analyser = null;
  #source = null;
  #samples = null;
  #stream = null;

  /// Follows `stream`; null stops.
  follow(stream) {
    if (stream === this.#stream) return;
    this.#source?.disconnect();
    this.#stream = stream;
    this.#source = this.#analyser = null;
    if (!stream?.getAudioTracks().length) return;
    const audio = context();
    this.#analyser = audio.createAnalyser();
    this.#analyser.fftSize = 1024;
    this.#samples = new Float32Array(1024);
    this.#source = audio.createMediaStreamSource(stream);
    this.#source.connect(this.#analyser);
  }

  /// The level now in dB of full scale, -100 for silence.
  get level() {
    if (!this.#analyser) return -100;
    this.#analyser.getFloatTimeDomainData(this.#samples);
    let sum = 0;
    for (const sample of this.#samples) sum += sample * sample;
    return Math.max(-100, 10 * Math.log10(sum / this.#samples.length + 1e-10));
  }
}

/// Records a stream as 16-bit PCM, mono, 16 kHz.
export class Recorder {
  static rate = 16000;
  #audio = null;
  #chunks = [];
  #node = null;

  async start(stream) {
    await this.stop();
    this.#audio = new AudioContext({ sampleRate: Recorder.rate });
    await this.#audio.audioWorklet.addModule("/recorder.js");
    await this.#audio.resume();
    this.#node = new AudioWorkletNode(this.#audio, "recorder", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
    this.#node.port.onmessage = (event) => this.#chunks.push(event.data);
    this.#audio.createMediaStreamSource(stream).connect(this.#node);
  }

  /// Ends the recording; answers with its bytes, little endian, in base64.
  async stop() {
    const chunks = this.#chunks;
    this.#chunks = [];
    await this.#audio?.close();
    this.#audio = this.#node = null;
    const bytes = new Uint8Array(chunks.reduce((size, chunk) => size + 2 * chunk.length, 0));
    const view = new DataView(bytes.buffer);
    let at = 0;
    for (const chunk of chunks) {
      for (const sample of chunk) {
        view.setInt16(at, Math.max(-32768, Math.min(32767, Math.round(sample * 32768))), true);
        at += 2;
      }
    }
    let text = "";
    for (let start = 0; start < bytes.length; start += 32768) text += String.fromCharCode(...bytes.subarray(start, start + 32768));
    return btoa(text);
  }
}
