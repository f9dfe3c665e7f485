// Runs on the audio thread: hands each block of samples to the page.
class RecorderProcessor extends AudioWorkletProcessor {
  process(inputs) {
    const samples = inputs[0]?.[0];
    if (samples) this.port.postMessage(samples.slice());
    return true;
  }
}
registerProcessor("recorder", RecorderProcessor);
