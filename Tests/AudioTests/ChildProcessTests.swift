import GatewayTesting
import Testing

@Suite struct ChildProcessTests {
    @Test func linesComeFromBothStreamsAndTheStatusIsTold() async throws {
        let child = try ChildProcess.start("sh", arguments: ["-c", "echo one; echo two >&2; printf three; exit 7"])
        #expect(try await child.waitForExit() == .status(7))
        try await child.waitForLine(containing: "three")
        try await child.waitForLine(containing: "two")
        #expect(child.output.sorted() == ["one", "three", "two"])
        await #expect(throws: ChildError.self) { try await child.waitForLine(containing: "four", timeout: .seconds(20)) }
    }

    @Test func pipesOnChosenDescriptorsCarryMessages() async throws {
        let pipes = [ChildPipe(3, .toChild), ChildPipe(4, .fromChild)]
        let reply = try await ChildProcess.running("sh", arguments: ["-c", "cat <&3 >&4"], pipes: pipes) { child in
            try child.write(Array("hello\u{0}world\u{0}".utf8), to: 3)
            child.closeInput(3)
            var texts: [String] = []
            for await message in child.messages(from: 4) { texts.append(String(decoding: message, as: UTF8.self)) }
            return texts
        }
        #expect(reply == ["hello", "world"])
    }

    @Test func theEnvironmentIsAddedTo() async throws {
        let child = try ChildProcess.start(
            "sh", arguments: ["-c", "echo $GREETING"], environment: ["GREETING": "good day"])
        try await child.waitForLine(containing: "good day")
    }

    @Test func aChildThatIgnoresTheRequestIsKilledWithItsChildren() async throws {
        let child = try ChildProcess.start(
            "sh", arguments: ["-c", "trap '' TERM; sleep 600 & echo ready; while :; do sleep 1; done"])
        try await child.waitForLine(containing: "ready")
        #expect(child.exit == nil)
        #expect(await child.terminate(grace: .milliseconds(100)) == .signal(9))
    }

    @Test func aProgramThatDoesNotExistIsAnError() {
        #expect(throws: ChildError.self) { try ChildProcess.start("/no/such/program") }
        #expect(throws: ChildError.noPipe(0)) { try ChildProcess.start("true").write([1]) }
    }

    @Test func freePortsAreFreeAndDifferent() throws {
        #expect(Set(FreePort.next(.udp, count: 20)).count == 20)
        #expect(FreePort.next(.tcp) != nil)
        #expect(try #require(FreePort.nextPair()) % 2 == 0)
    }

    @Test func aConditionIsWaitedForAndGivenUpInTime() async {
        let clock = ManualClock()
        #expect(await eventually { clock.advance(milliseconds: 1) >= 3_000_000 })
        #expect(!(await eventually(timeout: .milliseconds(20)) { false }))
    }
}
