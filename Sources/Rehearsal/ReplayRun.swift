import Acquisition
import Bluetooth
public import Capture
public import Headsets
import Simulation
public import Storage

/// Feeds a capture through link, establish flow, decoder and storage as if its headset were there, in virtual time.
public final class ReplayRun {
    private let capture: Capture
    private let profile: any HeadsetProfile
    private let store: Store
    private let wanted: Wanted
    private let world: SimulatedWorld
    private var playbackBegan: MonotonicTime?
    private let startUnixNanoseconds: Int64

    /// What the recording is called.
    public struct Wanted: Hashable, Sendable {
        /// The headset's name in the database.
        public var headset: String
        public var label: String?
        public var subject: String?
        public var task: String?

        /// Names a recording.
        public init(headset: String, label: String? = nil, subject: String? = nil, task: String? = nil) {
            self.headset = headset
            self.label = label
            self.subject = subject
            self.task = task
        }
    }

    /// How a replay went.
    public struct Report: Hashable, Sendable {
        /// The recording that was made.
        public var recording: RecordingID
        /// False where the headset never began to play: its profile and the capture do not fit.
        public var isComplete: Bool
        /// Whether anything of it was stored.
        public var hasSamples: Bool
        /// From the first piece of the capture to the last.
        public var duration: Duration
        /// Pieces of characteristics that the profile neither subscribes to nor reads; they were not played.
        public var foreignPieceCount: Int
    }

    /// Nothing that is wrong with a link takes longer than this to end in a new attempt.
    private static let patience: Duration = .seconds(60)
    /// What a piece needs from the headset to the database's queue, with room to spare; far below any limit of silence.
    private static let lastPieceDelay: Duration = .milliseconds(100)

    /// Prepares a replay.
    ///
    /// - Parameters:
    ///   - profile: the model that the capture is of.
    ///   - store: where it is recorded. Its host boot must be no other one's: the replay has a clock of its own.
    ///   - startUnixNanoseconds: UTC of the first piece, in nanoseconds since 1970.
    public init(
        _ capture: Capture, profile: any HeadsetProfile, wanted: Wanted, store: Store, startUnixNanoseconds: Int64
    ) {
        self.capture = capture
        self.profile = profile
        self.wanted = wanted
        self.store = store
        self.startUnixNanoseconds = startUnixNanoseconds
        world = SimulatedWorld(
            seed: 1, headsets: [.recorded(capture, profile: profile)], start: MonotonicTime(nanoseconds: 60_000_000_000))
    }

    /// Plays a capture into a database in memory up to its first sample, so that one that has none is refused before anything
    /// is written. The report is complete only where there was no sample.
    ///
    /// - Parameter progress: gets the part that is done, 0 ... 1.
    public static func trial(
        of capture: Capture, profile: any HeadsetProfile, progress: (Double) -> Void = { _ in }
    ) throws(StorageError) -> Report {
        let run = ReplayRun(
            capture, profile: profile, wanted: Wanted(headset: "trial"),
            store: try Store.inMemory(hostBoot: HostBoot(uuid: "trial")), startUnixNanoseconds: 0)
        return try run.play(untilSamples: true, progress: progress)
    }

    /// Plays everything, then stops the recording as an operator would.
    ///
    /// - Parameter progress: gets the part that is done, 0 ... 1.
    /// - Throws: what the store throws; the recording is then as complete as the last commit.
    public func run(progress: (Double) -> Void = { _ in }) throws(StorageError) -> Report {
        try play(untilSamples: false, progress: progress)
    }

    private func play(untilSamples: Bool, progress: (Double) -> Void) throws(StorageError) -> Report {
        let recording = try store.startRecording(
            headset: wanted.headset, model: profile.model, label: wanted.label, subject: wanted.subject, task: wanted.task,
            at: world.now)
        let daemon = try VirtualDaemon(
            world: world, store: store, seed: 1,
            // An earlier replay that was interrupted and then stopped is ended with this one.
            profile: { [profile, wanted] open in
                open.recording == recording || (open.headsetName == wanted.headset && !open.isWanted) ? profile : nil
            },
            unixNanoseconds: { [unowned self] now in unixNanoseconds(at: now) })
        var hasSamples = false
        daemon.committed = { batch, _ in hasSamples = hasSamples || !batch.samples.isEmpty }
        let headset = world.headsets[0]
        try daemon.advance(to: world.now + Self.patience) { headset.isPlaybackStarted }
        if headset.isPlaybackStarted {
            playbackBegan = world.now
            daemon.readClock()
            let end = world.now + capture.duration + .seconds(1)
            while !headset.isPlaybackFinished, world.now < end, !(untilSamples && hasSamples) {
                try daemon.advance(to: world.now + .seconds(1)) { headset.isPlaybackFinished }
                let played = (world.now - (playbackBegan ?? world.now)).nanoseconds
                progress(Double(played) / Double(max(1, capture.duration.nanoseconds)))
            }
            try daemon.advance(to: world.now + Self.lastPieceDelay)
        }
        try store.stopRecording(recording, at: world.now)
        let isEnded = try daemon.finish(within: Self.patience)
        // Of the very kind of headset that the capture is of: what it subscribes to, and what it reads.
        let subscribed = Set(headset.specification.database.characteristics.map(\.uuid))
        return Report(
            recording: recording, isComplete: headset.isPlaybackFinished && isEnded, hasSamples: hasSamples,
            duration: capture.duration,
            foreignPieceCount: capture.pieces.count { !subscribed.contains($0.characteristic) })
    }

    /// Unknown until the capture begins, so that its first piece has the time that it had.
    private func unixNanoseconds(at now: MonotonicTime) -> Int64? {
        playbackBegan.map { startUnixNanoseconds + (now - $0).nanoseconds }
    }
}
