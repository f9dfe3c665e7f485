public import Audio
internal import Foundation
public import SpeexDSP

/// Why a sound file cannot be used.
public enum SoundFileError: Error, Sendable, CustomStringConvertible {
    /// It cannot be read or written; the system's words.
    case file(path: String, words: String)
    /// It is no WAV file that is understood.
    case notWAV(path: String, WAVError)
    /// Its rate cannot be changed to the one that is asked for.
    case rate(path: String, ResamplerError)

    /// One line for a person.
    public var description: String {
        switch self {
        case .file(let path, let words): "\(path): \(words)"
        case .notWAV(let path, let error): "\(path): \(error)"
        case .rate(let path, let error): "\(path): \(error)"
        }
    }
}

/// Mono sound in a WAV file.
///
/// - Threads: any. It reads whole files and resamples them: keep it off loops and lanes.
public enum SoundFile {
    /// Reads a file and resamples it, if its rate is another one.
    public static func read(_ path: String, rate: SampleRate) throws(SoundFileError) -> [Int16] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw .file(path: path, words: "no such file")
        }
        guard !isFolder.boolValue else { throw .file(path: path, words: "is a folder") }
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch { throw .file(path: path, words: error.localizedDescription) }
        let file: WAVFile
        do throws(WAVError) { file = try WAVFile(bytes: [UInt8](data)) } catch { throw .notWAV(path: path, error) }
        if file.rate == rate { return file.samples }
        do throws(ResamplerError) {
            return try resampled(file.samples, from: file.rate, to: rate)
        } catch { throw .rate(path: path, error) }
    }

    /// Writes samples as 16-bit PCM.
    public static func write(_ samples: [Int16], rate: SampleRate, to path: String) throws(SoundFileError) {
        do {
            try Data(WAVFile(rate: rate, samples: samples).bytes()).write(to: URL(filePath: path))
        } catch { throw .file(path: path, words: error.localizedDescription) }
    }

    /// Samples at another rate.
    public static func resampled(
        _ samples: [Int16], from: SampleRate, to: SampleRate
    ) throws(ResamplerError) -> [Int16] {
        var resampler = try SpeexResampler(inputRate: from.hertz, outputRate: to.hertz, quality: 8)
        resampler.skipZeros()
        // The last samples come out only when something follows them.
        let input = samples + Array(repeating: 0, count: from.hertz / 50)
        var result: [Int16] = []
        result.reserveCapacity(input.count * to.hertz / from.hertz + to.hertz)
        var block = Array<Int16>(repeating: 0, count: 8192)
        var position = 0
        while position < input.count {
            let end = min(position + 1024, input.count)
            var output = block.mutableSpan
            let progress = resampler.process(input.span.extracting(position..<end), into: &output)
            result.append(contentsOf: block.prefix(progress.produced))
            if progress.consumed == 0, progress.produced == 0 { break }
            position += progress.consumed
        }
        return Array(result.prefix(samples.count * to.hertz / from.hertz))
    }
}
