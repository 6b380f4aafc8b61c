import Bluetooth
import Foundation
import Storage

/// What the kernel has counted of a disk since the machine booted (Documentation/admin-guide/iostats.rst of Linux): of the
/// whole disk and all programs, for that is what wears.
struct DiskWrites: Hashable {
    /// The kernel's name, such as `mmcblk0`.
    var disk: String
    var writtenBytes: Int64
    /// Flushes of the disk's cache; nil where the kernel does not count them (before 5.5).
    var flushes: Int64?
    /// The size of the disk, in bytes; nil where the kernel does not say.
    var sizeBytes: Int64?
    /// True for an SD card or built-in flash of that kind.
    var isCard: Bool

    /// Nil where the file lies on no block device that can be seen.
    init?(path: String, files: SystemFiles) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let medium = MediumInspection(files: files).medium(of: directory)
        guard let disk = medium.disk else { return nil }
        self.init(disk: disk, isCard: medium.kind != .disk, files: files)
    }

    init?(disk: String, isCard: Bool, files: SystemFiles) {
        // Sectors of 512 bytes, whatever the disk's own; flushes are the sixteenth number.
        let counts = (files.text("/sys/block/\(disk)/stat") ?? "").split(whereSeparator: \.isWhitespace).map { Int64($0) }
        guard counts.count > 6, let sectors = counts[6] else { return nil }
        self.disk = disk
        self.isCard = isCard
        writtenBytes = sectors &* 512
        flushes = counts.count > 15 ? counts[15] : nil
        sizeBytes = files.text("/sys/block/\(disk)/size").flatMap { Int64($0) }.map { $0 &* 512 }
    }

    /// What is kept of it when a process begins to acquire.
    func record(at time: MonotonicTime) -> DiskStart {
        DiskStart(disk: disk, time: time, writtenBytes: writtenBytes, flushes: flushes)
    }
}
