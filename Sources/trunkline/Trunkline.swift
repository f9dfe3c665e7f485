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
            case "serve", "check-config":
                if arguments.asksForHelp { return print(usage) }
                let file = try Serve.file(&arguments)
                if command == "serve" { await Serve.run(file) } else { CheckConfig.run(file) }
            case "call": try await CallCommand.run(&arguments)
            case "version", "--version": print("trunkline \(version)")
            case "help", "--help", "-h": print(usage)
            default:
                Output.error("unknown command '\(command)'\n\n\(usage)")
                leave(64)
            }
        } catch {
            let help = command == "call" ? "trunkline call --help" : "trunkline help"
            Output.error("\(command): \(error) (see '\(help)')")
            leave(64)
        }
        leave(0)
    }

    /// Ends the process.
    ///
    /// Not by `exit` or by returning from main: these run the C libraries' destructors while loops and lanes still run on their
    /// threads, and GLib aborts when it meets its thread keys gone.
    static func leave(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
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
