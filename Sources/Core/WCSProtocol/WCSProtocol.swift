// The WCS WebSocket messages as values, with their JSON.
