// HTTP routes and WebSocket connections, text in and out.
