import SRTP
import Testing

@Suite struct SRTPStreamTests {
    @Test("H61 replayed packets are dropped at any rate and end nothing", arguments: SRTPProfile.allCases)
    func replay(profile: SRTPProfile) throws {
        let sender = try Sender(material(profile))
        let receiver = try Receiver(material(profile))
        let sent = try (0..<400).map { try sender.rtp(packet(sequence: UInt16($0))) }
        for secured in sent { #expect(receiver.refusal(secured) == nil) }
        for _ in 0..<150 {
            for secured in sent.suffix(200) { #expect(receiver.refusal(secured) == .replay) }
        }
        #expect(receiver.refusal(sent[0]) == .replay)
        let report = try sender.rtcp(bytes(SRTPVectorTests.plainRTCP))
        _ = try receiver.rtcp(report)
        #expect(throws: SRTPError.self) { try receiver.rtcp(report) }
        #expect(try receiver.rtp(sender.rtp(packet(sequence: 400))) == packet(sequence: 400))
    }

    @Test("H61 forged packets half the range ahead do not move the roll-over estimate", arguments: SRTPProfile.allCases)
    func forged(profile: SRTPProfile) throws {
        let sender = try Sender(material(profile))
        let receiver = try Receiver(material(profile))
        let seed = UInt64.random(in: .min ... .max)
        print("forged packets: seed \(seed)")
        var random = Seeded(state: seed)
        for step in 0..<1000 {
            let sequence = UInt16((65000 + step) & 0xFFFF)
            var forged = packet(sequence: sequence &+ 0x8000)
            forged.replaceSubrange(12..., with: (0..<36).map { _ in UInt8.random(in: 0...255, using: &random) })
            #expect(receiver.refusal(forged) != nil)
            let plain = packet(sequence: sequence)
            #expect(try receiver.rtp(sender.rtp(plain)) == plain)
        }
    }

    @Test(arguments: SRTPProfile.allCases) func aPeerMayNotNameEverNewSources(profile: SRTPProfile) throws {
        let sender = try Sender(material(profile))
        let receiver = try Receiver(material(profile))
        let most = UInt32(SRTPReceiver.maximumSources)
        var forged = try sender.rtp(packet(sequence: 1, ssrc: 1000))
        forged[20] ^= 1
        #expect(receiver.refusal(forged) == .authentication, "it takes no place")
        for ssrc in 0..<most { #expect(try receiver.refusal(sender.rtp(packet(sequence: 1, ssrc: ssrc))) == nil) }
        for ssrc in most..<200 {
            #expect(try receiver.refusal(sender.rtp(packet(sequence: 1, ssrc: ssrc))) == .tooManySources)
        }
        for ssrc in 0..<most { #expect(try receiver.refusal(sender.rtp(packet(sequence: 2, ssrc: ssrc))) == nil) }
    }

    @Test("SRT-2 loss and reordering at the wrap are bridged", arguments: SRTPProfile.allCases)
    func wrap(profile: SRTPProfile) throws {
        let sender = try Sender(material(profile))
        let receiver = try Receiver(material(profile))
        var secured: [[UInt8]] = []
        for index in 65500..<65600 { secured.append(try sender.rtp(packet(sequence: UInt16(index & 0xFFFF)))) }
        var opened = 0
        // Pairs swapped, and everything from 65530 to 65541 lost.
        for index in stride(from: 0, to: 100, by: 2) where !(30..<42).contains(index) {
            for late in [index + 1, index] {
                #expect(receiver.refusal(secured[late]) == nil)
                opened += 1
            }
        }
        #expect(opened == 88)
        #expect(receiver.refusal(secured[35]) == nil, "a packet from before the wrap may still come late")
        #expect(receiver.refusal(secured[35]) == .replay)
    }

    @Test(arguments: SRTPProfile.allCases) func damageIsSeenInEveryByte(profile: SRTPProfile) throws {
        let sender = try Sender(material(profile))
        let secured = try sender.rtp(packet(sequence: 7))
        for index in secured.indices where index >= 1 {
            // A receiver of its own for each: a damaged SSRC or sequence number is another stream or index.
            let receiver = try Receiver(material(profile))
            var damaged = secured
            damaged[index] ^= 0x01
            #expect(receiver.refusal(damaged) == .authentication, "byte \(index)")
        }
    }

    @Test func hostileBytesAreRefusedAndHarmNothing() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("hostile bytes: seed \(seed)")
        var random = Seeded(state: seed)
        for profile in SRTPProfile.allCases {
            let sender = try Sender(material(profile))
            let receiver = try Receiver(material(profile))
            for _ in 0..<20_000 {
                var noise = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if !noise.isEmpty { noise[0] = 0x80 | noise[0] & 0x3F }
                #expect(receiver.refusal(noise) != nil)
                #expect(throws: SRTPError.self) { try receiver.rtcp(noise) }
            }
            #expect(try receiver.rtp(sender.rtp(packet(sequence: 1))) == packet(sequence: 1))
        }
    }

    @Test func anotherKeyOpensNothing() throws {
        let sender = try Sender(material(.aeadAes128Gcm, seed: 1))
        let receiver = try Receiver(material(.aeadAes128Gcm, seed: 2))
        let secured = try sender.rtp(packet(sequence: 1))
        #expect(receiver.refusal(secured) == .authentication)
    }

    @Test func severalSourcesShareAContext() throws {
        let sender = try Sender(material(.aeadAes128Gcm))
        let receiver = try Receiver(material(.aeadAes128Gcm))
        for ssrc in UInt32(1)...20 {
            let plain = packet(sequence: 9, ssrc: ssrc)
            #expect(try receiver.rtp(sender.rtp(plain)) == plain)
        }
    }

    @Test func aBufferWithoutRoomIsRefusedBeforeAnythingIsWritten() throws {
        var sender = try SRTPSender(material(.aes128CmHmacSha1))
        var buffer = packet(sequence: 1) + [UInt8](repeating: 0, count: 9)
        let before = buffer
        var span = buffer.mutableSpan
        do throws(SRTPError) {
            _ = try sender.protectRTP(&span, length: before.count - 9)
            Issue.record("it fitted")
        } catch { #expect(error.reason == .noRoom) }
        #expect(buffer == before)
    }

    @Test func keysOfTheWrongLengthAreRefusedAndNeverPrinted() throws {
        for profile in SRTPProfile.allCases {
            #expect(throws: SRTPError.self) { try SRTPKeyMaterial(profile: profile, key: [1, 2], salt: []) }
        }
        #expect(try material(.aeadAes128Gcm).description == "SRTPKeyMaterial(aeadAes128Gcm, redacted)")
    }

    @Test func contextsComeAndGoUnderLoad() async throws {
        await withTaskGroup { group in
            for worker in UInt8(0)..<4 {
                group.addTask {
                    for _ in 0..<200 {
                        guard let keys = try? material(.aeadAes128Gcm, seed: worker), let sender = try? Sender(keys),
                            let receiver = try? Receiver(keys)
                        else {
                            Issue.record("no context")
                            return
                        }
                        #expect(throws: Never.self) { try receiver.rtp(sender.rtp(packet(sequence: 1))) }
                    }
                }
            }
        }
    }
}

/// A small generator whose seed can be printed.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
