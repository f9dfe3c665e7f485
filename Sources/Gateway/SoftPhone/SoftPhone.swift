/// The soft-phone page, embedded in the binary: plain HTML, CSS and JavaScript without outside parts.
///
/// A server answers GET of each file's path with its bytes and ``headers``. The page opens its WebSocket on `/` of the host that
/// served it.
public enum SoftPhone {
    /// One file of the page.
    public struct File: Sendable {
        /// The path of its URL, such as `/phone.js`; the page itself is `/`.
        public let path: String
        /// Its media type.
        public let contentType: String
        /// Its content.
        public let body: [UInt8]
    }

    /// All files, the page first.
    public static let files: [File] = [
        File(path: "/", contentType: "text/html; charset=utf-8", body: PackageResources.index_html),
        File(path: "/phone.css", contentType: "text/css; charset=utf-8", body: PackageResources.phone_css),
        script("/phone.js", PackageResources.phone_js),
        script("/wcs.js", PackageResources.wcs_js),
        script("/call.js", PackageResources.call_js),
        script("/sound.js", PackageResources.sound_js),
        script("/recorder.js", PackageResources.recorder_js),
        script("/words.js", PackageResources.words_js),
        File(path: "/icon.svg", contentType: "image/svg+xml", body: PackageResources.icon_svg),
    ]

    /// Headers for every file: nothing from elsewhere is loaded or run, the page cannot be framed, the microphone is allowed to
    /// the page itself only, and a new binary's page is fetched anew.
    public static let headers: [(name: String, value: String)] = [
        ("Content-Security-Policy", policy),
        ("Permissions-Policy", "microphone=(self), camera=(), geolocation=()"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-cache"),
    ]

    // `ws:` and `wss:` are named because not every browser counts a WebSocket of the same host as 'self'.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "media-src 'self' blob:",
        "connect-src 'self' ws: wss:", "worker-src 'self'", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private static func script(_ path: String, _ body: [UInt8]) -> File {
        File(path: path, contentType: "text/javascript; charset=utf-8", body: body)
    }
}
