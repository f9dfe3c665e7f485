// Datagram sockets, their addresses, and readiness sets, as owned Swift values.
