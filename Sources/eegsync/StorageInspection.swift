import Bluetooth
import Foundation
import Glibc
import Storage

/// Judges by what is committed whether the acquiring process stores what it should. Only looks: the database is read, nothing
/// is locked.
struct StorageInspection {
    let process: DaemonProcess
    let now: MonotonicTime
    /// The longest age of the newest committed row of a headset that streams: two commits, and five seconds in which a slow
    /// card may write one.
    let patienceSeconds: Double
    /// When the process has put something into its spool last; nil where it has none, or this user may not see it.
    private let spooled: MonotonicTime?
    /// The longest time between two batches of a process that has a spool and a headset that streams: two of them, and five
    /// seconds in which a machine that is short of memory writes one.
    static let spoolPatienceSeconds = 2 * Configuration.Limits.spoolInterval.inSeconds + 5
    /// How often a process that has nothing else to write notes that it is alive, and as long again.
    private static let alivePatienceSeconds = 120.0

    /// - Parameters:
    ///   - commitInterval: as the configuration has it; nil where that is not known.
    ///   - spooled: when the process has put something into its spool last.
    init(process: DaemonProcess, now: MonotonicTime, commitInterval: Duration?, spooled: MonotonicTime? = nil) {
        self.process = process
        self.now = now
        self.spooled = spooled
        patienceSeconds = 2 * (commitInterval ?? Configuration.Limits().commitInterval).inSeconds + 5
    }

    /// Nil where all is well, as far as can be seen.
    func situation(_ store: some Store, _ activities: [HeadsetActivity]) throws -> StorageSituation? {
        guard let path = store.path else { return nil }
        var facts = StorageFacts(process: process)
        facts.hasUnstored = FileManager.default.fileExists(atPath: path + "-unstored")
        facts.isGone = LostDatabase.failure(at: path) != nil
        facts.isElsewhere = LostDatabase.isElsewhere(process.pid, database: path)
        facts.isOverdue = isOverdue(activities, lastProcess: try store.lastProcess())
        guard facts.isGone || facts.isElsewhere || facts.hasUnstored || facts.isOverdue || process.isStopped else { return nil }
        var system = statvfs()
        facts.isReadOnly = statvfs(path, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
        let room = DiskRoom(of: path)
        (facts.freeBytes, facts.reservedBytes) = (room?.freeBytes, room?.reserve ?? 0)
        facts.lockHolders =
            WriteAheadLogInspection(files: SystemFiles(), others: [getpid(), process.pid]).writers(of: path)
        return StorageSituation(facts)
    }

    /// The age of the newest row of a headset that was streaming when something was committed last; nil where it was not.
    func newestRowSeconds(of activity: HeadsetActivity) -> Double? {
        guard activity.isWanted, activity.state == "streaming" else { return nil }
        let rows = activity.streams.compactMap(\.lastSample).filter(\.isSameHostBoot).map(\.time)
        guard let entered = activity.stateEntered, entered.isSameHostBoot else { return nil }
        // A headset that has just come has no row yet, nor has a process that has just begun.
        let latest = (rows + [entered.time, process.started].compactMap { $0 }).max() ?? entered.time
        return (now - latest).inSeconds
    }

    /// True where one streams of which nothing was committed of late, or where not even the spool has got anything.
    func isLate(_ activity: HeadsetActivity) -> Bool {
        guard let seconds = newestRowSeconds(of: activity) else { return false }
        return seconds > patienceSeconds || seconds > Self.spoolPatienceSeconds && isSpoolSilent
    }

    /// True where there is a spool that has got nothing of late. A process that has just begun has put nothing there yet.
    private var isSpoolSilent: Bool {
        guard let spooled else { return false }
        let latest = max(spooled, process.started ?? spooled)
        return (now - latest).inSeconds > Self.spoolPatienceSeconds
    }

    /// True where nothing was committed that should have been: by whatever streams, by a process that has started, or by one
    /// that should have noted that it is alive.
    func isOverdue(_ activities: [HeadsetActivity], lastProcess: ProcessActivity?) -> Bool {
        guard activities.contains(where: \.isWanted) else { return false }
        let streaming = activities.filter { newestRowSeconds(of: $0) != nil }
        if !streaming.isEmpty { return streaming.allSatisfy(isLate) }
        guard let started = process.started else { return false }
        // Its first transaction says that it has started. Clock ticks are hundredths of a second.
        guard let lastProcess, lastProcess.started.isSameHostBoot, lastProcess.started.time > started - .milliseconds(50) else {
            return (now - started).inSeconds > patienceSeconds
        }
        return (now - lastProcess.lastSign.time).inSeconds > Self.alivePatienceSeconds
    }
}
