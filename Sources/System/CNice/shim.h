#pragma once
// The door to libnice: ICE agents, candidates, addresses.
#include <gio/gio.h>
#include <nice/agent.h>
#include <nice/interfaces.h>
#include <stdint.h>
#include <string.h>

// A full agent (RFC 5245/8445) over UDP alone, with consent freshness (RFC 7675), regular nomination, and trickle: in trickle
// mode an agent whose peer has named no candidates waits for the peer's checks instead of failing.
static inline NiceAgent *shim_nice_agent_new(GMainContext *context, int is_controlling) {
    NiceAgent *agent = nice_agent_new_full(
        context, NICE_COMPATIBILITY_RFC5245,
        (NiceAgentOption)(NICE_AGENT_OPTION_CONSENT_FRESHNESS | NICE_AGENT_OPTION_ICE_TRICKLE |
                          NICE_AGENT_OPTION_REGULAR_NOMINATION));
    if (!agent) return NULL;
    g_object_set(agent, "controlling-mode", is_controlling ? TRUE : FALSE, "ice-tcp", FALSE, "upnp", FALSE, NULL);
    return agent;
}

static inline int shim_nice_add_local_address(NiceAgent *agent, const char *host) {
    NiceAddress address;
    nice_address_init(&address);
    return nice_address_set_from_string(&address, host) && nice_agent_add_local_address(agent, &address);
}

static inline void shim_nice_on_state(
    NiceAgent *agent, void (*callback)(NiceAgent *, guint, guint, guint, gpointer), void *data) {
    g_signal_connect(agent, "component-state-changed", G_CALLBACK(callback), data);
}

static inline void shim_nice_on_gathered(NiceAgent *agent, void (*callback)(NiceAgent *, guint, gpointer), void *data) {
    g_signal_connect(agent, "candidate-gathering-done", G_CALLBACK(callback), data);
}

static inline void shim_nice_on_selected(
    NiceAgent *agent, void (*callback)(NiceAgent *, guint, guint, NiceCandidate *, NiceCandidate *, gpointer),
    void *data) {
    g_signal_connect(agent, "new-selected-pair-full", G_CALLBACK(callback), data);
}

static inline void shim_nice_disconnect(NiceAgent *agent, void *data) {
    g_signal_handlers_disconnect_matched(agent, G_SIGNAL_MATCH_DATA, 0, 0, NULL, NULL, data);
}

// Gives the agent's main loop source for one component, or takes it away with a NULL callback.
static inline int shim_nice_attach(
    NiceAgent *agent, guint stream, GMainContext *context,
    void (*callback)(NiceAgent *, guint, guint, guint, gchar *, gpointer), void *data) {
    return nice_agent_attach_recv(agent, stream, 1, context, callback, data);
}

static inline void shim_nice_unref(NiceAgent *agent) { g_object_unref(agent); }

// `host` holds INET6_ADDRSTRLEN (46) bytes.
static inline uint16_t shim_candidate_address(const NiceCandidate *candidate, int is_base, char *host) {
    const NiceAddress *address = is_base ? &candidate->base_addr : &candidate->addr;
    nice_address_to_string(address, host);
    return (uint16_t)nice_address_get_port(address);
}

static inline const char *shim_candidate_foundation(const NiceCandidate *candidate) { return candidate->foundation; }

static inline NiceCandidate *shim_candidate_new(
    int type, const char *host, uint16_t port, uint32_t priority, const char *foundation, guint stream) {
    NiceCandidate *candidate = nice_candidate_new((NiceCandidateType)type);
    if (!candidate) return NULL;
    candidate->transport = NICE_CANDIDATE_TRANSPORT_UDP;
    candidate->priority = priority;
    candidate->stream_id = stream;
    candidate->component_id = 1;
    strncpy(candidate->foundation, foundation, NICE_CANDIDATE_MAX_FOUNDATION - 1);
    if (!nice_address_set_from_string(&candidate->addr, host)) {
        nice_candidate_free(candidate);
        return NULL;
    }
    nice_address_set_port(&candidate->addr, port);
    candidate->base_addr = candidate->addr;
    return candidate;
}

// Gives the list of new candidates to the agent and frees it; answers how many the agent took, negative for a failure.
static inline int shim_nice_set_remote_candidates(NiceAgent *agent, guint stream, GSList *list) {
    int taken = nice_agent_set_remote_candidates(agent, stream, 1, list);
    g_slist_free_full(list, (GDestroyNotify)nice_candidate_free);
    return taken;
}

// The descriptor of the socket that the selected pair uses; -1 if there is none or it is not UDP.
static inline int shim_nice_selected_descriptor(NiceAgent *agent, guint stream) {
    GSocket *socket = nice_agent_get_selected_socket(agent, stream, 1);
    if (!socket || g_socket_get_protocol(socket) != G_SOCKET_PROTOCOL_UDP) return -1;
    return g_socket_get_fd(socket);
}
