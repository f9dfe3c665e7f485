import Foundation
import GLibLoop
import GatewayTesting
import Glibc
import Testing
import WCSProtocol
import WebServer

extension Wire {
    /// What remains after many calls, and what happens when somebody dies in the middle of one.
    @Suite("Endurance") @ControlActor struct EnduranceTests {
        @Test("200 short calls leave no thread, descriptor, port or memory behind")
        func leftovers() async throws {
            let trunkPorts = try Loopback.freePorts(900)
            let demoPorts = try Loopback.freePorts(900)
            let gateway = try await GatewayProcess.start(
                [
                    "media": ["trunkPorts": "\(trunkPorts.lowerBound)-\(trunkPorts.upperBound)", "iceTimeoutSeconds": 2],
                    "demo": ["mediaPorts": "\(demoPorts.lowerBound)-\(demoPorts.upperBound)"],
                    "log": ["level": "warning"],
                ], environment: ["MALLOC_ARENA_MAX": "2"])
            let idlePorts = gateway.resources.udpPorts
            // SIP transactions are remembered for 32 s (RFC 3261, timers B, D, J): warm up until as many go as come.
            let warm = ContinuousClock.now + .seconds(35)
            var rounds = 0
            while ContinuousClock.now < warm, rounds < 20 {
                try await shortCalls(48, gateway)
                rounds += 1
            }
            let before = try await settled(gateway, ports: idlePorts)
            try await shortCalls(200, gateway)
            let after = try await settled(gateway, ports: idlePorts, like: before)
            print("warmed up by \(rounds * 48) calls\nbefore 200 calls: \(before)\nafter 200 calls:  \(after)")
            #expect(after.threads <= before.threads)
            #expect(after.descriptors <= before.descriptors)
            #expect(after.udpPorts == idlePorts)
            #expect(after.residentKilobytes < before.residentKilobytes + 3000)
            #expect(await gateway.stop() == .status(0))
        }

        /// Calls of every kind, four clients at a time, one call after another on each.
        private func shortCalls(_ count: Int, _ gateway: GatewayProcess) async throws {
            let workers = (0..<4).map { worker in
                Task { @ControlActor in
                    for number in stride(from: worker, to: count, by: 4) { try await Self.shortCall(number / 4, gateway) }
                }
            }
            for worker in workers { try await worker.value }
        }

        private static func shortCall(_ kind: Int, _ gateway: GatewayProcess) async throws {
            let client = try await ScriptedClient.signIn(gateway)
            defer { client.leave() }
            switch kind % 6 {
            case 0, 1:
                let call = client.call("100", sound: .silence)
                try await call.becomes(.established)
                try await call.hears(packets: 3)
                call.hangUp()
                try await call.becomes(.finish)
            case 2: try await client.call("104", sound: .silence).becomes(.busy)
            case 3:
                let call = client.call("105", sound: .silence)
                try await call.becomes(.ring)
                call.hangUp()
                try await call.becomes(.finish)
            case 4:
                let call = client.call("102", sound: .silence)
                try await call.becomes(.established)
                try await call.hears(packets: 3)
                client.leave()
            default: try await client.call("102", sound: .deaf).becomes(.failed)
            }
            client.leave()
            guard await eventually(timeout: .seconds(5), { client.closure != nil }) else {
                throw PeerFailure("the gateway does not close the socket")
            }
        }

        /// What the gateway holds once everything that belongs to calls is gone.
        private func settled(
            _ gateway: GatewayProcess, ports: [Int], like before: ResourceWatch.Holding? = nil
        ) async throws -> ResourceWatch.Holding {
            var now = gateway.resources.now
            var lastDescriptors = -1
            _ = await eventually(timeout: .seconds(20), every: .milliseconds(250)) {
                now = gateway.resources.now
                defer { lastDescriptors = now.descriptors }
                guard now.udpPorts == ports else { return false }
                if let before { return now.descriptors <= before.descriptors && now.threads <= before.threads }
                return now.descriptors == lastDescriptors
            }
            return now
        }

        @Test("A far end that dies without a BYE ends the call by the media's silence")
        func deadFarEnd() async throws {
            let far = try await SIPp.start("uas-answer", echoes: true)
            let gateway = try await GatewayProcess.start(["media": ["timeoutSeconds": 2]])
            let client = try await ScriptedClient.signIn(gateway, farEnd: far.port)
            let call = client.call("sipp")
            try await call.becomes(.established)
            try await call.hears(packets: 25)
            await far.stop()
            let end = try await call.becomes(.failed, within: .seconds(10))
            #expect(end.info == CallInfo.rtpActivity)
            let again = client.call("sipp")
            _ = try? await again.becomes(.failed, within: .milliseconds(300))
            client.leave()
            #expect(await gateway.stop() == .status(0))
        }

        @Test("A client that is killed in mid-call ends the call at once: the far end gets its BYE")
        func killedClient() async throws {
            let far = try await SIPp.start("uas-answer", echoes: true)
            let gateway = try await GatewayProcess.start()
            let idlePorts = gateway.resources.udpPorts
            let process = try ChildProcess.start(
                GatewayProcess.executable().path,
                arguments: [
                    "call", "--to", "sipp", "--url", "ws://127.0.0.1:\(gateway.ports.web)/", "--login", "alice", "--domain",
                    "127.0.0.1", "--sip-port", String(far.port), "--no-register", "--seconds", "60",
                ])
            try await process.waitForLine(containing: "media started", timeout: .seconds(15))
            process.send(signal: SIGKILL)
            try await far.finish(within: .seconds(5))
            #expect(await eventually { gateway.resources.udpPorts == idlePorts })
            #expect(await gateway.stop() == .status(0))
        }

        @Test("Callers whose gateway is killed in mid-call end by themselves, in good order and with a report")
        func killedGateway() async throws {
            let gateway = try await GatewayProcess.start()
            let callers = try (0..<6).map { _ in
                try ChildProcess.start(
                    GatewayProcess.executable().path,
                    arguments: ["call", "--to", "102", "--url", "ws://127.0.0.1:\(gateway.ports.web)/", "--seconds", "60"])
            }
            for caller in callers { try await caller.waitForLine(containing: "ESTABLISHED", timeout: .seconds(20)) }
            gateway.process.send(signal: SIGKILL)
            for caller in callers {
                #expect(await caller.end(within: .seconds(10)) == .status(0), "\(caller.transcript)")
                #expect(caller.transcript.contains("packets"))
            }
        }

        @Test("SIGTERM during five calls sends BYEs, tells the clients and ends with code 0 within seconds")
        func terminated() async throws {
            let far = try await SIPp.start("uas-answer", calls: 5, atOnce: 5, echoes: true)
            let gateway = try await GatewayProcess.start()
            var clients: [ScriptedClient] = []
            var calls: [ScriptedCall] = []
            for _ in 0..<5 {
                let client = try await ScriptedClient.signIn(gateway, farEnd: far.port)
                clients.append(client)
                calls.append(client.call("sipp", sound: .silence))
            }
            for call in calls {
                try await call.becomes(.established)
                try await call.hears()
            }
            let begun = ContinuousClock.now
            #expect(await gateway.stop(within: .seconds(8)) == .status(0))
            print("SIGTERM with 5 calls: ended after \(ContinuousClock.now - begun)")
            for call in calls { #expect(call.status.isFinal, "\(call.history)") }
            for client in clients { #expect(await eventually { client.closure?.code == 1001 }) }
            try await far.finish(within: .seconds(5))
        }
    }
}
