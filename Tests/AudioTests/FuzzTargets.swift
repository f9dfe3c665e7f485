import Audio

/// One entry per parser: any bytes in, nothing out. A fuzz driver calls these; a trap or a hang is the finding.
enum FuzzTarget: CaseIterable {
    case wavFile, wavChunks

    func run(_ bytes: [UInt8]) {
        let file = self == .wavFile ? bytes : Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WAVE".utf8) + bytes
        guard let wav = try? WAVFile(bytes: file) else { return }
        precondition(wav.samples.count <= file.count)
        precondition((try? WAVFile(bytes: wav.bytes())) == wav)
    }
}
