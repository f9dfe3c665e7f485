#pragma once
// The door to GLib: main contexts, sources, reference counts.
#include <glib.h>
#include <glib-object.h>
#include <gio/gio.h>

static inline void shim_g_object_unref(void *object) { g_object_unref(object); }
static inline void *shim_g_object_ref(void *object) { return g_object_ref(object); }
