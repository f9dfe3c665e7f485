#pragma once
// The door to Sofia-SIP: the nua user agent on a GLib main loop. Tag lists have fixed-arity twins here.
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <sofia-sip/nua.h>
#include <sofia-sip/nua_tag.h>
#include <sofia-sip/su_glib.h>
#include <sofia-sip/su_log.h>
#include <sofia-sip/sip.h>
#include <sofia-sip/sip_header.h>
#include <sofia-sip/sip_status.h>
#include <sofia-sip/sip_tag.h>
#include <sofia-sip/sip_extra.h>
#include <sofia-sip/url.h>
#include <sofia-sip/tport_tag.h>
#include <sofia-sip/nta_tag.h>
#include <sofia-sip/msg_addr.h>
// The library is built with the larger form of its authentication client.
#ifndef SOFIA_EXTEND_AUTH_CLIENT
#define SOFIA_EXTEND_AUTH_CLIENT 1
#endif
#include <stddef.h>
#include <sofia-sip/auth_client_plugin.h>

// Our digest client behind the library's plugin interface; the strings belong to the client's memory home.
struct tl_digest_client {
    auth_client_t client;
    char *nonce, *opaque, *cnonce;
    int algorithm;      // 0: none that we know
    int uses_qop;
    unsigned count;     // how often the nonce has been used
    void const *rest;   // the next challenge of the response being read
};

static inline int tl_register_digest(int (*challenge)(auth_client_t *, msg_auth_t const *),
                                     int (*authorize)(auth_client_t *, su_home_t *, char const *, url_t const *,
                                                      msg_payload_t const *, msg_header_t **)) {
    static auth_client_plugin_t plugin;
    plugin.auc_plugin_size = offsetof(auth_client_plugin_t, auc_info);
    plugin.auc_size = sizeof(struct tl_digest_client);
    // The library replaces its first plugin whose name differs, and finds plugins without regard to case.
    plugin.auc_name = "digest";
    plugin.auc_challenge = challenge;
    plugin.auc_authorize = authorize;
    return auc_register_plugin(&plugin);
}

static inline void tl_sip_drop_log(void *stream, char const *format, va_list arguments) {
    (void)stream;
    (void)format;
    (void)arguments;
}

// The library's root object on a GLib context; everything stays on the thread that runs the context.
static inline su_root_t *tl_sip_root_create(void *context) {
    // The library writes to stderr on its own; its environment switches still turn that on.
    if (getenv("TPORT_LOG") == NULL && getenv("NUA_DEBUG") == NULL && getenv("SOFIA_DEBUG") == NULL)
        su_log_redirect(NULL, tl_sip_drop_log, NULL);
    if (su_init() != 0) return NULL;
    su_root_t *root = su_glib_root_create(NULL);
    if (root == NULL) return NULL;
    su_root_threading(root, 0);
    g_source_attach(su_glib_root_gsource(root), (GMainContext *)context);
    return root;
}

// Binds a numeric address and frees it again. Returns the port, or minus an errno value.
static inline int tl_sip_probe_port(char const *address, int port, int stream) {
    char service[8];
    struct addrinfo hints, *found = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = stream ? SOCK_STREAM : SOCK_DGRAM;
    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(address, service, &hints, &found) != 0 || found == NULL) return -EADDRNOTAVAIL;
    int result = -EADDRNOTAVAIL;
    int fd = socket(found->ai_family, found->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        int on = 1;
        // As the library does for streams: a port that only lingers is free.
        if (stream) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        struct sockaddr_storage bound;
        socklen_t size = sizeof bound;
        if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || (stream && listen(fd, 1) != 0)) {
            result = -errno;
        } else if (getsockname(fd, (struct sockaddr *)&bound, &size) == 0 &&
                   getnameinfo((struct sockaddr *)&bound, size, NULL, 0, service, sizeof service, NI_NUMERICSERV) == 0) {
            result = atoi(service);
        }
        close(fd);
    }
    freeaddrinfo(found);
    return result;
}

struct tl_sip_settings {
    char const *url, *user_agent, *allow, *application_methods;
    unsigned t1, t2, t4, t1x64, session_timer, min_se;
};

// The built-in STUN server is off: it answers anybody, and writes to stderr for each broken datagram of a stranger.
static inline nua_t *tl_nua_create(su_root_t *root, nua_callback_f callback, void *magic,
                                   struct tl_sip_settings const *s) {
    return nua_create(root, callback, magic, NUTAG_URL(s->url), NUTAG_MEDIA_ENABLE(0), NUTAG_AUTOACK(1),
                      NUTAG_AUTOALERT(0), NUTAG_AUTOANSWER(0), NUTAG_EARLY_MEDIA(0), NUTAG_AUTO302(0),
                      NUTAG_AUTO305(0), NUTAG_MAX_RETRY_AFTER(0), NUTAG_RETRY_COUNT(3), NUTAG_ENABLEMESSAGE(0),
                      NUTAG_OUTBOUND("no-outbound no-natify no-validate no-options-keepalive"),
                      NUTAG_SESSION_TIMER(s->session_timer), NUTAG_MIN_SE(s->min_se), NUTAG_UPDATE_REFRESH(1),
                      NUTAG_APPL_METHOD(NULL), NUTAG_APPL_METHOD(s->application_methods),
                      SIPTAG_ALLOW_STR(s->allow), SIPTAG_USER_AGENT_STR(s->user_agent),
                      TAG_IF(s->t1, NTATAG_SIP_T1(s->t1)), TAG_IF(s->t2, NTATAG_SIP_T2(s->t2)),
                      TAG_IF(s->t4, NTATAG_SIP_T4(s->t4)), TAG_IF(s->t1x64, NTATAG_SIP_T1X64(s->t1x64)),
                      TPTAG_UDP_RMEM(1 << 20), TPTAG_UDP_WMEM(1 << 20), TPTAG_STUN_SERVER(0),
                      NTATAG_SERVER_RPORT(2), TAG_END());
}

static inline nua_handle_t *tl_nua_handle(nua_t *nua, void *magic, char const *from, char const *to) {
    return nua_handle(nua, (nua_hmagic_t *)magic, SIPTAG_FROM_STR(from), SIPTAG_TO_STR(to), TAG_END());
}

static inline void tl_nua_register(nua_handle_t *nh, char const *registrar, char const *route, char const *expires,
                                   char const *contact_user, char const *contact_params) {
    nua_register(nh, NUTAG_REGISTRAR(registrar), TAG_IF(route, NUTAG_INITIAL_ROUTE_STR(route)), SIPTAG_EXPIRES_STR(expires),
                 TAG_IF(contact_user, NUTAG_M_USERNAME(contact_user)),
                 TAG_IF(contact_params, NUTAG_M_PARAMS(contact_params)), TAG_END());
}

static inline void tl_nua_unregister(nua_handle_t *nh) { nua_unregister(nh, TAG_END()); }

static inline void tl_nua_invite(nua_handle_t *nh, char const *url, char const *route, char const *contact_user,
                                 unsigned ring_seconds, char const *sdp, char const *headers) {
    nua_invite(nh, TAG_IF(url, NUTAG_URL(url)), TAG_IF(route, NUTAG_INITIAL_ROUTE_STR(route)),
               TAG_IF(contact_user, NUTAG_M_USERNAME(contact_user)), TAG_IF(ring_seconds, NUTAG_INVITE_TIMER(ring_seconds)),
               TAG_IF(sdp, SIPTAG_CONTENT_TYPE_STR("application/sdp")), TAG_IF(sdp, SIPTAG_PAYLOAD_STR(sdp)),
               TAG_IF(headers, SIPTAG_HEADER_STR(headers)), TAG_END());
}

static inline void tl_nua_respond(nua_handle_t *nh, int status, char const *phrase, msg_t *request, char const *sdp,
                                  char const *headers) {
    nua_respond(nh, status, phrase, TAG_IF(request, NUTAG_WITH(request)),
                TAG_IF(sdp, SIPTAG_CONTENT_TYPE_STR("application/sdp")), TAG_IF(sdp, SIPTAG_PAYLOAD_STR(sdp)),
                TAG_IF(headers, SIPTAG_HEADER_STR(headers)), TAG_END());
}

static inline void tl_nua_cancel(nua_handle_t *nh, char const *reason) {
    nua_cancel(nh, TAG_IF(reason, SIPTAG_REASON_STR(reason)), TAG_END());
}

static inline void tl_nua_bye(nua_handle_t *nh, char const *reason) {
    nua_bye(nh, TAG_IF(reason, SIPTAG_REASON_STR(reason)), TAG_END());
}

static inline void tl_nua_info(nua_handle_t *nh, char const *type, char const *body) {
    nua_info(nh, SIPTAG_CONTENT_TYPE_STR(type), SIPTAG_PAYLOAD_STR(body), TAG_END());
}

static inline void tl_nua_authenticate(nua_handle_t *nh, char const *credentials) {
    nua_authenticate(nh, NUTAG_AUTH(credentials), TAG_END());
}

// Where a message came from: numeric address into `buffer`, port returned; -1 when unknown.
static inline int tl_sip_source(msg_t *message, char *buffer, int size) {
    su_sockaddr_t *from = message ? msg_addr(message) : NULL;
    char service[8];
    if (from == NULL) return -1;
    socklen_t length = from->su_family == AF_INET6 ? sizeof from->su_sin6 : sizeof from->su_sin;
    if (getnameinfo(&from->su_sa, length, buffer, (socklen_t)size, service, sizeof service,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return -1;
    return atoi(service);
}
