// Frames of PCM, G.711, levels, tones and WAV files.
