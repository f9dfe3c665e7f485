internal import CLinux

/// How many descriptors the process may hold. Debian lets a process begin with 1 024, which some hundred calls use up, and lets
/// it raise that by itself.
public enum DescriptorLimit {
    /// Raises the limit as far as the system allows, to `wanted` at most.
    ///
    /// - Returns: the limit that holds now.
    /// - Throws: the kernel's refusal; the old limit holds then.
    @discardableResult
    public static func raise(to wanted: Int = 1 << 20) throws(SocketError) -> Int {
        let limit = shim_raise_descriptor_limit(Int64(wanted))
        guard limit >= 0 else { throw SocketError(.descriptorLimit, code: Int32(truncatingIfNeeded: -limit)) }
        return Int(limit)
    }
}
