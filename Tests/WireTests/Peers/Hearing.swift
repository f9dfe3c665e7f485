import Audio
import GatewayTesting

/// A sentence as it is heard, piece by piece: jitter buffers may change the delay on the way, but not the words.
struct Hearing: CustomStringConvertible {
    /// How late each piece with sound is, in milliseconds.
    let delays: [Double]
    /// How alike the pieces' envelopes are, of the middle one in rank and of the worst.
    let similarity: Double
    let worst: Double

    init?(of said: Ear, in heard: Ear, maximumLead: Int = 0) {
        let length = 700
        var delays: [Double] = []
        var similarities: [Double] = []
        for start in stride(from: 0, through: said.milliseconds - length, by: length) {
            let piece = said.part(start..<start + length)
            guard piece.level.rms > -35 else { continue }
            guard let match = heard.match(piece, maximumDelay: start + 1000, maximumLead: maximumLead - start) else {
                return nil
            }
            delays.append(match.delay - Double(start))
            similarities.append(match.envelopeSimilarity)
        }
        guard !delays.isEmpty else { return nil }
        self.delays = delays
        similarity = similarities.sorted()[similarities.count / 2]
        worst = similarities.min() ?? 0
    }

    var description: String { "similarity \(similarity), worst \(worst), delays \(delays) ms" }
}
