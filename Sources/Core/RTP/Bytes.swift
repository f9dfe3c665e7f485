// Network byte order, read and written in place. Callers check the bounds first; a slip still stops at the span's own check.

extension Span where Element == UInt8 {
    @inline(__always) func uint16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    @inline(__always) func uint32(at offset: Int) -> UInt32 {
        UInt32(uint16(at: offset)) << 16 | UInt32(uint16(at: offset + 2))
    }
}

extension MutableSpan where Element == UInt8 {
    @inline(__always) mutating func write(_ value: UInt16, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: value >> 8)
        self[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    @inline(__always) mutating func write(_ value: UInt32, at offset: Int) {
        write(UInt16(truncatingIfNeeded: value >> 16), at: offset)
        write(UInt16(truncatingIfNeeded: value), at: offset + 2)
    }
}
