import Audio
import GatewayTesting
import Testing

@Suite struct WAVFileTests {
    private func chunk(_ tag: String, _ content: [UInt8], length: UInt32? = nil) -> [UInt8] {
        let size = length ?? UInt32(content.count)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        return Array(tag.utf8) + bytes + content + (content.count % 2 == 1 ? [0] : [])
    }

    private func format(tag: UInt8, channels: UInt8 = 1, bits: UInt8) -> [UInt8] {
        chunk("fmt ", [tag, 0, channels, 0, 0x40, 0x1F, 0, 0, 0, 0, 0, 0, 0, 0, bits, 0])
    }

    private func file(_ chunks: [UInt8]) -> [UInt8] { Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WAVE".utf8) + chunks }

    @Test func whatIsWrittenReadsBackTheSame() throws {
        let wav = WAVFile(rate: .wideBand, samples: [0, 1, -1, .max, .min])
        #expect(wav.bytes().count == 54)
        #expect(try WAVFile(bytes: wav.bytes()) == wav)
    }

    @Test func otherChunksAreSkippedAndTwoChannelsBecomeOne() throws {
        let bytes = file(
            chunk("LIST", [1, 2, 3]) + format(tag: 1, channels: 2, bits: 16) + chunk("fact", [0, 0, 0, 0])
                + chunk("data", [100, 0, 200, 0, 0, 0x80, 0, 0x80]) + chunk("junk", [1]))
        let wav = try WAVFile(bytes: bytes)
        #expect(wav.samples == [150, -32768] && wav.rate == .telephone)
    }

    @Test func bothLawsAreRead() throws {
        #expect(try WAVFile(bytes: file(format(tag: 7, bits: 8) + chunk("data", [0x80, 0xFF]))).samples == [32124, 0])
        #expect(try WAVFile(bytes: file(format(tag: 6, bits: 8) + chunk("data", [0xD5, 0x55]))).samples == [8, -8])
    }

    @Test func samplesCutShortAreReadAsFarAsTheyGo() throws {
        let bytes = file(format(tag: 1, bits: 16) + chunk("data", [1, 0, 2, 0, 3], length: 0xFFFF_FFFF))
        #expect(try WAVFile(bytes: bytes).samples == [1, 2, 0x0003])
    }

    @Test func errorsTellThePlace() {
        #expect(throws: WAVError.notWAV(offset: 0)) { try WAVFile(bytes: [1, 2, 3]) }
        #expect(throws: WAVError.notWAV(offset: 8)) { try WAVFile(bytes: Array("RIFF0000AVI ".utf8)) }
        #expect(throws: WAVError.noFormat(offset: 12)) { try WAVFile(bytes: file(chunk("data", [0, 0]))) }
        #expect(throws: WAVError.noFormat(offset: 12)) { try WAVFile(bytes: file([])) }
        #expect(throws: WAVError.truncated(offset: 20)) { try WAVFile(bytes: file(chunk("fmt ", [1, 0, 1, 0]))) }
        #expect(throws: WAVError.unsupportedFormat(tag: 3, bits: 32, offset: 20)) {
            try WAVFile(bytes: file(format(tag: 3, bits: 32)))
        }
        #expect(throws: WAVError.badFormat(channels: 0, rate: 8000, offset: 22)) {
            try WAVFile(bytes: file(format(tag: 1, channels: 0, bits: 16)))
        }
        #expect(throws: WAVError.noSamples(offset: 36)) { try WAVFile(bytes: file(format(tag: 1, bits: 16))) }
    }

    @Test func hostileFilesNeitherTrapNorHang() {
        var random = SeededRandom(printedFor: "hostile WAV files")
        let good = WAVFile(rate: .telephone, samples: Array(0..<50)).bytes()
        for _ in 0..<3000 {
            FuzzTarget.wavFile.run(random.damaged(good))
            FuzzTarget.wavChunks.run(random.damaged(Array(good[12...])))
            FuzzTarget.wavChunks.run(random.bytes(upTo: 60))
        }
    }
}
