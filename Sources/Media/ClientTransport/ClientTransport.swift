// Brings a client to its lane: ICE finds the path, DTLS the keys.
