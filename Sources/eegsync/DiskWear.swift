import Bluetooth
import Foundation
import Storage

/// How fast the disk of the database is written to, by all programs together, since `eegsync run` began; and how long a card
/// lives with that.
struct DiskWear: Hashable, Encodable {
    /// The kernel's name of the disk.
    var disk: String
    /// Over how long was counted, in seconds.
    var seconds: Double
    var bytesPerHour: Double
    /// Flushes of the disk's cache; nil where the kernel does not count them.
    var flushesPerHour: Double?
    /// The size of the disk, in bytes; nil where the kernel does not say.
    var diskBytes: Int64?
    /// Years until ``overwrites`` times its size were written; nil for what is no card.
    var years: Double?

    /// How often a card may be written over as a whole. Makers of ordinary cards state none, so this is an assumption: cells of
    /// three bits are given some 1,000 cycles, of which small writes use up two or more for each. Makers of cards for video
    /// state hours of recording in long pieces: 10,000 h at 26 Mbit/s (SanDisk High Endurance, 128 GB), 20,000 h at 13 Mbit/s
    /// (Kingston High Endurance, 128 GB), both 117 TB, 914 times the size.
    static let overwrites = 500.0
    /// Less than this is worth a word.
    static let yearsMinimum = 2.0
    /// A shorter time says nothing of an hour: a checkpoint comes each ten minutes or so.
    static let secondsMinimum = 900.0

    /// Nil while no process runs, where it has not run for long enough, and where the kernel does not say.
    init?(_ store: some Store, isRunning: Bool, files: SystemFiles, now: MonotonicTime) throws {
        guard isRunning, let path = store.path, let start = try store.diskStart(),
            let writes = DiskWrites(path: path, files: files)
        else { return nil }
        self.init(writes, since: start, now: now)
    }

    init?(_ writes: DiskWrites, since start: DiskStart, now: MonotonicTime) {
        let seconds = (now - start.time).inSeconds
        // A disk that was pulled out and put in again counts from zero.
        guard writes.disk == start.disk, writes.writtenBytes >= start.writtenBytes, seconds >= Self.secondsMinimum else {
            return nil
        }
        disk = writes.disk
        self.seconds = seconds
        bytesPerHour = Double(writes.writtenBytes - start.writtenBytes) / seconds * 3600
        if let flushes = writes.flushes, let before = start.flushes, flushes >= before {
            flushesPerHour = Double(flushes - before) / seconds * 3600
        }
        diskBytes = writes.sizeBytes
        if writes.isCard, let size = writes.sizeBytes, bytesPerHour > 0 {
            years = Double(size) * Self.overwrites / bytesPerHour / 8766
        }
    }

    /// One line.
    var sentence: String {
        var text = "\(disk) has been given \(Quantity.bytes(Int64(bytesPerHour))) an hour to write by all programs"
        if let flushesPerHour { text += ", and \(Quantity.count(Int64(flushesPerHour))) flushes" }
        text += ", in the \(Quantity.duration(seconds: seconds)) since eegsync run began"
        guard let years, let diskBytes else { return text }
        let life = years >= 100 ? "more than a century" : String(format: years >= 10 ? "%.0f years" : "%.1f years", years)
        return text + ": \(life) for a card of \(Quantity.bytes(diskBytes)) that bears \(Int(Self.overwrites)) times its size"
    }
}
