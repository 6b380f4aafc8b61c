import Bluetooth
import Headsets
import Reconnection
import Storage

/// How it stands with reading what the operator wishes.
struct WishesReading {
    /// Of the wishes that are followed; nil to read them in any case.
    var version: Int64?
    /// True where they have changed since they were read last.
    var areStale = false
    /// True while they are being read.
    var isUnderWay = false
    /// Recordings that are to begin or to be ended, as soon as it is read what the database has of them.
    var loading: [OpenRecording] = []
    /// Headsets whose next recording waits until the present one has ended.
    var postponed: Set<HeadsetID> = []
    /// The latest decision about the address of each headset.
    var adoptions: [AdoptionWish] = []
    /// True while a person wants nothing recorded.
    var isPaused = false
    /// True while another program reads what is recorded as it comes.
    var isFollowed = false
    /// Why they cannot be read (nil), or a recording cannot be resumed.
    var problems: [RecordingID?: StorageError] = [:]
}

/// Makes what is acquired follow the operator's wishes in the database: begins what is wanted, ends what is not. A recording
/// that is wanted, and of which the configuration has no headset, stays open and untouched.
extension AcquisitionEngine {
    /// True where a recording was left out that can begin now.
    private var mayBeginPostponed: Bool {
        wishes.postponed.contains { headset in
            !acquisitions.contains { $0.headset == headset } && !wishes.loading.contains { $0.headset == headset }
        }
    }

    /// Has the wishes read where that is due.
    func readWishes(at now: MonotonicTime) {
        guard !shutdown.hasBegun, !wishes.isUnderWay else { return }
        let isDue = timers.take(.wishes, at: now)
        // What cannot be read is read again when that is due, whatever waits for it.
        guard isDue || wishes.problems.isEmpty && (wishes.areStale || mayBeginPostponed) else { return }
        if wishes.areStale || mayBeginPostponed { wishes.version = nil }
        wishes.areStale = false
        wishes.isUnderWay = true
        timers[.wishes] = nil
        emit(.readWishes(unlessVersion: wishes.version))
    }

    /// The wishes were read.
    func wishesRead(_ result: Result<OperatorWishes, StorageError>, at now: MonotonicTime) {
        wishes.isUnderWay = false
        guard !shutdown.hasBegun else { return }
        timers[.wishes] = limits.wishesInterval.map { now + $0 }
        switch result {
        case .failure(let error): readFailed(error, at: now)
        case .success(let read):
            wishes.problems[nil] = nil
            wishes.version = read.version
            if read.isFollowed, !wishes.isFollowed, limits.spoolInterval != nil { commitSoon(at: now) }
            wishes.isFollowed = read.isFollowed
            if let contents = read.contents {
                wishes.problems = wishes.problems.filter { problem in
                    contents.recordings.contains { $0.recording == problem.key }
                }
                follow(contents, at: now)
                readMarks()
            }
        }
    }

    /// - Parameter recording: which one cannot be resumed; nil where the wishes themselves cannot be read.
    private func readFailed(_ error: StorageError, of recording: RecordingID? = nil, at now: MonotonicTime) {
        if wishes.problems[recording]?.cause != error.cause { emit(.report(.readFailed(error))) }
        wishes.problems[recording] = error
        // Read anew with the next look.
        wishes.version = nil
        if timers[.wishes] == nil, !wishes.isUnderWay { timers[.wishes] = now + limits.retryInterval }
    }

    private func follow(_ contents: OperatorWishes.Contents, at now: MonotonicTime) {
        captures.follow(contents.captures, at: now)
        collectPackets(at: now)
        wishes.adoptions = contents.adoptions
        for acquisition in acquisitions { follow(contents, acquisition, at: now) }
        for open in contents.recordings where !open.isWanted && recordings.contains(open.recording) {
            endRecording(open.recording, at: now)
        }
        wishes.isPaused = contents.isPaused
        if wishes.isPaused { releaseAll(at: now) }
        wishes.postponed = Set(acquisitions.filter(\.isReleased).map(\.headset))
        for open in contents.recordings
        where !(wishes.isPaused && open.isWanted) && !recordings.contains(open.recording)
            && !wishes.loading.contains(where: { $0.recording == open.recording })
        {
            guard known(of: open) != nil else {
                reporting.reportUnknown(open, context)
                continue
            }
            // One owner for each headset: the recording before must have let go of it.
            let isOwned =
                acquisitions.contains { $0.headset == open.headset } || wishes.loading.contains { $0.headset == open.headset }
            if isOwned {
                wishes.postponed.insert(open.headset)
            } else {
                wishes.loading.append(open)
                emit(.loadResumeState(open.recording))
            }
        }
        measurements.follow(contents.measurements, of: acquisitions, at: now)
        followTimes(of: contents, at: now)
    }

    /// The headset of a recording. One that is merely to be ended needs none: it ends from what the database has.
    private func known(of open: OpenRecording) -> KnownHeadset? {
        lookUp(open) ?? (open.isWanted ? nil : .unnamed(open))
    }

    /// Lets every headset go; its recording stays open, and begins anew from the database when the pause ends.
    private func releaseAll(at now: MonotonicTime) {
        for acquisition in acquisitions where !acquisition.isFinishing && !acquisition.isReleased {
            acquisition.isReleased = true
            if !acquisition.isStopped { acquisition.handle(.stop(.paused), at: now) }
        }
        settle(at: now)
    }

    /// What concerns a headset that is being acquired: its name, and its address.
    private func follow(_ contents: OperatorWishes.Contents, _ acquisition: HeadsetAcquisition, at now: MonotonicTime) {
        if let open = contents.recordings.first(where: { $0.recording == acquisition.recording }) {
            acquisition.open.headsetName = open.headsetName
        }
        followAdoption(acquisition, isResumed: false, at: now)
    }

    private func followAdoption(_ acquisition: HeadsetAcquisition, isResumed: Bool, at now: MonotonicTime) {
        if let adoption = wishes.adoptions.first(where: { $0.headset == acquisition.headset }) {
            acquisition.follow(adoption, isResumed: isResumed, at: now)
        }
    }

    /// What the database has of a recording was read.
    func loaded(_ recording: RecordingID, _ result: Result<ResumeState, StorageError>, at now: MonotonicTime) {
        guard let index = wishes.loading.firstIndex(where: { $0.recording == recording }) else { return }
        let open = wishes.loading.remove(at: index)
        guard !shutdown.hasBegun, !(wishes.isPaused && open.isWanted) else { return }
        switch result {
        case .failure(let error): readFailed(error, of: recording, at: now)
        case .success(let resume):
            wishes.problems[recording] = nil
            guard let known = known(of: open) else { return }
            let stop = open.stop ?? StopRequest(at: now, isSameHostBoot: true, unixNanoseconds: nil)
            begin(
                WantedRecording(open, known: known, resume: resume), stop: open.isWanted ? nil : stop, at: now)
            if let begun = acquisitions.last, begun.recording == recording {
                followAdoption(begun, isResumed: true, at: now)
            }
            measurements.follow(with: acquisitions, at: now)
        }
    }
}
