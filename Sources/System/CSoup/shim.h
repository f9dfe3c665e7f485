#pragma once
// The door to libsoup 3: HTTP server, WebSocket server and client.
#include <libsoup/soup.h>
