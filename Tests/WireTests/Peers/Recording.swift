import Audio
import Foundation
import Glibc

/// Sound that a peer heard, and an ear for it: who speaks, how loud, how late, with how many gaps.
struct Recording: Sendable {
    var samples: [Int16]
    /// Samples a second.
    let rate: Int

    init(samples: [Int16], rate: Int) { (self.samples, self.rate) = (samples, rate) }

    /// From little-endian 16-bit samples.
    init(pcm: Data, rate: Int) {
        let bytes = [UInt8](pcm)
        samples = stride(from: 0, to: bytes.count - 1, by: 2).map {
            Int16(truncatingIfNeeded: Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8)
        }
        self.rate = rate
    }

    /// From a WAV file.
    init(file: URL) throws {
        let wave = try WAVFile(bytes: [UInt8](Data(contentsOf: file)))
        self.init(samples: wave.samples, rate: wave.rate.hertz)
    }

    var seconds: Double { Double(samples.count) / Double(rate) }

    /// The part between two times in seconds; negative times count from the end.
    func part(_ from: Double, _ to: Double? = nil) -> Recording {
        func index(_ time: Double) -> Int {
            let place = Int((time * Double(rate)).rounded())
            return max(0, min(samples.count, time < 0 ? samples.count + place : place))
        }
        let (start, end) = (index(from), to.map(index) ?? samples.count)
        return Recording(samples: start < end ? Array(samples[start..<end]) : [], rate: rate)
    }

    /// RMS in dB of full scale (a full-scale sine has -3.0); -127 for silence and for nothing.
    var level: Double { AudioLevel(samples.span).rms }

    /// The level of a tone within the sound, RMS in dB of full scale, by windows of 100 ms so that clocks may differ a little.
    func level(ofTone hertz: Double) -> Double {
        let window = rate / 10
        guard samples.count >= window else { return AudioLevel.floor }
        let step = 2 * Double.pi * hertz / Double(rate)
        var (sum, count) = (0.0, 0)
        for start in stride(from: 0, through: samples.count - window, by: window) {
            var (real, imaginary) = (0.0, 0.0)
            for n in 0..<window {
                let value = Double(samples[start + n]) * (1 - cos(2 * .pi * Double(n) / Double(window)))
                real += value * cos(step * Double(n))
                imaginary += value * sin(step * Double(n))
            }
            // The window's mean is 1, so a tone of amplitude A gives A * window / 2.
            let amplitude = 2 * (real * real + imaginary * imaginary).squareRoot() / Double(window) / 32768
            sum += amplitude * amplitude / 2
            count += 1
        }
        return max(AudioLevel.floor, 10 * log10(max(sum / Double(count), 1e-13)))
    }

    /// Levels of consecutive windows, RMS in dB of full scale.
    func levels(every milliseconds: Int = 10) -> [Double] {
        let window = rate * milliseconds / 1000
        return stride(from: 0, through: samples.count - window, by: window).map {
            AudioLevel(samples.span.extracting($0..<$0 + window)).rms
        }
    }

    /// Holes in a sound that should go on without any: spans below the level, between louder ones, in milliseconds.
    func gaps(below threshold: Double = -50, atLeast milliseconds: Int = 20) -> [Int] {
        let step = 5
        var (gaps, quiet, isBegun) = ([Int](), 0, false)
        for level in levels(every: step) {
            if level < threshold {
                quiet += step
            } else {
                if isBegun, quiet >= milliseconds { gaps.append(quiet) }
                (quiet, isBegun) = (0, true)
            }
        }
        return gaps
    }

    /// When the sound first gets louder than a level, in seconds.
    func onset(above threshold: Double = -45) -> Double? {
        levels(every: 5).firstIndex { $0 > threshold }.map { Double($0) * 0.005 }
    }

    /// How a sound came through: how late, how alike (1 is the same), how much its delay wandered.
    struct Passage: Sendable {
        let seconds: Double
        let likeness: Double
        let spread: Double
    }

    /// How much later `heard` holds what this recording holds.
    ///
    /// Both must begin at the same moment. Each loud second of this recording is looked for by correlation, at 2000 samples a
    /// second, so the delay is good to half a millisecond; the medians of all seconds are given, and nil when nothing loud was
    /// said or nothing alike was heard. Steady tones have no answer; speech has.
    func passage(to heard: Recording, limit: Double = 1) -> Passage? {
        let (said, other) = (thinned(), heard.thinned())
        let (reach, length) = (Int(limit * Self.thinRate), Int(Self.thinRate))
        var found: [(lag: Int, likeness: Double)] = []
        let last = min(said.count, other.count) - reach - length
        for start in stride(from: 0, through: last, by: length / 2) {
            let energy = said[start..<start + length].reduce(Float(0)) { $0 + $1 * $1 }
            guard energy / Float(length) > 100 * 100 else { continue }
            let best = Self.bestLag(
                of: Array(said[start..<start + length]), in: Array(other[start..<start + length + reach]))
            if best.likeness > 0.4 { found.append(best) }
        }
        guard !found.isEmpty else { return nil }
        let lags = found.map(\.lag).sorted()
        let likeness = found.map(\.likeness).sorted()[found.count / 2]
        return Passage(
            seconds: Double(lags[lags.count / 2]) / Self.thinRate, likeness: likeness,
            spread: Double(lags[lags.count * 9 / 10] - lags[lags.count / 10]) / Self.thinRate)
    }

    private static func bestLag(of said: [Float], in heard: [Float]) -> (lag: Int, likeness: Double) {
        var best = (lag: 0, likeness: 0.0)
        let energy = said.reduce(Float(0)) { $0 + $1 * $1 }
        said.withUnsafeBufferPointer { said in
            heard.withUnsafeBufferPointer { heard in
                var square = heard[..<said.count].reduce(Float(0)) { $0 + $1 * $1 }
                for lag in 0...(heard.count - said.count) {
                    var product: Float = 0
                    var n = 0
                    while n < said.count {
                        product += said[n] * heard[n + lag]
                        n += 1
                    }
                    let likeness = Double(product / max(1, (energy * max(0, square)).squareRoot()))
                    if likeness > best.likeness { best = (lag, likeness) }
                    guard lag + said.count < heard.count else { break }
                    square += heard[lag + said.count] * heard[lag + said.count] - heard[lag] * heard[lag]
                }
            }
        }
        return best
    }

    private static let thinRate = 2000.0

    private func thinned() -> [Float] {
        let step = max(1, rate / Int(Self.thinRate))
        return stride(from: 0, to: samples.count - step + 1, by: step).map { start in
            samples[start..<start + step].reduce(Float(0)) { $0 + Float($1) } / Float(step)
        }
    }

    /// Writes a WAV file.
    func write(to file: URL) throws {
        try Data(WAVFile(rate: SampleRate(rate), samples: samples).bytes()).write(to: file)
    }
}
