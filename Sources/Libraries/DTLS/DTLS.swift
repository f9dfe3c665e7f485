// Turns a DTLS handshake in memory and exports the SRTP keys.
