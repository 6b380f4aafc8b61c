import Foundation

/// One boot of the host: what instants on `CLOCK_BOOTTIME` belong to.
package struct HostBoot: Hashable, Sendable {
    /// The kernel's random identifier of the boot.
    package var uuid: String

    /// Names a boot; simulations invent their own.
    package init(uuid: String) {
        self.uuid = uuid
    }

    /// The boot that this process runs in, from `/proc/sys/kernel/random/boot_id` (proc(5)).
    ///
    /// - Throws: ``StorageError/cannotOpen(path:reason:)`` where `/proc` is not mounted.
    package static func current() throws(StorageError) -> HostBoot {
        let path = "/proc/sys/kernel/random/boot_id"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw StorageError.cannotOpen(path: path, reason: "the kernel's boot identifier cannot be read")
        }
        return HostBoot(uuid: text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
