internal import Foundation

/// The test process's own environment.
public enum ProcessEnvironment {
    /// The value of a variable, or nil if it is not set.
    public static func value(of name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// All variables.
    public static var all: [String: String] { ProcessInfo.processInfo.environment }
}
