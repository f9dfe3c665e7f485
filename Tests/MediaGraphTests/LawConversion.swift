import Audio

enum G711 {
    static func aLaw(fromMu code: UInt8) -> UInt8 { G711Law.a.encode(G711Law.mu.decode(code)) }
}
