internal import CSoup

// Between libsoup's messages and our values.

extension HTTPRequest {
    /// Copies what a handler may see out of libsoup's message.
    init(reading message: OpaquePointer, path: UnsafePointer<CChar>?, query: OpaquePointer?) {
        method = soup_server_message_get_method(message).map { String(cString: $0) } ?? ""
        self.path = path.map { String(cString: $0) } ?? "/"
        self.query = query.map(fields(of:)) ?? [:]
        headers = headerFields(of: soup_server_message_get_request_headers(message))
        remoteAddress = soup_server_message_get_remote_host(message).map { String(cString: $0) } ?? ""
        body = []
        guard let flat = soup_message_body_flatten(soup_server_message_get_request_body(message)) else { return }
        var size: gsize = 0
        if let start = g_bytes_get_data(flat, &size) {
            body = Array(UnsafeRawBufferPointer(start: start, count: Int(size)))
        }
        g_bytes_unref(flat)
    }
}

extension HTTPResponse {
    /// Fills libsoup's message, which copies the body.
    func write(to message: OpaquePointer) {
        let target = soup_server_message_get_response_headers(message)
        for header in headers where isPrintable(header.name) && isPrintable(header.value) {
            soup_message_headers_append(target, header.name, header.value)
        }
        body.withUnsafeBytes { bytes in
            soup_server_message_set_response(
                message, contentType, SOUP_MEMORY_COPY, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                gsize(bytes.count))
        }
        soup_server_message_set_status(message, guint(clamping: status), nil)
    }

    /// A line end in a header would let a value become a header of its own.
    private func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
}

private func fields(of table: OpaquePointer) -> [String: String] {
    var answer: [String: String] = [:]
    var iterator = GHashTableIter()
    g_hash_table_iter_init(&iterator, table)
    var key: gpointer?
    var value: gpointer?
    while g_hash_table_iter_next(&iterator, &key, &value) != 0 {
        guard let key, let value else { continue }
        answer[String(cString: key.assumingMemoryBound(to: CChar.self))] =
            String(cString: value.assumingMemoryBound(to: CChar.self))
    }
    return answer
}

private func headerFields(of headers: OpaquePointer?) -> [String: String] {
    var answer: [String: String] = [:]
    var iterator = SoupMessageHeadersIter()
    soup_message_headers_iter_init(&iterator, headers)
    var name: UnsafePointer<CChar>?
    var value: UnsafePointer<CChar>?
    while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
        guard let name, let value else { continue }
        let key = String(cString: name).lowercased()
        let text = String(cString: value)
        answer[key] = answer[key].map { "\($0), \(text)" } ?? text
    }
    return answer
}
