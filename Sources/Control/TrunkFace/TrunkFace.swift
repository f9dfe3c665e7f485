// Our vocabulary spoken over SIP.
