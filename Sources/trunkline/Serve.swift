import Configuration
import Dispatch
import Foundation
import Gateway
import Telemetry

/// `trunkline serve`: runs the gateway until SIGTERM or SIGINT.
enum Serve {
    static func file(_ arguments: inout Arguments) throws(Arguments.Problem) -> String {
        let path = try arguments.value(of: "--config") ?? "Config/trunkline.json5"
        try arguments.finish()
        return path
    }

    static func run(_ path: String) async {
        // A peer that closes its socket must not end the process.
        signal(SIGPIPE, SIG_IGN)
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(path: path)
            Log.level = LogLevel(word: file.settings.logLevel.rawValue) ?? .info
            let gateway = try await Gateway.start(file)
            for listener in await gateway.listeners {
                Output.line("\(listener.name.padding(toLength: 14, withPad: " ", startingAt: 0)) \(listener.address)")
            }
            Output.line("trunkline is ready")
            await Self.stopSignal()
            await gateway.stop()
        } catch {
            Output.error(error.description)
            Trunkline.leave(2)
        }
    }

    /// Returns at the first SIGTERM or SIGINT; a second one ends the process at once.
    private static func stopSignal() async {
        let signals = [SIGTERM, SIGINT]
        for number in signals { signal(number, SIG_IGN) }
        var sources: [any DispatchSourceSignal] = []
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        for number in signals {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.resume()
            sources.append(source)
        }
        for await _ in stream { break }
        for source in sources { source.cancel() }
        for number in signals { signal(number, SIG_DFL) }
    }
}

/// `trunkline check-config`: exit code 0 or 2.
enum CheckConfig {
    static func run(_ path: String) {
        do throws(ConfigurationError) {
            _ = try ConfigurationFile(path: path)
            Output.line("\(path) is good")
        } catch {
            Output.error(error.description)
            Trunkline.leave(2)
        }
    }
}
