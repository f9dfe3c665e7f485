// bench audio-path [--bridges N] [--seconds S] [--resampler whenNeeded|always] [--plain] [--speech FILE.wav] [--json]

var options = Options(Array(CommandLine.arguments.dropFirst()))
switch options.command {
case "audio-path":
    do {
        let result = try AudioPathBenchmark(options: options).run()
        print(options.printsJSON ? result.json : result.table)
    } catch {
        print("audio-path: \(error)")
    }
default:
    print(
        "usage: bench audio-path [--bridges N] [--seconds S] [--resampler whenNeeded|always] [--plain] [--speech FILE.wav] [--json]"
    )
}
