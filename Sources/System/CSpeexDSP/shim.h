#pragma once
// The door to libspeexdsp: jitter buffer and resampler.
#include <speex/speex_jitter.h>
#include <speex/speex_resampler.h>
#include <speex/speex_preprocess.h>
