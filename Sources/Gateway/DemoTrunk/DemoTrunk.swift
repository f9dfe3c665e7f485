// A second SIP user agent on loopback that answers demo numbers with real SIP and RTP.
