internal import Foundation

/// A configuration file, read and judged.
public struct ConfigurationFile: Sendable {
    /// The path as it was given, for messages about what cannot be done with its settings.
    public let path: String
    /// What it says.
    public let settings: Settings

    /// Reads a file.
    ///
    /// - Throws: what is wrong with it: unreadable, a syntax error with its line, an unknown key or an unusable value with its
    ///   key path.
    public init(path: String) throws(ConfigurationError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ConfigurationError(file: path, place: .file, message: "no such file")
        }
        guard !isFolder.boolValue else { throw ConfigurationError(file: path, place: .file, message: "is a folder") }
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError(file: path, place: .file, message: "cannot be read: \(error.localizedDescription)")
        }
        try self.init(text: text, path: path, environment: ProcessInfo.processInfo.environment)
    }

    /// Reads settings from a text; `path` and `environment` are what they would be for a file.
    public init(text: String, path: String, environment: [String: String] = [:]) throws(ConfigurationError) {
        try self.init(text: text, path: path, environment: environment, onKnownKey: nil)
    }

    init(
        text: String, path: String, environment: [String: String], onKnownKey: ((String) -> Void)?
    ) throws(ConfigurationError) {
        let root: JSON5Value
        do throws(JSON5Error) {
            root = try JSON5Parser.parse(text)
        } catch {
            throw ConfigurationError(file: path, place: .line(error.line, column: error.column), message: error.message)
        }
        let reader = try SectionReader(root: root, file: path, environment: environment, onKnownKey: onKnownKey)
        self.path = path
        settings = try Settings(reader)
    }

    /// An error about a setting that was well-formed and cannot be carried out, such as a port that is taken.
    public func error(_ keyPath: String, _ message: String) -> ConfigurationError {
        ConfigurationError(file: path, place: .key(keyPath, line: nil), message: message)
    }
}
