#pragma once
// The door to libspeexdsp: jitter buffer and resampler.
#include <speex/speex_jitter.h>
#include <speex/speex_resampler.h>
#include <speex/speex_preprocess.h>

// The control call takes every value as an untyped pointer; a function pointer needs its cast made in C.
static inline int trunkline_jitter_set_destroy(JitterBuffer *j, void (*destroy)(void *)) {
    return jitter_buffer_ctl(j, JITTER_BUFFER_SET_DESTROY_CALLBACK, (void *)destroy);
}
static inline int trunkline_jitter_set_int(JitterBuffer *j, int request, spx_int32_t value) {
    return jitter_buffer_ctl(j, request, &value);
}
