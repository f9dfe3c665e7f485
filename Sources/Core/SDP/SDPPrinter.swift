/// Writes a description in the order of RFC 8866 section 5, CRLF after each line.
public enum SDPPrinter {
    /// The text of `session`, ready for the wire.
    public static func print(_ session: SessionDescription) -> String {
        var text = "v=0\r\n"
        let origin = session.origin
        text += "o=\(origin.username) \(origin.sessionID) \(origin.version) \(words(origin.address))\r\n"
        text += "s=\(session.name)\r\n"
        if let connection = session.connection { text += "c=\(words(connection))\r\n" }
        text += "t=0 0\r\n"
        for attribute in session.attributes { text += line(attribute) }
        for media in session.media {
            let formats = media.formats.joined(separator: " ")
            text += "m=\(media.kind) \(media.port) \(media.profile) \(formats)\r\n"
            if let connection = media.connection { text += "c=\(words(connection))\r\n" }
            for attribute in media.attributes { text += line(attribute) }
        }
        return text
    }

    private static func words(_ connection: Connection) -> String {
        "IN \(connection.isIPv6 ? "IP6" : "IP4") \(connection.address)"
    }

    private static func line(_ attribute: Attribute) -> String {
        guard let value = attribute.value else { return "a=\(attribute.name)\r\n" }
        return "a=\(attribute.name):\(value)\r\n"
    }
}
