// Conceals lost stretches of telephone audio.
