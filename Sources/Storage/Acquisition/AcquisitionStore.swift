package import Bluetooth
import Foundation
import GRDB
import Glibc

/// The database of the process that acquires: it alone writes what is recorded.
package struct AcquisitionStore: Store {
    package let hostBoot: HostBoot
    /// The row of ``hostBoot``.
    let hostBootID: Int64
    package var presentBoot: Int64? { hostBootID }
    package let database: OpenDatabase
    let openBlocks = OpenBlocks()
    /// Where batches wait for their transaction; nil where none do.
    let spool: BatchSpool?
    /// Says whether somebody reads along; nil for a database in memory.
    let followers: FollowerFile?
    /// Triggers of others, which were removed from the database before anything was written.
    package var removedTriggers: [ForeignTrigger] { database.removedTriggers }
    /// What an earlier process had left in its spool; nil for nothing.
    package private(set) var recoveredSpool: RecoveredSpool?
    /// Why there is no spool although one was wanted; nil where that is not so.
    package private(set) var spoolProblem: StorageError?

    /// True where batches may wait for their transaction in a spool.
    package var hasSpool: Bool { spool != nil }

    /// Opens a database file, and takes the ``AcquisitionLock`` for as long as it is open. Creates the file where there is
    /// none, and brings its schema up to date.
    ///
    /// - Parameters:
    ///   - path: the file; its directory must exist.
    ///   - hostBoot: the boot that instants given to this store belong to.
    ///   - options: durability and limits.
    ///   - reserve: what of the disk is not filled.
    ///   - progress: hears that a change of the schema makes progress, which may take minutes.
    /// - Throws: `inUse`, `directoryMissing`, `cannotOpen`, `newerSchema`, `corrupt`, `readOnly`, `diskFull`, `busy`. A file
    ///   that is refused was not changed.
    package init(
        path: String, hostBoot: HostBoot, options: StoreOptions = StoreOptions(), reserve: DiskReserve = DiskReserve(),
        progress: SchemaProgress? = nil
    ) throws(StorageError) {
        let opening = DatabaseOpening(path: path, options: options, progress: progress, reserve: reserve)
        let database = try opening.openForWriting(isAcquiring: true)
        do {
            try self.init(database, hostBoot: hostBoot, spool: options.spoolPath.map(BatchSpool.init(path:)))
        } catch {
            guard case .spool = error else { throw error }
            try self.init(database, hostBoot: hostBoot, spool: nil)
            spoolProblem = error
        }
        try? keepAccountOfSnapshots()
    }

    init(_ database: OpenDatabase, hostBoot: HostBoot, spool: BatchSpool? = nil) throws(StorageError) {
        self.database = database
        self.hostBoot = hostBoot
        self.spool = spool
        followers = database.path.flatMap(FollowerFile.init(database:))
        hostBootID = try database.insertedRow(of: hostBoot)
        recoveredSpool = try beginSpool(spool)
    }

    /// A new database in memory, for simulations and tests.
    package static func inMemory(
        hostBoot: HostBoot, options: StoreOptions = StoreOptions(), spool: BatchSpool? = nil, reserve: DiskReserve? = nil
    ) throws(StorageError) -> AcquisitionStore {
        let database = try DatabaseOpening(path: ":memory:", options: options, reserve: reserve).openInMemory()
        return try AcquisitionStore(database, hostBoot: hostBoot, spool: spool)
    }

    /// A second store on the same open database under another host boot, or the same one: what a reboot of the host, or the
    /// next process, looks like to the database, what waits in the spool included. The database stays open while either exists.
    package func reopened(hostBoot: HostBoot) throws(StorageError) -> AcquisitionStore {
        try AcquisitionStore(database, hostBoot: hostBoot, spool: spool)
    }

    /// What the operator wants, for a process that is both: a rehearsal, a replay, a command that connects by itself.
    package var control: ControlStore { ControlStore(database: database, hostBoot: hostBoot, hostBootID: hostBootID) }

    /// The first stream key that no stream has yet.
    package func nextStreamID() throws(StorageError) -> Int64 {
        try database.read(ResumeState.nextStreamID)
    }

    /// What the acquisition must know to go on with a recording, from one consistent snapshot.
    ///
    /// - Throws: ``StorageError/notFound(what:)`` where there is no such recording.
    package func resumeState(of recording: RecordingID) throws(StorageError) -> ResumeState {
        try database.read { db in
            try Self.requireRecording(recording, in: db)
            return try ResumeState.read(recording, hostBoot: hostBootID, in: db)
        }
    }

    /// Makes everything committed so far survive a power cut, which `synchronous=NORMAL` alone does only at checkpoints.
    ///
    /// - Throws: ``StorageError`` where the disk refuses.
    package func synchronise() throws(StorageError) {
        // What has no name any more is gone with a power cut whatever is done.
        guard let path, database.file?.isLeft != true else { return }
        let file = Glibc.open(path + "-wal", O_RDONLY | O_CLOEXEC)
        // Without a WAL everything is in the database, which a checkpoint has synchronised.
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        // The log keeps its size, and is written over again and again: its times need not be written with it, which would cost
        // a card a commit of the file system's journal.
        guard fdatasync(file) == 0 else {
            let reason = String(cString: strerror(errno))
            throw errno == ENOSPC ? .diskFull(detail: reason) : .sqlite(code: 10, detail: "fsync of \(path)-wal: \(reason)")
        }
        openBlocks.witness(beside: path)
    }

    /// The process ends: what waits for another program that holds the lock waits until `time`, and for a moment afterwards.
    package func endWaits(by time: MonotonicTime) { database.lockWait?.end(by: time) }

    /// Makes everything committed so far survive a power cut by writing it into the database itself: after ``synchronise()``
    /// failed, the WAL's pages on the disk are not known any more, but the cache has them.
    ///
    /// - Throws: ``StorageError``; `busy` where a reader of an older snapshot keeps pages in the WAL.
    package func checkpoint() throws(StorageError) {
        try database.checkpoint()
        if let path, database.file?.isLeft != true { openBlocks.witness(beside: path) }
    }

    /// Writes what the WAL holds into the database file, on a connection of its own: commits go on meanwhile.
    ///
    /// - Throws: ``StorageError``, such as `busy` where somebody else does the same just now.
    package func checkpointBeside() throws(StorageError) {
        // By a path that leads nowhere a database would be made.
        guard let path, finding(at: path) ?? .same == .same else { return }
        do {
            let queue = try DatabaseQueue(path: path)
            _ = try queue.inDatabase { db in try db.checkpoint(.passive) }
            try queue.close()
        } catch {
            throw StorageError(error, path: path)
        }
    }

    // What outlives a process that could not write: a file beside the database, empty, so that a full disk has room for it.
    private var marker: String? { path.map { $0 + "-unstored" } }

    /// True where an earlier process ended, in whatever way, while a batch of its rows could not be written.
    package var hasUnstored: Bool { marker.map { FileManager.default.fileExists(atPath: $0) } ?? false }

    /// Notes that rows wait which the database does not take, or that all are written. Best effort: a medium that takes no
    /// file either keeps no note.
    package func noteUnstored(_ isUnstored: Bool) {
        guard let marker else { return }
        if isUnstored {
            let file = Glibc.open(marker, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
            if file >= 0 { Glibc.close(file) }
        } else {
            guard unlink(marker) == 0 else { return }
        }
        // The entry itself must survive a power cut.
        let directory = Glibc.open(URL(fileURLWithPath: marker).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        Glibc.close(directory)
    }
}
