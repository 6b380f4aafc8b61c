public import Bluetooth
public import Headsets
public import Storage

extension Acquirer {
    /// Makes what is acquired follow the operator's wishes in the database: begins what is wanted, ends what is not.
    ///
    /// - Parameter profile: the profile of a recording's headset; nil where the configuration has none, which leaves the
    ///   recording open and untouched.
    /// - Throws: what reading the database throws; nothing has been begun or ended then that is not wanted so.
    public func reconcile(
        with store: Store, profile: (OpenRecording) -> (any HeadsetProfile)?, at now: MonotonicTime
    ) throws(StorageError) {
        let open = try store.openRecordings()
        for recording in open where recording.isWanted == false && recordings.contains(recording.recording) {
            end(recording.recording, at: now)
        }
        for recording in open where !recordings.contains(recording.recording) {
            guard let profile = profile(recording) else { continue }
            let wanted = WantedRecording(
                name: recording.headsetName, profile: profile, resume: try store.resumeState(of: recording.recording))
            if recording.isWanted { begin(wanted, at: now) } else { finish(wanted, at: now) }
        }
    }
}
