import Acquisition
package import Bluetooth
package import Capture
package import Headsets
package import Storage

/// Feeds a capture through link, establish flow, decoder and storage as if its headset were there, in virtual time.
///
/// Each piece arrives when it arrived, and all of them are taken. A pause for which a headset would be given up ends the link
/// as it would, so that the gap is in the ledger; what would happen until the next piece is left out.
package final class ReplayRun {
    private let contents: CaptureContents
    private let headset: ReplayedHeadset
    private let recognition: Recognition
    private let usesSerialPort: Bool

    /// What the recording is called.
    package struct Wanted: Hashable, Sendable {
        /// The headset's name in the database.
        package var headset: String
        package var label: String?
        package var subject: String?
        package var task: String?

        /// Names a recording.
        package init(headset: String, label: String? = nil, subject: String? = nil, task: String? = nil) {
            self.headset = headset
            self.label = label
            self.subject = subject
            self.task = task
        }
    }

    /// How a replay went.
    package struct Report: Hashable, Sendable {
        /// The recording that was made.
        package var recording: RecordingID
        /// False where not everything was played: the profile and the capture do not fit.
        package var isComplete: Bool
        /// From the first piece of the capture to the last.
        package var duration: Duration
        /// Pieces of characteristics that the profile neither subscribes to nor reads; they were not played.
        package var foreignPieceCount: Int
        /// Bytes of the others that belonged to nothing that the model sends.
        package var discardedByteCount: Int
        /// True where the headset has said what it sends: channels, frequency.
        package var isDescribed: Bool
    }

    /// Nothing that is wrong with a link takes longer than this to end in a new attempt.
    private static let patience: Duration = .seconds(60)
    /// How often progress is reported, in the time of the capture.
    private static let progressInterval: Duration = .seconds(10)

    /// Looks into a capture; see ``hasSamples``.
    ///
    /// - Parameters:
    ///   - profile: the model that the capture is of.
    ///   - given: what is known of the headset besides: values of characteristics, as the headset would have sent them.
    package init(_ contents: CaptureContents, profile: any HeadsetProfile, given: [Capture.Piece] = []) {
        self.contents = contents
        recognition = profile.recognition
        usesSerialPort = profile.usesSerialPort
        headset = ReplayedHeadset(contents.pieces, characteristics: contents.characteristics, profile: profile, given: given)
    }

    /// Whether there is anything in the capture that could be stored.
    package var hasSamples: Bool { headset.hasSamples }

    /// The characteristic whose value is read on each link, and neither in the capture nor given; nil where none is missing.
    package var lackedValue: BluetoothUUID? {
        if case .value(let characteristic)? = headset.lack { characteristic } else { nil }
    }

    /// True where the headset describes its streams in a status which is not in the capture.
    package var lacksStatus: Bool { headset.lack == .status }

    /// Plays everything, then stops the recording as an operator would. To be called once.
    ///
    /// - Parameters:
    ///   - store: where it is recorded. Its host boot must be no other one's: the replay has a clock of its own.
    ///   - startUnixNanoseconds: UTC of the first piece, in nanoseconds since 1970.
    ///   - progress: gets the part that is done, 0 ... 1.
    /// - Throws: what the store throws; the recording is then as complete as the last commit.
    package func run(
        into store: AcquisitionStore, wanted: Wanted, startUnixNanoseconds: Int64, progress: (Double) -> Void = { _ in }
    ) throws(StorageError) -> Report {
        let central = ReplayCentral(
            contents.pieces, headset: headset, advertisement: advertisement, identifier: identifier,
            at: MonotonicTime(nanoseconds: 60_000_000_000))
        let recording = try store.control.startRecording(
            headset: wanted.headset, model: headset.profile.model, label: wanted.label, subject: wanted.subject,
            task: wanted.task, at: central.now)
        var limits = AcquisitionLimits()
        // Nobody else has wishes for this process.
        limits.wishesInterval = nil
        // Unknown until the capture begins, so that its first piece has the time that it had.
        let readClock = { [unowned central] (now: MonotonicTime) in
            central.began.map { began in
                ClockOffsetRecord(
                    at: now, offsetNanoseconds: startUnixNanoseconds &- began.nanoseconds, stepNanoseconds: 0,
                    isSynchronised: true)
            }
        }
        let driver = try VirtualDriver(
            central: central, store: store, limits: limits, seed: 1,
            // An earlier replay that was interrupted and then stopped is ended with this one.
            lookUp: { [profile = headset.profile] open in
                open.recording == recording || (open.headsetName == wanted.headset && !open.isWanted)
                    ? KnownHeadset(name: open.headsetName, profile: profile) : nil
            }, readClock: readClock)
        driver.stepped = { [unowned driver, unowned central] in
            let phase = driver.engine.phase(of: recording)?.phase
            central.isOpen = phase == .streaming || phase == .silent
        }
        driver.advance(central, to: central.now + Self.patience) { central.isOpen }
        var isPlayed = false
        if central.isOpen {
            central.begin()
            if let reading = readClock(central.now) { driver.handle(.clock(reading), at: central.now) }
            isPlayed = play(central, driver, progress)
        }
        try store.control.stopRecording(recording, at: central.now)
        let isEnded = driver.finish(central, within: Self.patience)
        try driver.end(at: central.now)
        return Report(
            recording: recording, isComplete: isPlayed && isEnded, duration: contents.duration,
            foreignPieceCount: central.foreignPieceCount, discardedByteCount: headset.learnt.discardedByteCount,
            isDescribed: headset.learnt.streams != nil)
    }

    /// Returns false where something keeps the pieces from being taken.
    private func play(
        _ central: ReplayCentral, _ driver: VirtualDriver, _ progress: (Double) -> Void
    ) -> Bool {
        let total = Double(max(1, contents.duration.nanoseconds))
        var reported = central.now
        while let due = central.nextPieceTime {
            // A link that was just made waits for the next piece, however long that takes, and so does one that is never given
            // up.
            if central.isFresh || headset.profile.epochRule == .boot { leap(central, driver, to: due) }
            driver.advance(central, to: max(due, central.now)) { central.isFresh }
            if !central.isOpen {
                // Whoever gave the headset up looks for it at once.
                driver.advance(central, to: central.now + Self.patience) { central.isOpen }
                if !central.isOpen { return false }
            }
            if central.now - reported >= Self.progressInterval {
                reported = central.now
                progress(min(1, Double((central.now - (central.began ?? reported)).nanoseconds) / total))
            }
        }
        return true
    }

    /// Goes to an instant without anything that would have happened until then.
    private func leap(_ central: ReplayCentral, _ driver: VirtualDriver, to time: MonotonicTime) {
        guard time > central.now else { return }
        central.advance(to: time)
        driver.step(at: central.now)
    }

    private var advertisement: Advertisement {
        var advertisement = Advertisement(localName: recognition.namePrefixes.first ?? "Recorded")
        advertisement.serviceUUIDs = recognition.serviceUUIDs
        return advertisement
    }

    private var identifier: PeripheralIdentifier {
        PeripheralIdentifier(address: 0xC0EE_60FF_0001, type: usesSerialPort ? .classic : .random)
    }
}
