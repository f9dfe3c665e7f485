// Gives media a lane, a tick and sockets drained at the tick.
