/// What is wrong with a configuration, said so that it can be mended: the file, and the key path or the line.
public struct ConfigurationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Where in the file.
    public enum Place: Equatable, Sendable {
        /// The file as a whole.
        case file
        /// A line and a column, both from 1: the text is not JSON5.
        case line(Int, column: Int)
        /// A key path such as `media.trunkPorts`, and the line it stands on; nil where the key is absent.
        case key(String, line: Int?)
    }

    /// The file's path, as it was given.
    public var file: String
    /// Where in it.
    public var place: Place
    /// What is wrong, without the place.
    public var message: String

    /// Takes all parts.
    public init(file: String, place: Place, message: String) {
        self.file = file
        self.place = place
        self.message = message
    }

    /// One line for a person.
    public var description: String {
        switch place {
        case .file: "\(file): \(message)"
        case .line(let line, let column): "\(file):\(line):\(column): \(message)"
        case .key(let path, let line?): "\(file):\(line): \(path): \(message)"
        case .key(let path, nil): "\(file): \(path): \(message)"
        }
    }
}
