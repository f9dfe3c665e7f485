internal import CSoup
public import GLibLoop

/// Opens WebSockets to a server: for the terminal client and for tests.
@ControlActor public enum WebSocketClient {
    /// One libsoup session serves all connections; it lives as long as the process.
    private static let session: UnsafeMutablePointer<SoupSession>? = {
        let session = shim_soup_session_new()
        // A compressed message could unfold to any size, so none is asked for.
        soup_session_remove_feature_by_type(session, soup_websocket_extension_manager_get_type())
        return session
    }()

    /// Connects to `url` (`ws://host:port/path`).
    ///
    /// - Parameter timeout: how long the connection may take to open.
    /// - Throws: `badURL` or `cannotConnect`.
    public static func connect(
        _ url: String, origin: String? = nil, timeout: Duration = .seconds(10)
    ) async throws(WebServerError) -> WebSocketConnection {
        guard let message = soup_message_new("GET", url) else { throw .badURL(url) }
        let scheme = g_uri_get_scheme(soup_message_get_uri(message)).map { String(cString: $0) } ?? ""
        guard ["ws", "wss", "http", "https"].contains(scheme) else {
            shim_soup_unref(UnsafeMutableRawPointer(message))
            throw .badURL(url)
        }
        let path = g_uri_get_path(soup_message_get_uri(message)).map { String(cString: $0) } ?? "/"
        guard let cancellable = g_cancellable_new() else { throw .badURL(url) }
        let handle = Cancellable(raw: cancellable)
        let limit = GLibTimer(on: .control, after: timeout) { g_cancellable_cancel(handle.raw) }
        let outcome: Result<WebSocketConnection, WebServerError> = await withCheckedContinuation { continuation in
            let pending = PendingConnect(url: url, path: path, continuation: continuation)
            soup_session_websocket_connect_async(
                session, message, origin, nil, G_PRIORITY_DEFAULT, cancellable, connectFinished,
                Unmanaged.passRetained(pending).toOpaque())
        }
        limit.cancel()
        shim_soup_unref(UnsafeMutableRawPointer(cancellable))
        shim_soup_unref(UnsafeMutableRawPointer(message))
        return try outcome.get()
    }
}

/// GCancellable may be cancelled from any thread, so the pointer may cross; the caller keeps it alive until the timer is gone.
private struct Cancellable: @unchecked Sendable {
    let raw: UnsafeMutablePointer<GCancellable>
}

private final class PendingConnect {
    let url: String
    let path: String
    let continuation: CheckedContinuation<Result<WebSocketConnection, WebServerError>, Never>

    init(
        url: String, path: String, continuation: CheckedContinuation<Result<WebSocketConnection, WebServerError>, Never>
    ) {
        self.url = url
        self.path = path
        self.continuation = continuation
    }
}

private func connectFinished(
    _ source: UnsafeMutablePointer<GObject>?, _ result: OpaquePointer?, _ data: gpointer?
) {
    guard let data else { return }
    let pending = Unmanaged<PendingConnect>.fromOpaque(data).takeRetainedValue()
    var error: UnsafeMutablePointer<GError>?
    let session = source.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: SoupSession.self) }
    let raw = soup_session_websocket_connect_finish(session, result, &error)
    guard let raw else {
        let failure = LibraryFailure(taking: error)
        pending.continuation.resume(
            returning: .failure(.cannotConnect(url: pending.url, code: failure.code, words: failure.words)))
        return
    }
    let handover = OpenedSocket(raw: raw)
    let path = pending.path
    let connection = ControlActor.assumeIsolated {
        WebSocketConnection(raw: handover.raw, remoteAddress: "", path: path, origin: nil, userAgent: nil)
    }
    shim_soup_unref(UnsafeMutableRawPointer(raw))  // the connection holds its own reference
    pending.continuation.resume(returning: .success(connection))
}

/// Carries the pointer into the actor on the same thread; nothing else touches it meanwhile.
struct OpenedSocket: @unchecked Sendable {
    let raw: OpaquePointer
}
