internal import CLinux

/// A socket call that the kernel refused, with the kernel's own code and words.
public struct SocketError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What was tried.
    public enum Operation: String, Sendable {
        case open, bind, reusePort, filter, localAddress, receiveBuffer, dscp, readiness, descriptorLimit
    }

    /// What was tried.
    public let operation: Operation
    /// The kernel's errno, positive.
    public let code: Int32

    /// An error as a test or a caller with a code of its own would make it.
    public init(_ operation: Operation, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// Whether another socket holds the address already (EADDRINUSE): try the next port.
    public var isAddressInUse: Bool { code == EADDRINUSE }

    /// What was tried and the kernel's words and code.
    public var description: String {
        let words = shim_error_text(code).map { String(cString: $0) } ?? "unknown"
        return "\(operation.rawValue): \(words) (\(code))"
    }

    /// Turns the twins' "negative errno" into a thrown error.
    @discardableResult
    static func check(_ answer: Int32, _ operation: Operation) throws(SocketError) -> Int32 {
        guard answer >= 0 else { throw SocketError(operation, code: -answer) }
        return answer
    }
}
