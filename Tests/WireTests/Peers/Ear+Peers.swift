import Audio
import Foundation
import GatewayTesting

extension Ear {
    /// An ear on little-endian 16-bit samples.
    init(pcm: Data, rate: Int) {
        let bytes = [UInt8](pcm)
        let samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8)
        }
        self.init(samples, rate: SampleRate(rate))
    }

    /// An ear on a WAV file.
    init(file: URL) throws {
        let wave = try WAVFile(bytes: [UInt8](Data(contentsOf: file)))
        self.init(wave.samples, rate: wave.rate)
    }

    /// The last milliseconds, but for those at the very end, where a call's end may have cut them.
    func last(_ wanted: Int, droppingEnd dropped: Int = 100) -> Ear {
        let end = max(0, milliseconds - dropped)
        return part(max(0, end - wanted)..<end)
    }

    /// Whether a tone is there all the time at about its level, without a hole that a person would mind.
    func isSteady(_ hertz: Int, at wanted: Double = -20) -> Bool {
        abs(level(of: Double(hertz)) - wanted) < 1.5 && gaps(inTone: Double(hertz)).allSatisfy { $0.length < 60 }
    }

    /// Writes a WAV file, for a person to listen to.
    func write(to file: URL) throws {
        try Data(WAVFile(rate: rate, samples: samples).bytes()).write(to: file)
    }
}
