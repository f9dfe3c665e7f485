public import Audio

/// What an endpoint says.
public enum AudioSource: Sendable {
    /// Nothing, in packets.
    case silence
    /// Samples at the endpoint's line rate, once or for ever. At the end of one round the endpoint reports
    /// ``EndpointEvent/sourceEnded`` and falls silent.
    case samples([Int16], loops: Bool)
    /// A tone, for ever.
    case tone(ToneGenerator)
    /// Music, for ever.
    case music(MusicLoop)
    /// What it hears.
    case echo
}

/// Plays one source frame by frame.
struct SourcePlayer {
    private var source: AudioSource
    private var position = 0

    init(_ source: AudioSource) { self.source = source }

    /// Fills `frame`, which holds what is heard at present. The tick's path: no allocation.
    /// - Returns: whether the source has just ended.
    mutating func fill(_ frame: inout MutableSpan<Int16>) -> Bool {
        switch source {
        case .echo: return false
        case .silence:
            for index in frame.indices { frame[index] = 0 }
            return false
        case .samples(let samples, let loops): return play(samples, loops: loops, into: &frame)
        case .tone(var generator):
            // The generator's state is an array: let go of the other reference, or the array is copied at every frame.
            source = .silence
            generator.fill(&frame)
            source = .tone(generator)
            return false
        case .music(let music):
            music.fill(&frame, from: Int64(position))
            position += frame.count
            return false
        }
    }

    private mutating func play(_ samples: [Int16], loops: Bool, into frame: inout MutableSpan<Int16>) -> Bool {
        let wasPlaying = position < samples.count
        for index in frame.indices {
            if loops, position >= samples.count { position = 0 }
            frame[index] = position < samples.count ? samples[position] : 0
            position += 1
        }
        return !loops && wasPlaying && position >= samples.count
    }
}
