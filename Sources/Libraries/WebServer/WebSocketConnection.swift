internal import CSoup
public import GLibLoop

/// How a WebSocket ended (RFC 6455, 7.4).
public struct WebSocketClosure: Sendable, Equatable {
    /// The close code: the peer's, 1005 if it gave none, 1006 if the connection just broke, 1008 if we gave it up because the
    /// peer did not read, 1009 if the peer sent too much.
    public var code: UInt16
    /// The peer's reason, or ours; often empty.
    public var reason: String

    /// A closure with its code and reason.
    public init(code: UInt16, reason: String) {
        self.code = code
        self.reason = reason
    }
}

/// One open WebSocket, of a server or of a client: text in, text out.
///
/// libsoup keeps this object alive while the socket is open; a user may hold it or not. Binary messages are ignored.
///
/// - Threads: the control loop's only (``ControlActor``).
@ControlActor public final class WebSocketConnection {
    /// The greatest message that is taken from a peer; a larger one closes that peer's socket with code 1009.
    public nonisolated static let maximumMessageBytes = 1 << 20
    /// How many bytes may wait for a peer that does not read, before its socket is given up with code 1008.
    public nonisolated static let maximumBacklogBytes = 1 << 20

    /// The peer's address in words, without port; empty if unknown.
    public nonisolated let remoteAddress: String
    /// The path of the request that opened the socket.
    public nonisolated let path: String
    /// The Origin header of that request: browsers send one, apps do not.
    public nonisolated let origin: String?
    /// The User-Agent header of that request.
    public nonisolated let userAgent: String?

    /// Called with each text message, in order, until ``close(code:reason:)``. Messages that came before it was set are delivered
    /// when it is.
    public var onText: (@ControlActor (String) -> Void)? {
        didSet { deliverWaiting() }
    }

    /// Called once when the socket is closed by either side; if it is closed already, when it is set.
    public var onClosed: (@ControlActor (WebSocketClosure) -> Void)? {
        didSet { if let closure { tellClosed(closure) } }
    }

    /// For the server's table.
    var onRemoved: (@ControlActor () -> Void)?

    /// Whether messages can still be sent.
    public var isOpen: Bool {
        guard let raw else { return false }
        return soup_websocket_connection_get_state(raw) == SOUP_WEBSOCKET_STATE_OPEN
    }

    /// Bytes handed to libsoup that may not have reached the kernel yet.
    public private(set) var backlogBytes = 0

    /// Owns one reference until the socket is closed.
    private var raw: OpaquePointer?
    private var drainSource: UnsafeMutablePointer<GSource>?
    private var waiting: [String] = []
    private var closure: WebSocketClosure?
    private var localClosure: WebSocketClosure?

    /// Takes its own reference to `raw`, which must be open.
    init(raw: OpaquePointer, remoteAddress: String, path: String, origin: String?, userAgent: String?) {
        self.raw = OpaquePointer(shim_soup_ref(UnsafeMutableRawPointer(raw)))
        self.remoteAddress = remoteAddress
        self.path = path
        self.origin = origin
        self.userAgent = userAgent
        soup_websocket_connection_set_max_incoming_payload_size(raw, guint64(Self.maximumMessageBytes))
        // Balanced in `release`: the signals' data pointer keeps this object alive while the socket is open.
        let me = Unmanaged.passRetained(self).toOpaque()
        let object = UnsafeMutableRawPointer(raw)
        _ = shim_soup_connect(object, "message", unsafeBitCast(receiveMessage, to: GCallback.self), me)
        _ = shim_soup_connect(object, "error", unsafeBitCast(receiveError, to: GCallback.self), me)
        _ = shim_soup_connect(object, "closed", unsafeBitCast(receiveClosed, to: GCallback.self), me)
    }

    /// Sends one text message. It never blocks: what the socket does not take waits in memory, and a peer that leaves more
    /// than ``maximumBacklogBytes`` unread is given up. After the close it does nothing.
    public func send(_ text: String) {
        guard let raw, isOpen else { return }
        if backlogBytes > Self.maximumBacklogBytes, shim_websocket_is_writable(raw) == 0 {
            abandon(WebSocketClosure(code: 1008, reason: "the peer does not read"))
            return
        }
        var text = text
        text.withUTF8 { bytes in
            let message = g_bytes_new(bytes.baseAddress, gsize(bytes.count))
            soup_websocket_connection_send_message(raw, SOUP_WEBSOCKET_DATA_TEXT, message)
            g_bytes_unref(message)
            backlogBytes += bytes.count
        }
        watchDrain()
    }

    /// Begins the closing handshake. `onClosed` follows when the peer has answered, or after five seconds.
    ///
    /// - Parameters:
    ///   - code: 1000, 1001, 1008, 1009, 1011 or 3000-4999; any other becomes 1000.
    ///   - reason: cut to 120 bytes.
    public func close(code: UInt16 = 1000, reason: String = "") {
        guard let raw, isOpen else { return }
        let sendable = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1011].contains(code) || (3000..<5000).contains(code)
        let words = String(decoding: reason.utf8.prefix(120), as: UTF8.self)
        localClosure = WebSocketClosure(code: sendable ? code : 1000, reason: words)
        soup_websocket_connection_close(raw, sendable ? code : 1000, words)
    }

    /// Closes the socket at once, without the handshake.
    func abandon(_ closure: WebSocketClosure) {
        guard raw != nil else { return }
        localClosure = closure
        finish(closure)
    }

    // MARK: - From libsoup's signals

    fileprivate func received(_ text: String?) {
        if let raw { shim_paced_stream_message_done(soup_websocket_connection_get_io_stream(raw)) }
        // After our close nobody wants to hear more, and what a peer still pours must not pile up.
        guard let text, isOpen else { return }
        guard let onText else {
            waiting.append(text)
            return
        }
        onText(text)
    }

    fileprivate func failed(code: UInt16, words: String) {
        localClosure = WebSocketClosure(code: code, reason: words)
    }

    fileprivate func closed() {
        guard let raw else { return }
        let peerCode = soup_websocket_connection_get_close_code(raw)
        let words = soup_websocket_connection_get_close_data(raw).map { String(cString: $0) } ?? ""
        let peerClosure = WebSocketClosure(code: peerCode == 0 ? 1006 : peerCode, reason: words)
        finish(peerClosure.code == 1006 ? localClosure ?? peerClosure : peerClosure)
    }

    fileprivate func drained() {
        backlogBytes = 0
        stopDrainSource()
    }

    // MARK: - Ends

    private func finish(_ closure: WebSocketClosure) {
        guard let raw else { return }
        self.raw = nil
        stopDrainSource()
        let object = UnsafeMutableRawPointer(raw)
        let me = Unmanaged.passUnretained(self)
        shim_soup_disconnect(object, me.toOpaque())
        shim_soup_unref(object)  // the last reference closes the socket
        self.closure = closure
        onRemoved?()
        onRemoved = nil
        tellClosed(closure)
        onText = nil
        me.release()
    }

    private func tellClosed(_ closure: WebSocketClosure) {
        guard let handler = onClosed else { return }
        onClosed = nil
        handler(closure)
    }

    private func deliverWaiting() {
        while let onText, !waiting.isEmpty { onText(waiting.removeFirst()) }
    }

    private func watchDrain() {
        guard drainSource == nil, let raw, let source = shim_websocket_output_source(raw) else { return }
        g_source_set_priority(source, G_PRIORITY_DEFAULT + 1)
        let me = Unmanaged.passRetained(self)
        shim_set_pollable_callback(source, outputDrained, me.toOpaque(), releaseConnection)
        g_source_attach(source, GLibLoop.control.rawContext)
        drainSource = source
    }

    private func stopDrainSource() {
        guard let drainSource else { return }
        self.drainSource = nil
        g_source_destroy(drainSource)
        g_source_unref(drainSource)
    }
}

/// Recovers the connection from a signal's data pointer, which the open socket keeps alive.
private func connection(_ data: gpointer?) -> WebSocketConnection? {
    data.map { Unmanaged<WebSocketConnection>.fromOpaque($0).takeUnretainedValue() }
}

private let receiveMessage: @convention(c) (OpaquePointer?, Int32, OpaquePointer?, gpointer?) -> Void = {
    _, type, bytes, data in
    guard let bytes, let socket = connection(data) else { return }
    var text: String?
    if type == Int32(SOUP_WEBSOCKET_DATA_TEXT.rawValue) {
        var size: gsize = 0
        let start = g_bytes_get_data(bytes, &size)
        text = String(decoding: UnsafeRawBufferPointer(start: start, count: Int(size)), as: UTF8.self)
    }
    ControlActor.assumeIsolated { socket.received(text) }
}

private let receiveError: @convention(c) (OpaquePointer?, UnsafeMutablePointer<GError>?, gpointer?) -> Void = {
    _, error, data in
    guard let error, let socket = connection(data) else { return }
    let words = error.pointee.message.map { String(cString: $0) } ?? ""
    let isTooLarge = g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_MESSAGE_TOO_LARGE.rawValue)) != 0
    let isWebSocketError = error.pointee.domain == soup_websocket_error_quark()
    let code: UInt16 = isTooLarge ? 1009 : isWebSocketError ? UInt16(clamping: error.pointee.code) : 1006
    ControlActor.assumeIsolated { socket.failed(code: code, words: words) }
}

private let receiveClosed: @convention(c) (OpaquePointer?, gpointer?) -> Void = { _, data in
    guard let socket = connection(data) else { return }
    ControlActor.assumeIsolated { socket.closed() }
}

private func outputDrained(_ stream: UnsafeMutablePointer<GObject>?, _ data: gpointer?) -> gboolean {
    guard let socket = connection(data) else { return 0 }
    ControlActor.assumeIsolated { socket.drained() }
    return 0
}

private func releaseConnection(_ data: gpointer?) {
    guard let data else { return }
    Unmanaged<WebSocketConnection>.fromOpaque(data).release()
}
