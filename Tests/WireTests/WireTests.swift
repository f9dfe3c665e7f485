import Testing

/// Everything that is judged with real peers and in real time: one test after another, so that none disturbs another's sound.
@Suite("Wire", .serialized) struct Wire {}
