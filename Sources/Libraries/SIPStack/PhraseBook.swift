internal import CSofiaSIP
internal import GLibLoop

/// Reason phrases that outlive the call that uses them: the library keeps the pointer until it has sent the response.
@ControlActor enum PhraseBook {
    private static var phrases: [String: UnsafeMutablePointer<CChar>] = [:]
    /// Phrases come from our own tables, so this is never met; it bounds what a faulty caller could leak.
    private static let limit = 512

    /// A pointer for the rest of the process's life; the library's own phrase for the code when the book is full.
    static func pointer(to phrase: String, code: Int32) -> UnsafePointer<CChar>? {
        if let known = phrases[phrase] { return UnsafePointer(known) }
        guard phrases.count < limit, let copy = strdup(phrase) else { return sip_status_phrase(code) }
        phrases[phrase] = copy
        return UnsafePointer(copy)
    }
}
