import Audio
import GatewayTesting
import MediaGraph
import MediaRuntime
import SRTP
import Sockets
import Testing

@Suite(.serialized) struct LoopbackCallTests {
    static func keys() throws -> (SRTPKeys, SRTPKeys) {
        let one = try SRTPKeyMaterial(
            profile: .aeadAes128Gcm, key: (0..<16).map { UInt8($0) }, salt: (0..<12).map { UInt8($0) })
        let other = try SRTPKeyMaterial(
            profile: .aeadAes128Gcm, key: (50..<66).map { UInt8($0) }, salt: (50..<62).map { UInt8($0) })
        return (SRTPKeys(send: one, receive: other), SRTPKeys(send: other, receive: one))
    }

    static func socket() throws -> UDPSocket { try UDPSocket(boundTo: SocketAddress(127, 0, 0, 1, port: 0)) }

    @Test func aCallOverRealSocketsIsHeardBothWaysAndEndsCleanly() async throws {
        let pool = try LanePool(count: 2)
        let (clientKeys, bridgeKeys) = try Self.keys()
        let clientSocket = try Self.socket()
        let bridgeClientSocket = try Self.socket()
        let bridgeTrunkSocket = try Self.socket()
        let bridgeReportSocket = try Self.socket()
        let phoneSocket = try Self.socket()
        let news = Collected<BridgeHostEvent>()
        let phoneNews = Collected<EndpointHostEvent>()

        let host = try BridgeHost(lane: pool.pick(), configuration: BridgeConfiguration()) { news.append($0) }
        host.openClient(.opus(), keys: bridgeKeys, socket: bridgeClientSocket, remote: clientSocket.localAddress)
        host.setTrunkSockets(rtp: bridgeTrunkSocket, rtcp: bridgeReportSocket)
        host.setTrunk(.g711(), remote: phoneSocket.localAddress)
        let phone = try EndpointHost(
            lane: pool.lanes[1], configuration: EndpointConfiguration(format: .g711(), recordedSeconds: 30),
            source: .tone(ToneGenerator(rate: .telephone, frequency: 600, level: -12)), socket: phoneSocket,
            remote: bridgeTrunkSocket.localAddress
        ) { phoneNews.append($0) }
        let client = try EndpointHost(
            lane: pool.lanes[0],
            configuration: EndpointConfiguration(format: .opus(), keys: clientKeys, recordedSeconds: 30),
            source: .tone(ToneGenerator(rate: .telephone, frequency: 1000, level: -12)), socket: clientSocket,
            remote: bridgeClientSocket.localAddress
        ) { _ in }

        let isHeard = await eventually(timeout: .seconds(10)) {
            abs(phone.statistics.leg.receivedLevel + 12) < 2 && abs(client.statistics.leg.receivedLevel + 12) < 2
        }
        #expect(isHeard)
        client.sendKeys("42")
        host.sendKeys("9")
        let hasKeys = await eventually(timeout: .seconds(10)) {
            phoneNews.all.count { if case .endpoint(.key) = $0 { true } else { false } } == 3
        }
        #expect(hasKeys)
        #expect(news.all.contains(.bridge(.mediaStarted(.client))) && news.all.contains(.bridge(.mediaStarted(.trunk))))

        await host.stop()
        await phone.stop()
        await client.stop()
        let countAtEnd = news.all.count
        let statistics = host.statistics
        #expect(statistics.client.srtpFailures == 0 && statistics.client.wrongSource == 0)
        #expect(statistics.client.packetsLost == 0 && statistics.trunk.packetsLost == 0)
        #expect(pool.lanes.allSatisfy { $0.residentCount == 0 })
        host.sendKeys("1")
        await host.stop()
        #expect(news.all.count == countAtEnd)
        print(pool.lanes[0].tickStatistics)
    }

    @Test func residentsComeAndGoWhileMediaRuns() async throws {
        let lane = try Lane(name: "teardown")
        for _ in 0..<200 {
            let one = try Self.socket()
            let other = try Self.socket()
            let phone = try EndpointHost(
                lane: lane, configuration: EndpointConfiguration(format: .g711()), source: .echo, socket: one,
                remote: other.localAddress
            ) { _ in }
            let peer = try EndpointHost(
                lane: lane, configuration: EndpointConfiguration(format: .g711()), source: .silence, socket: other,
                remote: one.localAddress
            ) { _ in }
            phone.stop {}
            peer.stop {}
            if Bool.random() { phone.sendKeys("1") }
        }
        let isEmpty = await eventually(timeout: .seconds(10)) { lane.residentCount == 0 }
        #expect(isEmpty)
    }

    @Test func aRefusedStringOfKeysIsToldInWords() async throws {
        let lane = try Lane(name: "refusal")
        let news = Collected<BridgeHostEvent>()
        let host = try BridgeHost(lane: lane, configuration: BridgeConfiguration()) { news.append($0) }
        host.sendKeys("12x")
        let isTold = await eventually(timeout: .seconds(10)) {
            news.all.contains { if case .keysRefused = $0 { true } else { false } }
        }
        #expect(isTold)
        await host.stop()
    }
}
