enum CallCommand {
    static func run(_ arguments: inout Arguments) async throws(Arguments.Problem) {}
}
