// Reads and writes RTP, RTCP and telephone events, and unwraps their counters.
