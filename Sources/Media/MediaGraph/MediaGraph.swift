// The two packet paths of a call, moved only by packets and ticks handed in.
