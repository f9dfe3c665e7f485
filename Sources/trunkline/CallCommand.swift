import Audio
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
          --play FILE        a WAV file to say, once
          --record FILE      where to write what is heard, as a 48 kHz WAV file
          --dtmf KEYS        keys to press when the call is answered
          --seconds N        how long to talk (10)
          --wait N           how long to wait for the answer, or for a call (60)
          --login USER --password WORD --domain HOST [--proxy HOST] [--sip-port N] [--no-register]
                             a SIP account that the gateway registers; without one the call is a guest's

        Exit code 0: the call was answered. 1: it was not. 64: wrong arguments.
        """

    static func run(_ arguments: inout Arguments) async throws(Arguments.Problem) {
        if arguments.flag("--help") { return print(usage) }
        let record = try arguments.value(of: "--record")
        let play = try arguments.value(of: "--play")
        var plan = try plan(&arguments)
        do throws(SoundFileError) {
            if let play { plan.speech = try SoundFile.read(play, rate: CallReport.rate) }
        } catch { fail(error.description) }
        signal(SIGPIPE, SIG_IGN)
        await carryOut(plan, record: record)
    }

    private static func plan(_ arguments: inout Arguments) throws(Arguments.Problem) -> HeadlessClient.Plan {
        let answers = arguments.flag("--answer")
        let callee = try arguments.value(of: "--to")
        guard answers != (callee != nil) else { throw .missing("--to NUMBER or --answer") }
        var plan = HeadlessClient.Plan(
            url: try arguments.value(of: "--url") ?? "ws://127.0.0.1:8080/", callee: callee)
        plan.keys = try arguments.value(of: "--dtmf") ?? ""
        if let talk = try arguments.seconds(of: "--seconds") { plan.talkTime = talk }
        if let wait = try arguments.seconds(of: "--wait") { plan.patience = wait }
        if let login = try arguments.value(of: "--login") {
            guard let domain = try arguments.value(of: "--domain") else { throw .missing("--domain") }
            let port = try arguments.port(of: "--sip-port") ?? 5060
            plan.account = HeadlessClient.Account(
                login: login, password: try arguments.value(of: "--password") ?? "", domain: domain,
                outboundProxy: try arguments.value(of: "--proxy"), port: port,
                registers: !arguments.flag("--no-register"))
        }
        try arguments.finish()
        return plan
    }

    private static func carryOut(_ plan: HeadlessClient.Plan, record: String?) async {
        let report: CallReport
        do throws(HeadlessError) {
            let client = try await HeadlessClient(plan: plan) { news in Output.line(line(of: news)) }
            report = try await client.run()
        } catch { fail(error.description) }
        for line in lines(of: report) { Output.line(line) }
        guard let record else { return }
        do throws(SoundFileError) {
            try SoundFile.write(report.heard, rate: CallReport.rate, to: record)
        } catch { fail(error.description) }
    }

    private static func fail(_ message: String) -> Never {
        Output.error("call: \(message)")
        exit(1)
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
