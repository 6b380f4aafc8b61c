import Glibc

/// The kernel's radio switches (rfkill), read from sysfs; any user may.
package enum RadioSwitch {
    /// True where the radio of an adapter such as `hci0` is blocked, by a person (soft) or a physical switch (hard).
    ///
    /// An adapter has one switch; it is the folder `rfkillN` below the adapter's
    /// (Documentation/ABI/stable/sysfs-class-rfkill).
    package static func isBlocked(adapter: String) -> Bool {
        guard let number = Self.number(of: adapter) else { return false }
        let folder = "/sys/class/bluetooth/\(adapter)/rfkill\(number)"
        return isSet("\(folder)/soft") || isSet("\(folder)/hard")
    }

    /// The number of an adapter's switch, under which its changes are reported; nil where there is none.
    package static func number(of adapter: String) -> UInt32? {
        guard let directory = opendir("/sys/class/bluetooth/\(adapter)") else { return nil }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("rfkill"), let number = UInt32(name.dropFirst("rfkill".count)) { return number }
        }
        return nil
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
