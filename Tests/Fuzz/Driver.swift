// Not a part of the package: Tests/Fuzz/run builds this with one room's FuzzTargets.swift under libFuzzer.

/// libFuzzer's way in.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    // The first byte chooses the parser, so that one corpus serves all.
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let choice = bytes.first else { return 0 }
    FuzzTarget.allCases[Int(choice) % FuzzTarget.allCases.count].run(Array(bytes.dropFirst()))
    return 0
}
