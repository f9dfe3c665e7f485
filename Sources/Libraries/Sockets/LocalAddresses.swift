internal import CLinux

/// The addresses of this host.
public enum LocalAddresses {
    /// Every IPv4 and IPv6 address of an interface that is up, loopback included, link-local ones left out; each once, as text.
    public static func all() -> [String] {
        let found = Found()
        let data = Unmanaged.passUnretained(found).toOpaque()
        let code = shim_each_local_address(
            { address, data in
                guard let address, let data else { return }
                Unmanaged<Found>.fromOpaque(data).takeUnretainedValue().take(address.pointee)
            }, data)
        return code == 0 && !found.hosts.isEmpty ? found.hosts : ["127.0.0.1"]
    }

    private final class Found {
        var hosts: [String] = []

        func take(_ address: shim_address) {
            let host = SocketAddress(flat: address).host
            if !hosts.contains(host) { hosts.append(host) }
        }
    }
}
