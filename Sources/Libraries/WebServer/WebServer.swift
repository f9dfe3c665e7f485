internal import CSoup
public import GLibLoop

/// An HTTP and WebSocket server on the control loop.
///
/// Routes are matched by exact path; a handler's path that ends in `/*` takes everything below it. A WebSocket handshake is
/// accepted on any path, also where a page is served, and no subprotocol is returned.
///
/// - Threads: the control loop's only (``ControlActor``). Call ``stop()`` before letting it go.
@ControlActor public final class WebServer {
    /// A request with a larger body, or with a body of undeclared length, is refused with 413 or 411.
    public nonisolated static let maximumBodyBytes = 1 << 20

    /// Answers one request.
    public typealias Handler = @ControlActor (HTTPRequest) -> HTTPResponse

    private struct Route {
        let method: String
        let handler: Handler
    }

    private let server: UnsafeMutablePointer<SoupServer>
    private var routes: [String: [Route]] = [:]
    private var prefixes: [(prefix: String, route: Route)] = []
    private var acceptSocket: (@ControlActor (WebSocketConnection) -> Void)?
    private var sockets: [ObjectIdentifier: WebSocketConnection] = [:]
    private var allClosed: CheckedContinuation<Void, Never>?
    private var stopped = false

    /// A server that listens nowhere yet.
    public init() {
        guard let server = shim_soup_server_new() else { preconditionFailure("libsoup gave no server") }
        self.server = server
        // The server object lives no longer than this one, which takes its handlers away in `deinit`.
        let me = Unmanaged.passUnretained(self).toOpaque()
        soup_server_add_early_handler(server, nil, refuseLargeBody, me, nil)
        soup_server_add_handler(server, nil, answerRequest, me, nil)
    }

    isolated deinit {
        soup_server_remove_handler(server, "/")
        soup_server_disconnect(server)
        shim_soup_unref(server)
    }

    /// Serves the same bytes for each GET of `path`.
    ///
    /// - Parameter headers: for instance `Content-Security-Policy` and `Cache-Control`.
    public func serve(
        _ path: String, contentType: String, body: [UInt8], headers: [(name: String, value: String)] = []
    ) {
        let response = HTTPResponse(contentType: contentType, headers: headers, body: body)
        handle("GET", path) { _ in response }
    }

    /// Answers requests of `method` for `path` by a handler. GET handlers serve HEAD as well.
    public func handle(_ method: String, _ path: String, _ handler: @escaping Handler) {
        let route = Route(method: method, handler: handler)
        if path.hasSuffix("/*") {
            prefixes.append((String(path.dropLast()), route))
        } else {
            routes[path, default: []].append(route)
        }
    }

    /// Hands each WebSocket that is opened, on whatever path, to `handler`, which sets `onText` and `onClosed`.
    public func acceptWebSockets(_ handler: @escaping @ControlActor (WebSocketConnection) -> Void) {
        acceptSocket = handler
    }

    /// Open WebSockets.
    public var webSocketCount: Int { sockets.count }

    /// Listens on one more address.
    ///
    /// - Parameters:
    ///   - host: an IP address literal, or `localhost` for 127.0.0.1.
    ///   - port: 0 takes any free port.
    /// - Returns: the port that is listened on.
    /// - Throws: `notAnAddress`, or `cannotListen` with the library's code and words.
    @discardableResult public func listen(host: String, port: UInt16) throws(WebServerError) -> UInt16 {
        let literal = host == "localhost" ? "127.0.0.1" : host
        guard let address = g_inet_socket_address_new_from_string(literal, guint(port)) else {
            throw .notAnAddress(host: host)
        }
        defer { shim_soup_unref(address) }
        let before = listeningPorts()
        var error: UnsafeMutablePointer<GError>?
        guard soup_server_listen(server, address, SoupServerListenOptions(0), &error) != 0 else {
            let failure = LibraryFailure(taking: error)
            throw .cannotListen(host: host, port: port, code: failure.code, words: failure.words)
        }
        widenBacklogs()
        if port != 0 { return port }
        return listeningPorts().first { !before.contains($0) } ?? 0
    }

    /// Stops listening and closes every WebSocket with code 1001. Returns when all are closed; those whose peer does not answer
    /// the close within a second are dropped.
    public func stop() async {
        stopped = true
        soup_server_disconnect(server)
        for socket in sockets.values {
            if socket.isOpen { socket.close(code: 1001, reason: "the server goes away") }
        }
        guard !sockets.isEmpty, allClosed == nil else { return }
        let limit = GLibTimer(on: .control, after: .seconds(1)) { [weak self] in
            ControlActor.assumeIsolated { self?.abandonAll() }
        }
        await withCheckedContinuation { allClosed = $0 }
        limit.cancel()
    }

    private func abandonAll() {
        for socket in sockets.values { socket.abandon(WebSocketClosure(code: 1001, reason: "the server goes away")) }
    }

    private func listeningPorts() -> [UInt16] {
        var ports: [UInt16] = []
        forEachListener { socket in
            guard let address = g_socket_get_local_address(socket, nil) else { return }
            ports.append(shim_inet_port(address))
            shim_soup_unref(address)
        }
        return ports
    }

    /// GLib lets 10 connections wait to be accepted; more that come at once, as after a restart, would lose a second each.
    /// Listening again at the kernel's own call changes that number and nothing else.
    private func widenBacklogs() {
        forEachListener { shim_listen_again($0, 1024) }
    }

    private func forEachListener(_ body: (UnsafeMutablePointer<GSocket>) -> Void) {
        let list = soup_server_get_listeners(server)
        var next = list
        while let node = next {
            if let socket = node.pointee.data?.assumingMemoryBound(to: GSocket.self) { body(socket) }
            next = node.pointee.next
        }
        g_slist_free(list)
    }

    // MARK: - From libsoup

    fileprivate func response(to request: HTTPRequest) -> HTTPResponse {
        let candidates =
            routes[request.path]
            ?? prefixes.filter { request.path.hasPrefix($0.prefix) }.map(\.route)
        if candidates.isEmpty { return .text("Not found\n", status: 404) }
        let method = request.method == "HEAD" ? "GET" : request.method
        if let route = candidates.first(where: { $0.method == method }) { return route.handler(request) }
        var refusal = HTTPResponse.text("Method not allowed\n", status: 405)
        refusal.headers.append(("Allow", candidates.map(\.method).joined(separator: ", ")))
        return refusal
    }

    fileprivate var takesWebSockets: Bool { acceptSocket != nil && !stopped }

    fileprivate func accepted(_ socket: WebSocketConnection) {
        guard let acceptSocket, !stopped else {
            socket.close(code: 1001, reason: "the server goes away")
            return
        }
        let key = ObjectIdentifier(socket)
        sockets[key] = socket
        socket.onRemoved = { [weak self] in self?.removed(key) }
        acceptSocket(socket)
    }

    private func removed(_ key: ObjectIdentifier) {
        sockets[key] = nil
        guard sockets.isEmpty, let waiter = allClosed else { return }
        allClosed = nil
        waiter.resume()
    }
}

/// Recovers the server from a handler's data pointer; handlers are taken away before the server object goes.
private func webServer(_ data: gpointer?) -> WebServer? {
    data.map { Unmanaged<WebServer>.fromOpaque($0).takeUnretainedValue() }
}

/// Runs when the headers are in, so that no large body is ever stored.
private func refuseLargeBody(
    _ server: UnsafeMutablePointer<SoupServer>?, _ message: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ query: OpaquePointer?, _ data: gpointer?
) {
    guard let message else { return }
    let headers = soup_server_message_get_request_headers(message)
    let isTooLarge = soup_message_headers_get_content_length(headers) > Int64(WebServer.maximumBodyBytes)
    let isUndeclared = soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CHUNKED
    guard isTooLarge || isUndeclared else { return }
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), 0)
    soup_message_headers_replace(soup_server_message_get_response_headers(message), "Connection", "close")
    soup_server_message_set_status(message, isTooLarge ? 413 : 411, nil)
}

private func answerRequest(
    _ server: UnsafeMutablePointer<SoupServer>?, _ message: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ query: OpaquePointer?, _ data: gpointer?
) {
    guard let message, let owner = webServer(data) else { return }
    let request = HTTPRequest(reading: message, path: path, query: query)
    let wantsUpgrade = request.headers["upgrade"]?.lowercased() == "websocket"
    let takesSocket = wantsUpgrade && ControlActor.assumeIsolated { owner.takesWebSockets }
    guard takesSocket else {
        ControlActor.assumeIsolated { owner.response(to: request) }.write(to: message)
        return
    }
    // No origin is demanded and no extension offered: a compressed message could unfold to any size. A bad handshake gets
    // its status from libsoup.
    guard soup_websocket_server_process_handshake(message, nil, nil, nil, nil) != 0 else { return }
    _ = shim_soup_connect(
        UnsafeMutableRawPointer(message), "wrote-informational", unsafeBitCast(acceptWebSocket, to: GCallback.self), data)
}

/// Runs when the 101 response is out: takes the connection from the HTTP server and makes a WebSocket of it.
private let acceptWebSocket: @convention(c) (OpaquePointer?, gpointer?) -> Void = { message, data in
    guard let message, let owner = webServer(data) else { return }
    let headers = soup_server_message_get_request_headers(message)
    let origin = soup_message_headers_get_one(headers, "Origin").map { String(cString: $0) }
    let userAgent = soup_message_headers_get_one(headers, "User-Agent").map { String(cString: $0) }
    let address = soup_server_message_get_remote_host(message).map { String(cString: $0) } ?? ""
    let uri = soup_server_message_get_uri(message)
    let path = g_uri_get_path(uri).map { String(cString: $0) } ?? "/"
    shim_soup_ref(UnsafeMutableRawPointer(message))
    defer { shim_soup_unref(UnsafeMutableRawPointer(message)) }
    guard let stolen = soup_server_message_steal_connection(message) else { return }
    // Room for the largest message in many fragments and the next one behind it.
    let paced = shim_paced_stream_new(stolen, guint64(2 * WebSocketConnection.maximumMessageBytes + 65536))
    shim_soup_unref(stolen)
    let socket = soup_websocket_connection_new(paced, uri, SOUP_WEBSOCKET_CONNECTION_SERVER, origin, nil, nil)
    shim_soup_unref(paced)
    guard let socket else { return }
    defer { shim_soup_unref(UnsafeMutableRawPointer(socket)) }
    let handover = OpenedSocket(raw: socket)
    ControlActor.assumeIsolated {
        owner.accepted(
            WebSocketConnection(
                raw: handover.raw, remoteAddress: address, path: path, origin: origin, userAgent: userAgent))
    }
}
