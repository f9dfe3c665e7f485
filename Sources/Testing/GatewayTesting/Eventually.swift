/// Asks again and again until a condition holds or the time is up. For conditions that nothing announces.
///
/// - Returns: whether it held in time.
public func eventually(
    timeout: Duration = .seconds(5), every interval: Duration = .milliseconds(10),
    isolation: isolated (any Actor)? = #isolation, _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let clock = ContinuousClock()
    let deadline = clock.now + timeout
    while true {
        if try await condition() { return true }
        guard clock.now < deadline, !Task.isCancelled else { return false }
        try? await Task.sleep(for: interval)
    }
}
