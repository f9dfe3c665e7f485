import Audio
import Dispatch
import Foundation
import GLibLoop
import HeadlessClient
import MediaGraph
import Sounds

/// `trunkline call`: a call from a terminal, judged by ear.
enum CallCommand {
    private static let usage = """
        usage: trunkline call --to NUMBER [options]
               trunkline call --answer [options]

          --url URL          the gateway (ws://127.0.0.1:8080/)
          --play FILE        a WAV file to say, once (16-bit, mu-law or A-law; any rate, mono or stereo)
          --record FILE      where to write what is heard, as a 48 kHz WAV file
          --dtmf KEYS        keys to press when the call is answered: 0 to 9, *, #, A to D
          --seconds N        how long to talk (10)
          --wait N           how long to wait for the answer, or for a call (60)
          --login USER --password WORD --domain HOST [--proxy HOST] [--sip-port N] [--no-register]
                             a SIP account that the gateway registers; without one the call is a guest's

        Exit code 0: the call was answered. 1: it was not. 64: wrong arguments.
        """

    static func run(_ arguments: inout Arguments) async throws(Arguments.Problem) {
        if arguments.asksForHelp { return print(usage) }
        let record = try arguments.value(of: "--record")
        let play = try arguments.value(of: "--play")
        var plan = try plan(&arguments)
        do throws(SoundFileError) {
            if let play { plan.speech = try SoundFile.read(play, rate: CallReport.rate) }
        } catch { fail(error.description) }
        if let record { checkWritable(record) }
        signal(SIGPIPE, SIG_IGN)
        await carryOut(plan, record: record)
    }

    private static let accountOptions = ["--password", "--domain", "--proxy", "--sip-port", "--no-register"]

    private static func plan(_ arguments: inout Arguments) throws(Arguments.Problem) -> HeadlessClient.Plan {
        let answers = arguments.flag("--answer")
        let callee = try arguments.value(of: "--to")
        guard answers != (callee != nil) else { throw .missing("one of --to NUMBER and --answer") }
        var plan = HeadlessClient.Plan(
            url: try url(try arguments.value(of: "--url") ?? "ws://127.0.0.1:8080/"), callee: callee)
        plan.keys = try keys(try arguments.value(of: "--dtmf") ?? "")
        if let talk = try arguments.seconds(of: "--seconds") { plan.talkTime = talk }
        if let wait = try arguments.seconds(of: "--wait") { plan.patience = wait }
        if let login = try arguments.value(of: "--login") {
            guard let domain = try arguments.value(of: "--domain") else { throw .missing("with --login, --domain") }
            plan.account = HeadlessClient.Account(
                login: login, password: try arguments.value(of: "--password") ?? "", domain: domain,
                outboundProxy: try arguments.value(of: "--proxy"),
                port: try arguments.port(of: "--sip-port") ?? 5060,
                registers: !arguments.flag("--no-register"))
        } else if let option = accountOptions.first(where: arguments.has) {
            throw .missing("with \(option), --login")
        }
        try arguments.finish()
        return plan
    }

    private static func url(_ text: String) throws(Arguments.Problem) -> String {
        let parts = URLComponents(string: text)
        guard let scheme = parts?.scheme?.lowercased(), ["ws", "wss", "http", "https"].contains(scheme),
            let host = parts?.host, !host.isEmpty
        else { throw .unusable(option: "--url", value: text, takes: "a URL such as ws://127.0.0.1:8080/") }
        return text
    }

    private static func keys(_ text: String) throws(Arguments.Problem) -> String {
        guard text.allSatisfy({ "0123456789*#ABCD".contains($0) }) else {
            throw .unusable(option: "--dtmf", value: text, takes: "keys out of 0 to 9, *, #, A to D")
        }
        return text
    }

    /// Ends the command before the call if what is heard could not be kept after it.
    private static func checkWritable(_ path: String) {
        let isNew = access(path, F_OK) != 0
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o644)
        guard descriptor >= 0 else { fail("\(path): cannot be written: \(String(cString: strerror(errno)))") }
        close(descriptor)
        if isNew { unlink(path) }
    }

    private static func carryOut(_ plan: HeadlessClient.Plan, record: String?) async {
        let report: CallReport
        do throws(HeadlessError) {
            let client = try await HeadlessClient(plan: plan) { news in Output.line(line(of: news)) }
            let interrupt = interruption { await client.endEarly() }
            defer { interrupt.cancel() }
            report = try await client.run()
        } catch { fail(error.description) }
        for line in lines(of: report) { Output.line(line) }
        guard let record else { return }
        do throws(SoundFileError) {
            try SoundFile.write(report.heard, rate: CallReport.rate, to: record)
        } catch { fail(error.description) }
    }

    /// Ctrl-C hangs up and still reports and records; a second one ends the command at once.
    private static func interruption(_ action: @escaping @Sendable () async -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler {
            signal(SIGINT, SIG_DFL)
            Task { await action() }
        }
        source.resume()
        return source
    }

    private static func fail(_ message: String) -> Never {
        Output.error("call: \(message)")
        Trunkline.leave(1)
    }

    private static func line(of news: HeadlessClient.News) -> String {
        switch news {
        case .signedIn(let login): "signed in as \(login)"
        case .registered: "registered"
        case .status(let status, let sipStatus, let info):
            "\(status)" + (sipStatus > 0 ? " (SIP \(sipStatus))" : "") + (info.isEmpty ? "" : " \(info)")
        case .mediaConnected(let remote, let profile, let milliseconds):
            "media connected to \(remote) by \(profile) after \(milliseconds) ms"
        case .mediaStarted: "media started"
        case .key(let key): "key \(key) heard"
        }
    }

    private static func lines(of report: CallReport) -> [String] {
        let figures = report.figures
        let level = AudioLevel(report.heard.span)
        let seconds = Double(report.heard.count) / Double(CallReport.rate.hertz)
        let roundTrip =
            figures.roundTripMilliseconds < 0 ? "unknown" : String(format: "%.1f ms", figures.roundTripMilliseconds)
        return [
            "packets    sent \(figures.packetsSent), received \(figures.packetsReceived)",
            "loss       \(figures.packetsLost) lost, \(figures.packetsLate) late, \(figures.concealedMilliseconds) ms concealed",
            String(format: "jitter     %.1f ms", figures.jitterMilliseconds),
            "round trip \(roundTrip)",
            String(format: "heard      %.1f s, level %.1f dBFS, peak %.1f dBFS", seconds, level.rms, level.peak),
        ]
    }
}
