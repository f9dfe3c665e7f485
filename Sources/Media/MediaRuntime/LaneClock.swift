internal import Dispatch
internal import Foundation
public import MediaGraph

/// The lanes' clock: monotonic nanoseconds. A lane reads it once a tick and hands the instant on.
public enum LaneClock {
    /// Now.
    public static var now: MediaTime {
        MediaTime(nanoseconds: Int64(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds))
    }

    /// Unix time at `MediaTime(nanoseconds: 0)`, in nanoseconds: for `BridgeConfiguration.wallClockOffset`.
    public static var wallClockOffset: Int64 { Int64(Date().timeIntervalSince1970 * 1e9) - now.nanoseconds }
}
