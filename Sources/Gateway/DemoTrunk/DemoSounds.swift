internal import Audio
internal import Sounds

/// What the demo trunk says, at 8 kHz.
public struct DemoSounds: Sendable {
    /// The speech of its speaking numbers.
    public var speech: [Int16]
    /// The spoken keys.
    public var keys: [Character: [Int16]]

    /// Takes all parts.
    public init(speech: [Int16], keys: [Character: [Int16]]) {
        self.speech = speech
        self.keys = keys
    }

    /// Reads the sounds; for each that is missing a tone stands in, and the reason is among `problems`.
    public static func load(speechFile: String, keysFolder: String) -> (sounds: DemoSounds, problems: [SoundFileProblem]) {
        var problems: [SoundFileProblem] = []
        func read(_ path: String, or standIn: () -> [Int16]) -> [Int16] {
            do throws(SoundFileError) {
                return try SoundFile.read(path, rate: .telephone)
            } catch {
                problems.append(SoundFileProblem(words: error.description))
                return standIn()
            }
        }
        let speech = read(speechFile) {
            var tone = ToneGenerator(rate: .telephone, tones: [Tone(frequency: 440), Tone(frequency: 660)])
            return tone.samples(8000 * 5)
        }
        var keys: [Character: [Int16]] = [:]
        for (key, name) in spokenKeys { keys[key] = read("\(keysFolder)/\(name).wav") { tone(of: key) } }
        // Nobody has recorded the four letter keys of old.
        for key in "ABCD" { keys[key] = tone(of: key) }
        return (DemoSounds(speech: speech, keys: keys), problems)
    }

    private static let spokenKeys: [(Character, String)] =
        "0123456789".map { ($0, String($0)) } + [("*", "star"), ("#", "pound")]

    private static func tone(of key: Character) -> [Int16] {
        guard var tone = ToneGenerator(rate: .telephone, dtmf: key) else { return [] }
        return tone.samples(2000)
    }
}

/// A sound that was not found, in words.
public struct SoundFileProblem: Sendable, CustomStringConvertible {
    let words: String

    /// The path and what is wrong with it.
    public var description: String { words }
}
