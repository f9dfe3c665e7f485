internal import CSoup

/// What can go wrong at the web server and its client; codes and words are those of the library.
public enum WebServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The host is no IP address literal.
    case notAnAddress(host: String)
    /// The address and port cannot be bound, for instance because another process holds them.
    case cannotListen(host: String, port: UInt16, code: Int32, words: String)
    /// The client's URL is none that libsoup understands.
    case badURL(String)
    /// The client did not reach a WebSocket server.
    case cannotConnect(url: String, code: Int32, words: String)

    /// One sentence, with the library's words.
    public var description: String {
        switch self {
        case .notAnAddress(let host): "'\(host)' is not an IP address"
        case .cannotListen(let host, let port, let code, let words):
            "cannot listen on \(host) port \(port): \(words) (code \(code))"
        case .badURL(let url): "'\(url)' is not a WebSocket URL"
        case .cannotConnect(let url, let code, let words): "cannot connect to \(url): \(words) (code \(code))"
        }
    }
}

/// A GError's code and words; frees it.
struct LibraryFailure {
    let code: Int32
    let words: String

    init(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else {
            code = 0
            words = "no reason given"
            return
        }
        code = error.pointee.code
        words = error.pointee.message.map { String(cString: $0) } ?? "no reason given"
        g_error_free(error)
    }
}
