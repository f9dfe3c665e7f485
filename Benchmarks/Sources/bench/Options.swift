import MediaGraph

struct Options {
    var command = ""
    var bridges = 50
    var seconds = 20
    var resampler = ResamplerUse.whenNeeded
    var isPlain = false
    var speech = "/usr/share/asterisk/sounds/en_US_f_Allison/demo-congrats.wav"
    var printsJSON = false
    /// Allocations to show the origin of, after the warm-up.
    var traces = 0

    init(_ arguments: [String]) {
        var rest = arguments[...]
        command = rest.popFirst() ?? ""
        while let name = rest.popFirst() {
            switch name {
            case "--bridges": bridges = rest.popFirst().flatMap { Int($0) } ?? bridges
            case "--seconds": seconds = rest.popFirst().flatMap { Int($0) } ?? seconds
            case "--resampler": resampler = rest.popFirst().flatMap { ResamplerUse(rawValue: $0) } ?? resampler
            case "--plain": isPlain = true
            case "--speech": speech = rest.popFirst() ?? speech
            case "--trace-allocations": traces = rest.popFirst().flatMap { Int($0) } ?? traces
            case "--json": printsJSON = true
            default: break
            }
        }
    }
}
