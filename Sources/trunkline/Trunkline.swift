import Foundation

/// The executable: one word chooses the command.
@main struct Trunkline {
    private static let usage = """
        usage: trunkline <command> [options]

          serve [--config FILE]         runs the gateway
          check-config [--config FILE]  says what is wrong with a configuration
          call --to NUMBER [options]    calls through a gateway and judges what is heard
          help, version

        FILE is Config/trunkline.json5 unless it is given. 'trunkline call --help' lists its options.
        """

    static func main() async {
        var words = CommandLine.arguments.dropFirst()
        let command = words.popFirst() ?? "help"
        var arguments = Arguments(words)
        do throws(Arguments.Problem) {
            switch command {
            case "serve": await Serve.run(try Serve.file(&arguments))
            case "check-config": CheckConfig.run(try Serve.file(&arguments))
            case "call": try await CallCommand.run(&arguments)
            case "version", "--version": print("trunkline \(version)")
            case "help", "--help", "-h": print(usage)
            default:
                Output.error("unknown command '\(command)'\n\n\(usage)")
                exit(64)
            }
        } catch {
            Output.error("\(command): \(error)")
            exit(64)
        }
    }

    static let version = "0.1.0"
}

/// Lines for a person: on standard output, at once, and errors on standard error. A reader who has gone is no reason to stop.
enum Output {
    static func line(_ text: String) { try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8)) }

    static func error(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(("trunkline: " + text + "\n").utf8))
    }
}
