/// One HTTP request, as a route's handler sees it.
public struct HTTPRequest: Sendable {
    /// The method in capitals, such as `GET`.
    public var method: String
    /// The path, percent-decoded, such as `/healthz`.
    public var path: String
    /// The query's fields, percent-decoded; of a repeated name the last one counts.
    public var query: [String: String]
    /// The header fields by lower-case name; repeated fields are joined by a comma and a blank (RFC 9110, 5.3).
    public var headers: [String: String]
    /// The body's bytes; at most ``WebServer/maximumBodyBytes``.
    public var body: [UInt8]
    /// The client's address in words, without port.
    public var remoteAddress: String
}

/// One HTTP response, complete with its body.
public struct HTTPResponse: Sendable {
    /// The status code, such as 200 (RFC 9110, 15).
    public var status: Int
    /// The media type of `body`, such as `text/plain; charset=utf-8`.
    public var contentType: String
    /// More header fields, in order.
    public var headers: [(name: String, value: String)]
    /// The body's bytes.
    public var body: [UInt8]

    /// A response of bytes.
    public init(
        status: Int = 200, contentType: String, headers: [(name: String, value: String)] = [], body: [UInt8]
    ) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// A response of plain text.
    public static func text(
        _ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8"
    ) -> HTTPResponse {
        HTTPResponse(status: status, contentType: contentType, body: Array(text.utf8))
    }

    /// A response of JSON text.
    public static func json(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: Array(text.utf8))
    }
}
