#pragma once
// An input that reads in small turns and counts, put between libsoup and a WebSocket peer.
//
// libsoup 3.2 reads a peer's socket until it is empty, and puts a message's fragments together without a limit. A peer that
// pours data could so keep the loop for itself, or fill the memory. This stream answers "would block" after a turn's worth of
// bytes, so that the other sources of the loop get theirs, and fails once more than a limit has come without a message.
#include <gio/gio.h>

enum { PACED_TURN_BYTES = 1 << 16 };

typedef struct {
    GInputStream parent;
    GPollableInputStream *base;  // owned by the io stream that owns this one
    gsize turn_left;
    guint64 unanswered;  // bytes since the last complete message
    guint64 limit;
} ShimPacedInput;

typedef struct {
    GIOStream parent;
    GIOStream *base;
    ShimPacedInput *input;
} ShimPacedStream;

static inline gssize shim_paced_read_nonblocking(GPollableInputStream *stream, void *buffer, gsize count, GError **error) {
    ShimPacedInput *self = (ShimPacedInput *)stream;
    if (self->unanswered > self->limit) {
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE, "the message is too large");
        return -1;
    }
    if (self->turn_left == 0) {
        self->turn_left = PACED_TURN_BYTES;
        g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK, "the turn is over");
        return -1;
    }
    gssize got =
        g_pollable_input_stream_read_nonblocking(self->base, buffer, MIN(count, self->turn_left), NULL, error);
    if (got > 0) {
        self->turn_left -= (gsize)got;
        self->unanswered += (guint64)got;
    } else {
        self->turn_left = PACED_TURN_BYTES;
    }
    return got;
}

static inline gssize shim_paced_read(GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable,
                                     GError **error) {
    return g_input_stream_read(G_INPUT_STREAM(((ShimPacedInput *)stream)->base), buffer, count, cancellable, error);
}

static inline gboolean shim_paced_is_readable(GPollableInputStream *stream) {
    return g_pollable_input_stream_is_readable(((ShimPacedInput *)stream)->base);
}

static inline GSource *shim_paced_create_source(GPollableInputStream *stream, GCancellable *cancellable) {
    GSource *child = g_pollable_input_stream_create_source(((ShimPacedInput *)stream)->base, cancellable);
    GSource *source = g_pollable_source_new_full(stream, child, cancellable);
    g_source_unref(child);
    return source;
}

static inline void shim_paced_pollable_init(void *interface, void *data) {
    GPollableInputStreamInterface *pollable = (GPollableInputStreamInterface *)interface;
    pollable->is_readable = shim_paced_is_readable;
    pollable->create_source = shim_paced_create_source;
    pollable->read_nonblocking = shim_paced_read_nonblocking;
}

static inline void shim_paced_input_class_init(void *class_, void *data) {
    ((GInputStreamClass *)class_)->read_fn = shim_paced_read;
}

static inline GInputStream *shim_paced_get_input(GIOStream *stream) {
    return (GInputStream *)((ShimPacedStream *)stream)->input;
}

static inline GOutputStream *shim_paced_get_output(GIOStream *stream) {
    return g_io_stream_get_output_stream(((ShimPacedStream *)stream)->base);
}

static inline gboolean shim_paced_close(GIOStream *stream, GCancellable *cancellable, GError **error) {
    return g_io_stream_close(((ShimPacedStream *)stream)->base, cancellable, error);
}

// Closing a socket does not block, so it is done at once; GIOStream's own way would start a thread.
static inline void shim_paced_close_async(GIOStream *stream, int priority, GCancellable *cancellable,
                                          GAsyncReadyCallback callback, void *data) {
    GTask *task = g_task_new(stream, cancellable, callback, data);
    GError *error = NULL;
    if (shim_paced_close(stream, cancellable, &error)) g_task_return_boolean(task, TRUE);
    else g_task_return_error(task, error);
    g_object_unref(task);
}

static inline gboolean shim_paced_close_finish(GIOStream *stream, GAsyncResult *result, GError **error) {
    return g_task_propagate_boolean(G_TASK(result), error);
}

static inline void shim_paced_dispose(GObject *object) {
    ShimPacedStream *self = (ShimPacedStream *)object;
    g_clear_object(&self->input);
    g_clear_object(&self->base);
    G_OBJECT_CLASS(g_type_class_peek(G_TYPE_IO_STREAM))->dispose(object);
}

static inline void shim_paced_stream_class_init(void *class_, void *data) {
    G_OBJECT_CLASS(class_)->dispose = shim_paced_dispose;
    GIOStreamClass *stream = (GIOStreamClass *)class_;
    stream->get_input_stream = shim_paced_get_input;
    stream->get_output_stream = shim_paced_get_output;
    stream->close_fn = shim_paced_close;
    stream->close_async = shim_paced_close_async;
    stream->close_finish = shim_paced_close_finish;
}

static inline GType shim_paced_input_type(void) {
    GType type = g_type_from_name("TrunklinePacedInput");
    if (type) return type;
    type = g_type_register_static_simple(G_TYPE_INPUT_STREAM, "TrunklinePacedInput", sizeof(GInputStreamClass),
                                         shim_paced_input_class_init, sizeof(ShimPacedInput), NULL, (GTypeFlags)0);
    const GInterfaceInfo info = {shim_paced_pollable_init, NULL, NULL};
    g_type_add_interface_static(type, G_TYPE_POLLABLE_INPUT_STREAM, &info);
    return type;
}

static inline GType shim_paced_stream_type(void) {
    GType type = g_type_from_name("TrunklinePacedStream");
    if (type) return type;
    return g_type_register_static_simple(G_TYPE_IO_STREAM, "TrunklinePacedStream", sizeof(GIOStreamClass),
                                         shim_paced_stream_class_init, sizeof(ShimPacedStream), NULL, (GTypeFlags)0);
}

// Wraps `base`, taking a reference; the caller owns the answer. Called on the control loop's thread only.
static inline GIOStream *shim_paced_stream_new(GIOStream *base, guint64 limit) {
    ShimPacedStream *self = (ShimPacedStream *)g_object_new(shim_paced_stream_type(), NULL);
    self->base = (GIOStream *)g_object_ref(base);
    self->input = (ShimPacedInput *)g_object_new(shim_paced_input_type(), NULL);
    self->input->base = G_POLLABLE_INPUT_STREAM(g_io_stream_get_input_stream(base));
    self->input->turn_left = PACED_TURN_BYTES;
    self->input->limit = limit;
    return (GIOStream *)self;
}

// Tells the stream that a message has been completed.
static inline void shim_paced_stream_message_done(GIOStream *stream) {
    if (G_TYPE_CHECK_INSTANCE_TYPE(stream, shim_paced_stream_type())) ((ShimPacedStream *)stream)->input->unanswered = 0;
}
