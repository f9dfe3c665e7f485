/// A pipe between the test and a child on a descriptor that the child expects: 3 and 4 for a browser's remote debugging.
public struct ChildPipe: Hashable, Sendable {
    /// Which way its bytes go.
    public enum Direction: Sendable {
        /// The test writes, the child reads.
        case toChild
        /// The child writes, the test reads.
        case fromChild
    }

    /// The descriptor's number in the child: 3 or more.
    public var descriptor: Int32
    /// Which way its bytes go.
    public var direction: Direction
    /// The byte that ends a message from the child.
    public var delimiter: UInt8

    /// A pipe whose messages end with `delimiter`; 0 is what a browser's debugging pipe uses.
    public init(_ descriptor: Int32, _ direction: Direction, delimiter: UInt8 = 0) {
        self.descriptor = descriptor
        self.direction = direction
        self.delimiter = delimiter
    }
}

/// How a child ended.
public enum ChildExit: Hashable, Sendable {
    /// By itself, with a status.
    case status(Int32)
    /// By a signal.
    case signal(Int32)
}

/// Why a child could not be started or spoken to.
public enum ChildError: Error, Hashable, Sendable {
    /// The system call that failed, and its error number.
    case system(call: String, code: Int32)
    /// The line did not come in time; what had come by then.
    case noLine(containing: String, output: [String])
    /// The child did not end in time.
    case stillRunning
    /// No pipe to the child has this descriptor.
    case noPipe(Int32)
}
