internal import Foundation
internal import Synchronization

/// How much a log line matters.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    /// Single messages and decisions, with full numbers.
    case debug
    /// What an operator wants to have seen: starts, calls, registrations.
    case info
    /// Something went wrong and was dealt with.
    case warning
    /// Something went wrong and somebody must act.
    case error

    /// Orders by weight.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }

    /// The level of a configuration word; nil for any other.
    public init?(word: String) {
        switch word {
        case "debug": self = .debug
        case "info": self = .info
        case "warning": self = .warning
        case "error": self = .error
        default: return nil
        }
    }

    fileprivate var word: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }
}

/// Writes log lines that name their room: `2026-01-31T12:00:00.123Z info WCSFace signed in session=… user=…`.
///
/// A value of remote origin cannot split a line or pretend to be one (rule SCN-8): control characters are escaped and values
/// with blanks are quoted. Not for media lanes: it allocates and writes.
///
/// - Threads: any; lines are written whole.
public struct Log: Sendable {
    private static let threshold = Atomic<Int>(LogLevel.info.rawValue)

    private let room: String

    /// A log whose lines carry the room's name.
    public init(_ room: String) { self.room = room }

    /// Lines below this level are not written. For the whole process.
    public static var level: LogLevel {
        get { LogLevel(rawValue: threshold.load(ordering: .relaxed)) ?? .info }
        set { threshold.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Writes a line if its level is wanted. The message is built only then.
    ///
    /// - Parameters:
    ///   - message: fixed words, no remote text.
    ///   - details: names and values; values may be remote text.
    public func callAsFunction(
        _ level: LogLevel, _ message: @autoclosure () -> String,
        _ details: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard level >= Self.level else { return }
        var line = "\(timestamp()) \(level.word) \(room) \(message())"
        for (name, value) in details() { line += " \(name)=\(Self.escaped(value))" }
        line += "\n"
        // A log that nobody reads any more must not end the calls: `write(_:)` would end the process.
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }

    static func escaped(_ value: String) -> String {
        var text = ""
        var needsQuotes = value.isEmpty
        for scalar in value.unicodeScalars.prefix(300) {
            switch scalar {
            case "\"", "\\":
                text += "\\\(scalar)"
                needsQuotes = true
            case " ", "=":
                text.unicodeScalars.append(scalar)
                needsQuotes = true
            case _
            where scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator:
                text += "\\u{\(String(scalar.value, radix: 16))}"
                needsQuotes = true
            default: text.unicodeScalars.append(scalar)
            }
        }
        return needsQuotes ? "\"\(text)\"" : text
    }

    private func timestamp() -> String {
        Date.now.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
    }
}

/// Personal data on its way into a log line: cut short unless the level is debug (rule SCN-8).
public enum Redacted {
    /// A telephone number or user name: its last three characters stay.
    public static func party(_ text: String) -> String {
        if Log.level == .debug || text.count <= 4 { return text }
        return "…" + text.suffix(3)
    }
}
