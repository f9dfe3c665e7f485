// What a call and a session may do next: events in, effects out.
