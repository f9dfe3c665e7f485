#pragma once
// The door to libsoup 3: HTTP server, WebSocket server and client.
#include <gio/gio.h>
#include <libsoup/soup.h>

#include "paced_stream.h"
#include <sys/socket.h>

// Fixed-arity twins of variadic constructors.

static inline SoupServer *shim_soup_server_new(void) { return soup_server_new(NULL, NULL); }

// A session for WebSocket clients: no proxy look-up, no idle limits, no cap on parallel connections that a test could meet.
static inline SoupSession *shim_soup_session_new(void) {
    return soup_session_new_with_options("proxy-resolver", NULL, "timeout", 0u, "idle-timeout", 0u, "max-conns", 4096,
                                         "max-conns-per-host", 4096, NULL);
}

// GObject casts and signal connection, which are macros in C.

static inline void shim_soup_unref(void *object) { g_object_unref(object); }
static inline void *shim_soup_ref(void *object) { return g_object_ref(object); }

static inline gulong shim_soup_connect(void *object, const char *signal, GCallback handler, void *data) {
    return g_signal_connect_data(object, signal, handler, data, NULL, (GConnectFlags)0);
}

static inline void shim_soup_disconnect(void *object, void *data) { g_signal_handlers_disconnect_by_data(object, data); }

// A source that is ready when the peer's socket takes bytes. Its owner gives it a lower priority than libsoup's own output
// source, so it is dispatched only when libsoup has nothing left to write.
static inline GSource *shim_websocket_output_source(SoupWebsocketConnection *connection) {
    GOutputStream *output = g_io_stream_get_output_stream(soup_websocket_connection_get_io_stream(connection));
    return g_pollable_output_stream_create_source(G_POLLABLE_OUTPUT_STREAM(output), NULL);
}

// A GPollableSourceFunc in the shape that g_source_set_callback wants.
static inline void shim_set_pollable_callback(GSource *source, GPollableSourceFunc callback, void *data,
                                              GDestroyNotify destroy) {
    g_source_set_callback(source, G_SOURCE_FUNC(callback), data, destroy);
}

static inline gboolean shim_websocket_is_writable(SoupWebsocketConnection *connection) {
    GOutputStream *output = g_io_stream_get_output_stream(soup_websocket_connection_get_io_stream(connection));
    return g_pollable_output_stream_is_writable(G_POLLABLE_OUTPUT_STREAM(output));
}

// How many connections may wait to be accepted. GLib takes no other number once it listens; the kernel does.
static inline void shim_listen_again(GSocket *socket, int backlog) { (void)listen(g_socket_get_fd(socket), backlog); }

static inline guint16 shim_inet_port(GSocketAddress *address) {
    return G_IS_INET_SOCKET_ADDRESS(address) ? g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(address)) : 0;
}

// The address in words ("192.0.2.1" or "2001:db8::1"), to be freed with g_free; NULL if it is no internet address.
static inline char *shim_inet_host(GSocketAddress *address) {
    if (!G_IS_INET_SOCKET_ADDRESS(address)) return NULL;
    return g_inet_address_to_string(g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address)));
}
