package import Bluetooth
package import Storage
package import Tap

/// What happens to an ``AcquisitionEngine``.
package enum EngineEvent: Sendable {
    /// What the central reported since the last time; without events: that time has passed.
    case central([CentralEvent])
    /// The wall clock was read.
    case clock(ClockOffsetRecord)
    /// What the operator wishes, as it stands in the database.
    case wishes(Result<OperatorWishes, StorageError>)
    /// Somebody who shares the process has changed the wishes.
    case wishesChanged
    /// What the database has of a recording that is to begin, or to be ended.
    case resumeState(RecordingID, Result<ResumeState, StorageError>)
    /// What became of a batch that was to be kept in the spool.
    case spooled(UInt64, Result<Void, StorageError>)
    /// What became of a batch that was to be committed; a headset whose part broke a rule of the database is refused.
    case committed(UInt64, Result<[RefusedPart], StorageError>)
    /// Everything that was committed before it was asked for survives a power cut; or why the disk refused.
    case flushed(Result<Void, StorageError>)
    /// What the log held is in the database file, or as much of it as could be.
    case checkpointed
    /// What time had made due is written, or why it is not.
    case decided(TimedDecision, Result<Void, StorageError>)
    /// So many old rows of the history were removed; 0 where none is left, or none could be.
    case trimmed(Int)
    /// What people and other programs have marked.
    case marks(Result<StoredMarks, StorageError>)
    /// A reader of the tap has come.
    case readerJoined(TapQueue.ReaderID, droppedReaders: UInt64)
    /// Nobody reads the tap any more.
    case readersLeft
    /// The configuration was read anew: who is recorded, and a person has removed what was in the way.
    case reloaded(HeadsetLookup)
    /// The process is to end.
    case shutDown
}

/// The headset of a recording, with what a person knows of it; nil where the configuration has none.
package typealias HeadsetLookup = @Sendable (OpenRecording) -> KnownHeadset?
