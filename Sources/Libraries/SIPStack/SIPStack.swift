// A SIP user agent whose registrations and dialogs speak Swift events.
