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
        try reconcile(
            with: store, headset: { open in profile(open).map { KnownHeadset(name: open.headsetName, profile: $0) } }, at: now)
    }

    /// The same for headsets of which a person knows more than the profile.
    ///
    /// - Parameter headset: the headset of a recording; nil where the configuration has none.
    public func reconcile(
        with store: Store, headset: (OpenRecording) -> KnownHeadset?, at now: MonotonicTime
    ) throws(StorageError) {
        follow(try store.openCaptures(), at: now)
        let measurements = try store.openImpedanceMeasurements()
        defer { follow(measurements, at: now) }
        let open = try store.openRecordings()
        for recording in open where recording.isWanted == false && recordings.contains(recording.recording) {
            end(recording.recording, at: now)
        }
        postponed = Set(acquisitions.filter(\.isReleased).map(\.headset))
        for recording in open where !recordings.contains(recording.recording) {
            guard let headset = headset(recording) else { continue }
            // One owner for each headset: the recording before must have let go of it.
            if acquisitions.contains(where: { $0.headset == recording.headset }) {
                postponed.insert(recording.headset)
                continue
            }
            var resume = try store.resumeState(of: recording.recording)
            headset.amend(&resume)
            let wanted = WantedRecording(
                name: recording.headsetName, profile: headset.profile, resume: resume, montage: headset.montage)
            if recording.isWanted {
                begin(wanted, at: now)
            } else {
                let stop = recording.stop ?? StopRequest(at: now, isSameHostBoot: true, unixNanoseconds: nil)
                finish(wanted, stop: stop, at: now)
            }
        }
    }
}
