import Audio
import GatewayTesting
import Testing

@Suite struct EarTests {
    /// Noise in bursts of random length and level: no two stretches alike, as in speech.
    private func babble(seconds: Double, rate: SampleRate, seed: UInt64) -> [Int16] {
        var random = SeededRandom(seed: seed)
        var samples: [Int16] = []
        var smooth = 0.0
        while samples.count < Int(seconds * Double(rate.hertz)) {
            let level = Double.random(in: 0...9000, using: &random) * (Bool.random(using: &random) ? 1 : 0.1)
            for _ in 0..<rate.samples(milliseconds: Int.random(in: 40...200, using: &random)) {
                smooth += (Double.random(in: -1...1, using: &random) - smooth) * 0.5
                samples.append(Int16(smooth * level))
            }
        }
        return samples
    }

    private func silence(_ milliseconds: Int, _ rate: SampleRate = .telephone) -> [Int16] {
        [Int16](repeating: 0, count: rate.samples(milliseconds: milliseconds))
    }

    @Test(arguments: [8000, 16000])
    func aDelayIsFoundThroughALawAndNoise(hertz: Int) throws {
        let rate = SampleRate(hertz)
        let reference = babble(seconds: 3, rate: rate, seed: 1)
        var random = SeededRandom(seed: 2)
        let shift = rate.samples(milliseconds: 243)
        var heard = [Int16](repeating: 0, count: shift)
        for sample in reference {
            let coded = Int(G711Law.a.decode(G711Law.a.encode(sample / 2)))
            heard.append(Int16(coded + Int.random(in: -60...60, using: &random)))
        }
        let match = try #require(Ear(heard, rate: rate).match(Ear(reference, rate: rate), maximumDelay: 600))
        #expect(abs(match.delay - 243) < 0.5)
        #expect(match.similarity > 0.95 && match.envelopeSimilarity > 0.95)
    }

    @Test func aLeadIsFoundWhereItIsAllowed() throws {
        let sound = babble(seconds: 2, rate: .telephone, seed: 3)
        let early = Ear(Array(sound.dropFirst(400)), rate: .telephone)
        let match = try #require(early.match(Ear(sound, rate: .telephone), maximumDelay: 200, maximumLead: 200))
        #expect(match.delay == -50)
    }

    @Test func unrelatedSoundsAreNotAlikeAndSilenceMatchesNothing() {
        let one = Ear(babble(seconds: 2, rate: .telephone, seed: 4), rate: .telephone)
        let other = Ear(babble(seconds: 2, rate: .telephone, seed: 5), rate: .telephone)
        #expect((one.match(other)?.similarity ?? 0) < 0.5)
        #expect(one.match(Ear(silence(2000), rate: .telephone)) == nil)
        #expect(one.match(Ear(other.samples, rate: .wideBand)) == nil)
    }

    @Test func startEndAndGapsAreTold() {
        var tone = ToneGenerator(rate: .telephone, frequency: 1000)
        let sound =
            silence(200) + tone.samples(4000) + silence(40) + tone.samples(4000) + silence(5) + tone.samples(800)
            + silence(300)
        let ear = Ear(sound, rate: .telephone)
        #expect(ear.soundStart() == 200)
        #expect(ear.soundEnd().map { abs($0 - 1345) <= 10 } == true)
        #expect(ear.gaps() == [Ear.Gap(start: 700, length: 40)])
        #expect(ear.gaps(longerThan: 50).isEmpty)
        #expect(ear.gaps(in: 0..<690).isEmpty)
        #expect(Ear(silence(100), rate: .telephone).soundStart() == nil)
    }

    @Test func aHoleInAToneIsHeardThroughNoise() {
        var tone = ToneGenerator(rate: .telephone, frequency: 1000)
        let noise = babble(seconds: 1, rate: .telephone, seed: 6).prefix(160).map { $0 / 8 }
        let ear = Ear(tone.samples(1600) + noise + tone.samples(1600), rate: .telephone)
        #expect(ear.gaps(inTone: 1000) == [Ear.Gap(start: 200, length: 20)])
    }
}
