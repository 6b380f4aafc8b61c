import Glibc

/// The kernel's radio switches (rfkill), read from sysfs; any user may.
package enum RadioSwitch {
    /// True where the radio of an adapter such as `hci0` is blocked, by a person (soft) or a physical switch (hard).
    ///
    /// An adapter has one switch; it is the folder `rfkillN` below the adapter's
    /// (Documentation/ABI/stable/sysfs-class-rfkill).
    package static func isBlocked(adapter: String) -> Bool {
        let folder = "/sys/class/bluetooth/\(adapter)"
        guard let directory = opendir(folder) else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix("rfkill") else { continue }
            if isSet("\(folder)/\(name)/soft") || isSet("\(folder)/\(name)/hard") { return true }
        }
        return false
    }

    /// True where the file's first byte is `1`.
    private static func isSet(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1 && byte == UInt8(ascii: "1")
    }
}
