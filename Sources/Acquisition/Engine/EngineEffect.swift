package import Bluetooth
package import Storage
package import Tap

/// What an ``AcquisitionEngine`` wants to be done. What concerns the database is done in this order, on another thread than
/// the one that stamps arrivals, and answered by an ``EngineEvent``, but for a note.
package enum EngineEffect: Sendable {
    /// Ask the central.
    case request(CentralRequest)
    /// Read the wall clock; answered by ``EngineEvent/clock(_:)`` before anything else.
    case readClock
    /// Read what the operator wishes; without contents where the database's version is still this one.
    case readWishes(unlessVersion: Int64?)
    /// Read what the database has of a recording.
    case loadResumeState(RecordingID)
    /// Keep a batch that is to be committed later where it outlives the process.
    case spool(WriteBatch)
    /// Commit a batch.
    case commit(WriteBatch)
    /// Commit a batch that the database has refused headset by headset.
    case commitByHeadset(WriteBatch)
    /// Make everything that is committed survive a power cut.
    ///
    /// - Parameter rewriting: true after a flush that failed. The kernel reports once that it could not write pages, and then
    ///   takes them for written: to ask again proves nothing, so what is committed is written to another file.
    case flush(rewriting: Bool)
    /// Bring into the database file what its log holds, as far as readers of older snapshots allow; beside what else is asked
    /// for, which a slow disk must not keep from being written.
    case checkpoint
    /// Remove the oldest rows of the history, a bounded number of those from before an instant in UTC nanoseconds since 1970.
    case trimHistory(before: Int64)
    /// Write what time has made due: a recording that ends or begins by itself.
    case decide(TimedDecision)
    /// Read what people and other programs have marked since; answered by ``EngineEvent/marks(_:)``.
    ///
    /// - Parameter after: the key of the latest annotation that is known; nil for only that.
    case readMarks(after: Int64?)
    /// Say something to every reader of the tap.
    case tap([TapMessage])
    /// Greet one reader of the tap, which gets all that is said from then on.
    case greetReader(TapQueue.ReaderID, [TapMessage])
    /// Note beside the database that rows wait which it does not take, or that all are written.
    case noteUnstored(Bool)
    /// Report to whoever logs.
    case report(AcquisitionReport)
    /// Show the service manager that the process is alive.
    case beat
    /// Nothing more is to be done: the process ends, by an error where there is one.
    case finished(StorageError?)
}
