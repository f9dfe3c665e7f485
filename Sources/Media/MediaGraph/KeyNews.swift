import RTP

/// What one packet, or the time, told of a peer's keys. Mostly nothing.
struct KeyNews {
    /// A key before this one whose end was lost.
    var interrupted: ReceivedKey?
    /// A key seen for the first time: report it.
    var began: DTMFKey?
    /// A key that is over: relay it with its length.
    var ended: ReceivedKey?

    init(ended: ReceivedKey? = nil) { self.ended = ended }

    init(_ change: KeyChange) {
        interrupted = change.interrupted
        began = change.began
        ended = change.ended
    }
}
