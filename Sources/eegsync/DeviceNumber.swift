import Glibc

/// A device as Linux numbers it.
struct DeviceNumber: Hashable {
    let major: UInt64
    let minor: UInt64

    /// True where no hardware is behind it: of btrfs, overlayfs, tmpfs and file systems of the network.
    var isAnonymous: Bool { major == 0 }

    /// Of a number as stat(2) says it, in Linux's encoding (makedev(3)).
    init(_ device: dev_t) {
        let device = UInt64(device)
        major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
        minor = device & 0xFF | (device >> 12) & ~0xFF
    }

    /// Of `fd:00`, in hexadecimal digits, as proc_locks(5) has it; nil for what is none.
    init?(hexadecimal text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let major = UInt64(parts[0], radix: 16), let minor = UInt64(parts[1], radix: 16) else {
            return nil
        }
        (self.major, self.minor) = (major, minor)
    }
}
