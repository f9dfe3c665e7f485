import Sockets
import Testing

@Suite struct DescriptorLimitTests {
    @Test func theLimitIsRaisedAndNeverLowered() throws {
        let raised = try DescriptorLimit.raise()
        #expect(raised >= 1024)
        #expect(try DescriptorLimit.raise(to: 64) == raised)
    }
}
