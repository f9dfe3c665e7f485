// The WCS vocabulary spoken over WebSocket.
