internal import Foundation

/// Finds the lag at which two recordings are most alike.
struct Correlation {
    let reference: [Float]
    let recording: [Float]
    let hertz: Int

    init(reference: [Int16], recording: [Int16], hertz: Int) {
        self.reference = reference.map(Float.init)
        self.recording = recording.map(Float.init)
        self.hertz = hertz
    }

    /// - Parameter lags: in milliseconds.
    func match(lags: ClosedRange<Int>) -> Ear.Match? {
        let hop = hertz / 500  // 2 ms
        let own = Self.envelope(reference, hop: hop)
        let other = Self.envelope(recording, hop: hop)
        guard (own.max() ?? 0) > 0, (other.max() ?? 0) > 0 else { return nil }
        let coarse = Self.best(own, other, lags: lags.lowerBound / 2...lags.upperBound / 2, minimumOverlap: 50)
        guard let coarse else { return nil }
        // The loudest second of the reference is enough for the fine search, and keeps it short.
        let segment = loudestSecond(of: own, hop: hop)
        let reach = hertz * 16 / 1000
        let centre = coarse.lag * hop
        let fine = Self.best(
            Array(reference[segment]), recording,
            lags: centre - reach + segment.lowerBound...centre + reach + segment.lowerBound,
            minimumOverlap: min(segment.count, hertz / 10))
        guard let fine else { return nil }
        let lag = fine.lag - segment.lowerBound
        return Ear.Match(
            delay: Double(lag) * 1000 / Double(hertz), similarity: Double(fine.value),
            envelopeSimilarity: Double(coarse.value))
    }

    private func loudestSecond(of envelope: [Float], hop: Int) -> Range<Int> {
        let width = min(500, envelope.count)
        var sum = envelope[0..<width].reduce(0, +)
        var best = (sum: sum, start: 0)
        for start in stride(from: 1, through: envelope.count - width, by: 1) {
            sum += envelope[start + width - 1] - envelope[start - 1]
            if sum > best.sum { best = (sum, start) }
        }
        return best.start * hop..<min((best.start + width) * hop, reference.count)
    }

    /// The root of the mean square around each hop, five hops wide, so that a codec's smear does not matter.
    private static func envelope(_ samples: [Float], hop: Int) -> [Float] {
        let powers = stride(from: 0, to: samples.count - hop + 1, by: hop).map { start in
            var sum: Float = 0
            for index in start..<start + hop { sum += samples[index] * samples[index] }
            return sum / Float(hop)
        }
        return powers.indices.map { index in
            let around = powers[max(index - 2, 0)...min(index + 2, powers.count - 1)]
            return (around.reduce(0, +) / Float(around.count)).squareRoot()
        }
    }

    /// The lag with the highest correlation coefficient: own[i] against other[i + lag].
    private static func best(
        _ own: [Float], _ other: [Float], lags: ClosedRange<Int>, minimumOverlap: Int
    ) -> (lag: Int, value: Float)? {
        var best: (lag: Int, value: Float)?
        var highest: Float = 0
        own.withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer { other in
                for lag in lags {
                    let start = max(0, -lag)
                    let count = min(own.count, other.count - lag) - start
                    guard count >= minimumOverlap, count > 0 else { continue }
                    let value = coefficient(own, other, start, start + lag, count)
                    // A short overlap matches by chance more easily: weigh by its share.
                    let weighted = value * Float(count) / Float(min(own.count, other.count))
                    guard weighted > highest else { continue }
                    highest = weighted
                    best = (lag, value)
                }
            }
        }
        return best
    }

    private static func coefficient(
        _ own: UnsafeBufferPointer<Float>, _ other: UnsafeBufferPointer<Float>, _ ownStart: Int, _ otherStart: Int,
        _ count: Int
    ) -> Float {
        var (sumX, sumY, sumXX, sumYY, sumXY): (Float, Float, Float, Float, Float) = (0, 0, 0, 0, 0)
        var index = 0
        while index < count {
            let x = own[ownStart &+ index]
            let y = other[otherStart &+ index]
            sumX += x
            sumY += y
            sumXX += x * x
            sumYY += y * y
            sumXY += x * y
            index &+= 1
        }
        let n = Float(count)
        let below = (sumXX - sumX * sumX / n) * (sumYY - sumY * sumY / n)
        return below > 0 ? (sumXY - sumX * sumY / n) / below.squareRoot() : 0
    }
}
