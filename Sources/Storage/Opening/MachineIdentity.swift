import Evidence
import Foundation

/// What distinguishes this machine from others, as digests that may leave it.
package struct MachineIdentity: Hashable, Sendable {
    /// Of the board's serial number, which no copy of a card takes along; nil where the firmware says none, as on most PCs.
    package let board: String?
    /// Of /etc/machine-id, which a copy of a card has, too; nil where there is none.
    package let installation: String?

    /// Names a machine; nil where nothing is known of it.
    ///
    /// - Parameters:
    ///   - boardSerialNumber: as the firmware says it, such as `10000000d0a1b2c3`.
    ///   - machineID: as machine-id(5) has it.
    package init?(boardSerialNumber: String?, machineID: String?) {
        board = boardSerialNumber.flatMap { MachineDigest(boardSerialNumber: $0)?.text }
        installation = machineID.flatMap { MachineDigest(machineID: $0)?.text }
        if board == nil, installation == nil { return nil }
    }

    /// The machine that this process runs on; nil where it says nothing of itself.
    ///
    /// - Parameter root: what stands before the paths; empty for this machine.
    package static func current(root: String = "") -> MachineIdentity? {
        func text(_ path: String) -> String? {
            guard let data = FileManager.default.contents(atPath: root + path) else { return nil }
            // The device tree ends its texts with a zero byte.
            let text = String(decoding: data.prefix { $0 != 0 }, as: UTF8.self)
            return text.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return MachineIdentity(
            boardSerialNumber: text("/proc/device-tree/serial-number"), machineID: text("/etc/machine-id"))
    }
}
