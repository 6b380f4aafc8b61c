import Storage

/// How much of a disk exports of the page leave free: a click must not bring a recording near the end of its disk, at which it
/// stores nothing more.
///
/// Beside what is always kept free that is a tenth of the disk, at least 1 GB, which is what a headset of eight channels with
/// 24 bits records in a day, and at most 10 GB. Who needs more writes to another disk with `eegsync export`.
struct ExportRoom: Sendable {
    private static let marginMinimum: Int64 = 1_000_000_000
    private static let marginMaximum: Int64 = 10_000_000_000

    /// The room of a path's file system; the kernel's own answer but in tests.
    var measure: @Sendable (_ path: String) -> DiskRoom? = { DiskRoom(of: $0) }

    /// Where the room is not known nothing is refused.
    ///
    /// - Parameters:
    ///   - bytes: about how much is written.
    ///   - path: a directory of the disk that it is written to.
    /// - Throws: ``Failure`` where that would leave too little.
    func require(_ bytes: Int64, at path: String) throws(Failure) {
        guard let room = measure(path) else { return }
        let margin = min(max(room.totalBytes / 10, Self.marginMinimum), Self.marginMaximum)
        guard room.usableBytes - margin < bytes else { return }
        func megabytes(_ bytes: Int64) -> String { "\(bytes / 1_000_000) MB" }
        throw Failure(
            problem: "the file may take \(megabytes(bytes)), \(megabytes(room.freeBytes)) of the disk are free, and the page "
                + "leaves the last \(megabytes(room.reserve + margin)) to the recording; `eegsync export` writes elsewhere.",
            consequence: "nothing is exported.", remedy: "make room, or write to another disk with eegsync export.",
            code: .ioError)
    }
}
