import Audio
import MediaGraph
import RTP
import Testing

@Suite struct WholeCallTests {
    static func tone(_ frequency: Double, level: Double = -12) -> AudioSource {
        .tone(ToneGenerator(rate: .telephone, frequency: frequency, level: level))
    }

    @Test(arguments: [ResamplerUse.whenNeeded, .always])
    func eachSideHearsTheOthersToneAtItsLevel_H22(resampler: ResamplerUse) throws {
        let call = try VirtualCall(
            seed: 1, clientSource: Self.tone(1000), trunkSource: Self.tone(600),
            configuration: BridgeConfiguration(resampler: resampler))
        call.run(milliseconds: 6000)
        let atTrunk = Ear(call.trunk.takeRecording())
        let atClient = Ear(call.client.takeRecording())
        let steady = 8000..<40000
        print(
            atTrunk.samples.count, atTrunk.level(in: steady), atTrunk.level(of: 1000, in: steady),
            atClient.level(in: steady), atClient.level(of: 600, in: steady))
        #expect(abs(atTrunk.level(of: 1000, in: steady) + 12) < 1.5)
        #expect(abs(atClient.level(of: 600, in: steady) + 12) < 1.5)
        #expect(atTrunk.level(of: 600, in: steady) < -50)
        #expect(atClient.level(of: 1000, in: steady) < -50)
        #expect(atTrunk.gaps(below: -20, in: steady) == 0)
        #expect(atClient.gaps(below: -20, in: steady) == 0)
        print(call.bridge.statistics.read())
    }
}
