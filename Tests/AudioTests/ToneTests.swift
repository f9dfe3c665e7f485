import Audio
import GatewayTesting
import Testing

@Suite struct ToneTests {
    @Test func levelsAreMeasuredInDBFS() {
        let square = [Int16](repeating: 16384, count: 100)
        #expect(abs(AudioLevel(square.span).rms + 6.02) < 0.01)
        #expect(abs(AudioLevel(square.span).peak + 6.02) < 0.01)
        #expect(AudioLevel([Int16](repeating: 0, count: 10).span).rms == AudioLevel.floor)
        #expect(AudioLevel([Int16]().span).peak == AudioLevel.floor)
        #expect(AudioLevel([Int16](repeating: .min, count: 10).span).rms == 0)
        #expect(AudioLevel.meanSquare([Int16](repeating: .min, count: 10).span) == 1 << 30)
    }

    @Test(arguments: [8000, 16000, 48000])
    func aToneHasItsFrequencyAndLevel(hertz: Int) {
        let rate = SampleRate(hertz)
        var generator = ToneGenerator(rate: rate, frequency: 1000, level: -12)
        let samples = generator.samples(rate.hertz)
        #expect(abs(AudioLevel(samples.span).rms + 12) < 0.05)
        #expect(abs(ToneFinder.level(of: 1000, in: samples, rate: rate) + 12) < 0.1)
        #expect(ToneFinder.level(of: 1100, in: samples, rate: rate) < -80)
        #expect(ToneFinder.loudest(of: [440, 1000, 2000], in: samples, rate: rate) == 1000)
        #expect(ToneFinder.loudest(of: [440, 2000], in: samples, rate: rate) == nil)
    }

    @Test func framesJoinWithoutAStep() {
        let tones = [Tone(frequency: 440), Tone(frequency: 480.5)]
        var whole = ToneGenerator(rate: .telephone, tones: tones)
        var pieces = ToneGenerator(rate: .telephone, tones: tones)
        let expected = whole.samples(1600)
        #expect((0..<10).flatMap { _ in pieces.samples(160) } == expected)
    }

    @Test func tooLoudATonesAreClippedAndTooHighOnesLeftOut() {
        var loud = ToneGenerator(rate: .telephone, frequency: 500, level: 12)
        #expect(loud.samples(80).max() == .max)
        var high = ToneGenerator(rate: .telephone, frequency: 4000)
        #expect(high.samples(80).allSatisfy { $0 == 0 })
    }

    @Test(arguments: [8000, 16000])
    func keysAreHeardInOrder(hertz: Int) {
        let rate = SampleRate(hertz)
        let silence = [Int16](repeating: 0, count: rate.samples(milliseconds: 70))
        var sound = silence
        for key in "1123456789*0#ABCD5" {
            guard var tones = ToneGenerator(rate: rate, dtmf: key) else { continue }
            sound += tones.samples(rate.samples(milliseconds: 100)) + silence
        }
        #expect(ToneFinder.keys(in: sound, rate: rate) == "1123456789*0#ABCD5")
        var single = ToneGenerator(rate: rate, frequency: 770)
        #expect(ToneFinder.keys(in: single.samples(rate.hertz), rate: rate) == "")
        #expect(ToneGenerator(rate: rate, dtmf: "x") == nil)
    }

    @Test func musicIsTheSameWhereverAListenerComesIn() {
        let music = MusicLoop(rate: .telephone)
        var whole = [Int16](repeating: 0, count: 4000)
        var storage = whole.mutableSpan
        music.fill(&storage, from: Int64(music.length) - 2000)
        var part = [Int16](repeating: 0, count: 100)
        var target = part.mutableSpan
        music.fill(&target, from: Int64(music.length) - 50)
        #expect(Array(whole[1950..<2050]) == part)
        #expect(music.sample(at: 5000 + Int64(music.length)) == music.sample(at: 5000 + 3 * Int64(music.length)))
        #expect(music.sample(at: -1) == 0)
    }

    @Test func musicIsLoudEnoughAndNeitherPausesNorClips() {
        let music = MusicLoop(rate: .telephone)
        var sound = [Int16](repeating: 0, count: 2 * music.length)
        var storage = sound.mutableSpan
        music.fill(&storage, from: 0)
        let ear = Ear(sound, rate: .telephone)
        #expect((-28 ... -14).contains(ear.level.rms))
        #expect(ear.level.peak < -3)
        #expect(ear.gaps(longerThan: 20).isEmpty)
    }
}
