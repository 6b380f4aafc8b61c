import Foundation
import Glibc
import Storage

extension DatabaseOptions {
    /// Opens an existing database for a command beside which nobody may record.
    ///
    /// - Throws: ``Failure`` where it is not there, `StorageError.inUse` while somebody records.
    func openForMaintenance() throws -> AcquisitionStore {
        let path = try databasePath()
        _ = try openReadOnly()
        return try AcquisitionStore(path: path, hostBoot: try HostBoot.current())
    }
}

/// What the commands have in common by which recordings go.
struct Housekeeping {
    let path: String
    /// Between two transactions: a process that acquires waits for one at most, and then has the database.
    private static let pauseMicroseconds: UInt32 = 10_000

    /// The store that deletes: one that acquires, where a recording was stopped and nobody is there to end it.
    ///
    /// - Throws: ``Failure`` where a process acquires into another file than the one at the path; `StorageError`, of which
    ///   `inUse` is none: then the process that acquires ends the recording.
    func control(for recordings: [RecordingID]) throws -> ControlStore {
        if let failure = LostDatabase.failure(at: path) ?? LostDatabase.replacement(at: path) { throw failure }
        let boot = try HostBoot.current()
        let control = try ControlStore(path: path, hostBoot: boot)
        try control.noteClockOffset(HostClock.offset())
        let open = try control.openRecordings().map(\.recording)
        guard recordings.contains(where: open.contains), DaemonPresence.pid(database: path) == nil else { return control }
        do throws(StorageError) {
            return try AcquisitionStore(path: path, hostBoot: boot).control
        } catch {
            guard case .inUse = error else { throw error }
            return control
        }
    }

    /// How a recording is called in a question.
    static func words(for recording: RecordingSummary) -> String {
        let begun = recording.startUnixNanoseconds.map { ", begun \(Quantity.time(unixNanoseconds: $0)) UTC" } ?? ""
        let label = recording.label.map { " \"\($0.printable)\"" } ?? ""
        return "recording \(recording.id)\(label) of \(recording.headset) (\(Quantity.count(recording.rows, "row"))\(begun))"
    }
}

extension ControlStore {
    /// Deletes a recording, with a bar on a terminal.
    ///
    /// - Parameter onlyHeldElsewhere: true where it stays unless somebody else has all of it.
    /// - Returns: false where it stays.
    @discardableResult
    func delete(
        _ recording: RecordingID, means: Deletion.Means, onlyHeldElsewhere: Bool = false, _ housekeeping: Housekeeping
    ) throws(StorageError) -> Bool {
        var bar = ProgressBar(label: "deleting \(recording.rawValue)")
        defer { bar.finish() }
        return try delete(
            recording, means: means, by: Requester.name(), at: HostClock.now, onlyHeldElsewhere: onlyHeldElsewhere,
            pause: housekeeping.pause
        ) { done, total in bar.update(done: done, total: total) }
    }
}

extension Housekeeping {
    /// Lets others write.
    func pause() { usleep(Self.pauseMicroseconds) }
}
