import Foundation
import MediaGraph

/// Nanoseconds of CPU per bridge per 20 ms.
struct AudioPathResult {
    let options: Options
    var bridge = 0.0
    var codecs = 0.0
    var srtp = 0.0
    var allocationsPerPacket = 0.0
    var heard = 0

    init(options: Options) { self.options = options }

    private var floor: Double { codecs + (options.isPlain ? 0 : srtp) }
    private func microseconds(_ value: Double) -> String { String(format: "%.2f", value / 1000) }

    var table: String {
        """
        audio-path: \(options.bridges) bridges, \(options.seconds) s, resampler \(options.resampler.rawValue), \
        \(options.isPlain ? "plain" : "AEAD_AES_128_GCM") client leg
        | what | us per bridge per 20 ms |
        | --- | --- |
        | bare codec calls | \(microseconds(codecs)) |
        | bare SRTP calls | \(microseconds(srtp)) |
        | bridge, both ways | \(microseconds(bridge)) |
        | bridge over floor | \(String(format: "%.3f", bridge / floor)) |
        | allocations per packet | \(String(format: "%.4f", allocationsPerPacket)) |
        """
    }

    var json: String {
        """
        {"benchmark":"audio-path","bridges":\(options.bridges),"seconds":\(options.seconds),\
        "resampler":"\(options.resampler.rawValue)","plain":\(options.isPlain),"codecsMicroseconds":\(microseconds(codecs)),\
        "srtpMicroseconds":\(microseconds(srtp)),"bridgeMicroseconds":\(microseconds(bridge)),\
        "ratio":\(String(format: "%.4f", bridge / floor)),\
        "allocationsPerPacket":\(String(format: "%.4f", allocationsPerPacket)),"packetsOut":\(heard)}
        """
    }
}
