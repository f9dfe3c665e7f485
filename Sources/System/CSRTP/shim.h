#pragma once
// The door to libsrtp 2: one context a direction.
#include <srtp2/srtp.h>
#include <string.h>

// Makes a context for every SSRC of one direction. `key` is the master key with the salt behind it, as long as the profile
// asks; libsrtp keeps its own copy. The RTCP policy follows the same profile.
static inline srtp_err_status_t shim_srtp_create(
    srtp_t *context, int profile, const unsigned char *key, int is_outbound, unsigned long replay_window) {
    srtp_policy_t policy;
    memset(&policy, 0, sizeof policy);
    srtp_err_status_t status = srtp_crypto_policy_set_from_profile_for_rtp(&policy.rtp, (srtp_profile_t)profile);
    if (status) return status;
    status = srtp_crypto_policy_set_from_profile_for_rtcp(&policy.rtcp, (srtp_profile_t)profile);
    if (status) return status;
    policy.ssrc.type = is_outbound ? ssrc_any_outbound : ssrc_any_inbound;
    policy.key = (unsigned char *)key;
    policy.window_size = replay_window;
    return srtp_create(context, &policy);
}

static inline srtp_err_status_t shim_srtp_init(void) { return srtp_init(); }
