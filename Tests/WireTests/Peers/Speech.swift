import Foundation
import GatewayTesting

/// Recorded human speech from Debian's `asterisk-core-sounds-en-wav`, 8 kHz, and the same at a browser's rate.
enum Speech {
    private static let folder = "/usr/share/asterisk/sounds/en_US_f_Allison"

    /// A sentence by the name of its file, without ".wav".
    static func sentence(_ name: String) throws -> URL {
        let url = URL(filePath: "\(folder)/\(name).wav")
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw PeerFailure("\(url.path) is missing: `make peers` installs it")
        }
        return url
    }

    /// Sentences one after another in one file, at any rate, 16-bit mono.
    static func file(
        _ names: [String] = ["demo-congrats"], rate: Int = 48000, in folder: ScratchFolder
    ) async throws -> URL {
        // A sentence may stand in a folder: "digits/4".
        let file = folder.file("\(names.joined(separator: "+").replacing("/", with: "-"))-\(rate).wav")
        let sox = try ChildProcess.peer(
            "sox",
            (try names.map { try sentence($0).path })
                + ["-r", String(rate), "-c", "1", "-b", "16", file.path])
        guard await sox.end(within: .seconds(20)) == .status(0) else { throw PeerFailure("sox failed. \(sox.transcript)") }
        return file
    }
}
