// The speexdsp jitter buffer and resampler as owned Swift values.
