import Acquisition
import Bluetooth
import Headsets
import Simulation
import Storage

/// Watches a rehearsal for broken promises. It knows the truth (what the simulated headsets sampled) and what was committed,
/// and takes nothing from the engine that it checks but its returns to streaming.
struct RehearsalChecker {
    let plan: RehearsalPlan
    var committed = CommittedSamples()
    /// What a power cut would still cost.
    private var unflushed: [StreamID: [Range<Int64>]] = [:]
    /// By recording: which headset.
    var headsetOfRecording: [RecordingID: Int] = [:]
    /// When each recording was asked for.
    private var requested: [RecordingID: MonotonicTime] = [:]
    private var recordingOfStream: [StreamID: RecordingID] = [:]
    private var positionOfStream: [StreamID: Int] = [:]
    var epochs: [StreamID: [EpochRecord]] = [:]
    /// By stream and first n: segments as they were committed last.
    var segments: [StreamID: [Int64: SegmentRecord]] = [:]
    /// By recording: from the first to the last sample of each link.
    var links: [RecordingID: [ClosedRange<MonotonicTime>]] = [:]
    /// When addresses were adopted by themselves.
    var adoptions: [(recording: RecordingID, at: MonotonicTime)] = []
    /// Recordings that the operator stopped, and those whose end is committed.
    private var stopRequested: Set<RecordingID> = []
    private var ended: Set<RecordingID> = []
    private var lastRows: [RecordingID: SampleRows] = [:]
    /// By headset: when rows of it were committed last.
    private var lastRowsCommitted: [Int: MonotonicTime] = [:]
    /// By headset: since when it can be reached; nil while it cannot.
    private var availableSince: [MonotonicTime?]
    private var lastReturn: [MonotonicTime?]
    /// Since when nothing is to be recorded; nil where what is wanted is recorded.
    var pausedSince: MonotonicTime?
    /// True where that was disobeyed.
    var isPauseBroken = false
    /// When recordings were asked to begin and to end.
    var asked = AskedTimes()
    /// By boot of the host of which anything is committed: true where something is that was taken when its wall clock was
    /// right. A full disk, or a daemon that is down, may keep what the clock said in the end from being stored.
    var clockIsStored: [Int: Bool] = [:]

    init(plan: RehearsalPlan) {
        self.plan = plan
        availableSince = plan.headsets.map { _ in nil }
        lastReturn = plan.headsets.map { _ in nil }
    }

    mutating func add(
        _ rule: RehearsalReport.Rule, _ detail: String, at time: MonotonicTime, _ report: inout RehearsalReport
    ) {
        guard report.violations.count < RehearsalReport.violationLimit else { return }
        report.violations.append(RehearsalReport.Violation(time: time, rule: rule, detail: detail))
    }

    // MARK: What happens

    mutating func began(_ recording: RecordingID, headset: Int, at now: MonotonicTime) {
        requested[recording] = now
        headsetOfRecording[recording] = headset
    }

    mutating func stopRequested(_ recording: RecordingID) {
        stopRequested.insert(recording)
    }

    /// Availability begins when everything that a connection needs is there, and ends with any of it.
    mutating func observe(_ world: SimulatedWorld, at now: MonotonicTime, isDaemonAlive: Bool) {
        for (index, headset) in world.headsets.prefix(plan.headsets.count).enumerated() {
            let isAvailable = isDaemonAlive && pausedSince == nil && world.adapterState == .poweredOn && headset.canBeReached
            if !isAvailable {
                availableSince[index] = nil
            } else if availableSince[index] == nil {
                availableSince[index] = now
            }
        }
    }

    /// - Parameter boot: when the host's boottime was 0.
    mutating func noteReturn(_ reported: StreamingReturn, _ boot: MonotonicTime, _ report: inout RehearsalReport) {
        var back = reported
        back.firstSample = reported.firstSample + (boot - .boot)
        back.lastSample = reported.lastSample.map { $0 + (boot - .boot) }
        guard let headset = headsetOfRecording[back.recording] else { return }
        if let last = links[back.recording]?.last {
            let end = min(back.lastSample ?? last.upperBound, last.upperBound)
            links[back.recording]?.removeLast()
            links[back.recording]?.append(last.lowerBound...max(last.lowerBound, end))
        }
        links[back.recording, default: []].append(back.firstSample...MonotonicTime(nanoseconds: .max))
        lastReturn[headset] = back.firstSample
        guard let available = availableSince[headset] else { return }
        let since = max(available, back.lastSample ?? requested[back.recording] ?? available)
        guard since < back.firstSample else { return }
        report.returns.append(RehearsalReport.Return(layer: back.layer, latency: back.firstSample - since))
    }

    /// - Parameter boot: when the boottime was 0 on which the batch's instants are.
    /// A batch outlives the daemon.
    mutating func spooled(_ batch: WriteBatch, at now: MonotonicTime) {
        for change in batch.changes {
            if case .stream(let stream) = change { recordingOfStream[stream.id] = stream.recording }
        }
        for rows in batch.samples {
            guard let recording = recordingOfStream[rows.stream], let headset = headsetOfRecording[recording] else { continue }
            lastRowsCommitted[headset] = now
        }
    }

    mutating func committed(
        _ batch: WriteBatch, boot: MonotonicTime = .boot, at now: MonotonicTime, _ report: inout RehearsalReport
    ) {
        for change in batch.changes {
            switch change {
            case .stream(let stream):
                recordingOfStream[stream.id] = stream.recording
                positionOfStream[stream.id] = stream.position
            case .epoch(var epoch):
                epoch.began = epoch.began + (boot - .boot)
                epochs[epoch.stream, default: []].append(epoch)
            case .segment(let segment): segments[segment.stream, default: [:]][segment.firstN] = segment
            case .adoption(let adoption): check(adoption, boot, at: now, &report)
            default: break
            }
        }
        for rows in batch.samples {
            committed.insert(rows)
            unflushed[rows.stream, default: []].append(rows.firstN..<(rows.firstN + Int64(rows.rowCount)))
            guard let recording = recordingOfStream[rows.stream] else { continue }
            lastRows[recording] = rows
            if let headset = headsetOfRecording[recording] { lastRowsCommitted[headset] = now }
            if ended.contains(recording) {
                add(
                    .stoppedStaysStopped,
                    "rows \(rows.firstN)... of stream \(rows.stream.rawValue) after the end of its recording", at: now,
                    &report)
            }
        }
        for case .recording(.stopped(let recording, _)) in batch.changes {
            ended.insert(recording)
            if !stopRequested.contains(recording) {
                add(.stoppedStaysStopped, "recording \(recording.rawValue) ended unasked", at: now, &report)
            }
        }
    }

    /// The planted defect `writeAfterStop`: one more row for each recording that has ended.
    mutating func storeAfterStop(_ store: AcquisitionStore, _ report: inout RehearsalReport, at now: MonotonicTime)
        throws(StorageError)
    {
        for recording in ended.sorted() {
            guard var rows = lastRows[recording] else { continue }
            rows.firstN += Int64(rows.rowCount)
            lastRows[recording] = nil
            var batch = WriteBatch(number: 0)
            batch.samples = [rows]
            try store.commit(batch)
            committed(batch, at: now, &report)
        }
    }

    /// The process has ended, and all links with it.
    mutating func daemonEnded(at now: MonotonicTime) {
        for (recording, list) in links {
            guard let last = list.last, last.upperBound > now else { continue }
            links[recording] = list.dropLast() + [last.lowerBound...max(last.lowerBound, now)]
        }
    }

    /// Everything that is committed survives a power cut.
    mutating func flushed() { unflushed.removeAll() }

    // MARK: Acknowledgements

    /// Everything below an acknowledged index is committed, or was overwritten before, or is older than the recording.
    mutating func checkAcknowledgements(_ world: SimulatedWorld, _ store: AcquisitionStore, _ report: inout RehearsalReport) {
        for (number, headset) in world.headsets.prefix(plan.headsets.count).enumerated() {
            guard let buffered = headset.buffered else { continue }
            for acknowledgement in buffered.takeAcknowledgements() {
                check(acknowledgement, of: buffered, number: number, &report)
            }
        }
    }

    private mutating func check(
        _ acknowledgement: Acknowledgement, of headset: BufferedHeadset, number: Int, _ report: inout RehearsalReport
    ) {
        guard let (stream, epoch) = latestEpoch(headset: number, position: acknowledgement.stream),
            epoch.bootIdentifier == acknowledgement.bootIdentifier
        else {
            return add(
                .acknowledgedIsCommitted,
                "index \(acknowledgement.upTo) of boot \(acknowledgement.bootIdentifier): nothing of it is committed",
                at: acknowledgement.time, &report)
        }
        let end = epoch.firstN + (Self.unwrap(acknowledgement.upTo, near: epoch.firstIndex) - epoch.firstIndex)
        guard end > epoch.firstN else { return }
        if let range = unflushed[stream]?.first(where: { $0.overlaps(epoch.firstN..<end) }) {
            add(
                .acknowledgedIsCommitted,
                "n \(range.lowerBound) of stream \(stream.rawValue) may be forgotten, but does not survive a power cut",
                at: acknowledgement.time, &report)
        }
        for hole in committed.holes(in: epoch.firstN..<end, of: stream) {
            guard let lost = Self.firstHeld(hole, stream: acknowledgement.stream, epoch, headset) else { continue }
            add(
                .acknowledgedIsCommitted,
                "n \(lost) of stream \(stream.rawValue) may be forgotten, but is not committed", at: acknowledgement.time,
                &report)
        }
    }

    /// The first n of the range that the headset has sampled and not overwritten.
    private static func firstHeld(
        _ range: Range<Int64>, stream: Int, _ epoch: EpochRecord, _ headset: BufferedHeadset
    ) -> Int64? {
        range.first { n in
            headset.holds(stream: stream, index: UInt32(truncatingIfNeeded: epoch.firstIndex + (n - epoch.firstN)))
        }
    }

    private func latestEpoch(headset: Int, position: Int) -> (StreamID, EpochRecord)? {
        var latest: (StreamID, EpochRecord)?
        for (stream, list) in epochs {
            guard positionOfStream[stream] == position, let recording = recordingOfStream[stream],
                headsetOfRecording[recording] == headset, let epoch = list.last
            else { continue }
            if let known = latest, known.0 > stream { continue }
            latest = (stream, epoch)
        }
        return latest
    }

    static func unwrap(_ index: UInt32, near reference: Int64) -> Int64 {
        reference + Int64(Int32(bitPattern: index &- UInt32(truncatingIfNeeded: reference)))
    }

    // MARK: The end of faults, and the end

    /// So long after all faults have ended, samples flow.
    mutating func checkIsBack(
        _ index: Int, _ headset: RehearsedHeadset, world: SimulatedWorld, since calm: MonotonicTime, within limit: Duration,
        _ report: inout RehearsalReport
    ) {
        let recording = headsetOfRecording.filter { $0.value == index && !stopRequested.contains($0.key) }.keys.max()
        guard recording != nil else { return }
        if !world.headsets[index].isStreamingLive {
            add(.backInTime, "\(headset.name) does not stream \(limit) after all faults have ended", at: world.now, &report)
        } else if lastRowsCommitted[index] ?? .boot <= calm {
            add(.backInTime, "\(headset.name) has nothing stored \(limit) after all faults have ended", at: world.now, &report)
        }
    }

    mutating func checkContract(_ world: SimulatedWorld, _ report: inout RehearsalReport) {
        for violation in world.contractViolations {
            // Which headset an unknown address belongs to is not known before it is asked: while one machine waits at a
            // headset's old address, another may ask at its new one. One machine never has two.
            if violation.kind == .secondConnectToHeadset, violation.earlier.machine != violation.attempt.machine { continue }
            add(.contract, "\(violation.kind) \(violation.attempt) to \(violation.identifier)", at: violation.time, &report)
        }
    }

    /// Every stored value is what the headset sampled, and the audit holds.
    mutating func checkStored(
        _ store: AcquisitionStore, world: SimulatedWorld, _ report: inout RehearsalReport
    ) throws(StorageError) {
        for index in plan.headsets.indices { try checkImpedances(of: index, store, world: world, &report) }
        for recording in headsetOfRecording.keys.sorted() {
            let audit = try store.audit(recording: recording)
            // Two boots of which one had a wrong clock to its end may contradict each other: the audit is right.
            let clocksAreRight = clocksAreRight(report)
            for finding in audit.findings where finding.check != .timesAscend || clocksAreRight {
                add(.audit, "\(finding.check): \(finding.detail)", at: world.now, &report)
            }
            for sums in audit.streams {
                report.rows += sums.rows
                report.missing += sums.missing
                report.recovered += sums.recovered
            }
            guard let headset = headsetOfRecording[recording] else { continue }
            let reader = try store.reader(of: recording)
            if let truth = world.headsets[headset].sessions {
                let wrong = try SessionCheck(headset: truth, reader: reader, epochs: epochs).firstWrong()
                if let wrong {
                    add(.storedIsSampled, "recording \(recording.rawValue), \(wrong)", at: world.now, &report)
                }
            }
            try checkTimes(of: recording, world.headsets[headset], reader, &report)
            guard let truth = world.headsets[headset].buffered else { continue }
            for stream in reader.contents.streams {
                guard let firstN = stream.firstN, let lastN = stream.lastN else { continue }
                if let wrong = try Self.firstWrong(stream, firstN...lastN, reader, truth, epochs[stream.id] ?? []) {
                    add(.storedIsSampled, "recording \(recording.rawValue), \(wrong)", at: world.now, &report)
                }
            }
        }
    }

    private mutating func checkImpedances(
        of index: Int, _ store: AcquisitionStore, world: SimulatedWorld, _ report: inout RehearsalReport
    ) throws(StorageError) {
        let headset = plan.headsets[index]
        guard let electrodes = headset.profile.impedance?.electrodes else { return }
        let values = try store.control.impedances(of: headset.name, since: .boot).values
        report.impedances += values.count
        let expected = electrodes.indices.map { world.headsets[index].impedance(ofElectrode: $0) }
        let wrong = values.first { value in
            electrodes.firstIndex(of: value.electrode).flatMap { expected[$0] } != value.kilohms
        }
        guard let wrong else { return }
        add(
            .storedIsSampled, "\(headset.name), electrode \(wrong.electrode): \(wrong.kilohms) kOhm is not what it said",
            at: wrong.at, &report)
    }

    private static func firstWrong(
        _ stream: StreamContents, _ range: ClosedRange<Int64>, _ reader: RecordingReader, _ truth: BufferedHeadset,
        _ epochs: [EpochRecord]
    ) throws(StorageError) -> String? {
        let channels = stream.description.channels.count
        var wrong: String?
        do {
            try reader.forEachChunk(of: stream.id, in: range, rowsPerChunk: 4096) { chunk in
                guard wrong == nil else { return }
                for row in 0..<chunk.n.count {
                    let n = chunk.n[row]
                    guard let epoch = epochs.last(where: { $0.firstN <= n }), let boot = epoch.bootIdentifier else {
                        wrong = "n \(n) of \(stream.description.name) belongs to no boot"
                        return
                    }
                    let index = UInt32(truncatingIfNeeded: epoch.firstIndex + (n - epoch.firstN))
                    for channel in 0..<channels where chunk.missingChannels[row] >> channel & 1 == 0 {
                        let value = truth.value(boot: boot, stream: stream.position, channel: channel, index: index)
                        let stored = chunk.values[row * channels + channel]
                        if stored != value {
                            wrong = "n \(n), channel \(channel + 1) of \(stream.description.name): \(stored), sampled \(value)"
                            return
                        }
                    }
                }
            }
        } catch let error as StorageError {
            throw error
        } catch {
            return "\(error)"
        }
        return wrong
    }

    /// What is still missing of the present boot is not in the headset's memory any more.
    mutating func checkDrained(
        _ store: AcquisitionStore, world: SimulatedWorld, _ report: inout RehearsalReport
    ) throws(StorageError) {
        for open in try store.openRecordings() where open.isWanted {
            guard let number = headsetOfRecording[open.recording], let headset = world.headsets[number].buffered else {
                continue
            }
            for stream in try store.resumeState(of: open.recording).streams {
                guard let epoch = stream.epoch, epoch.bootIdentifier == headset.bootHistory.last?.bootIdentifier else {
                    continue
                }
                for missing in stream.missing + stream.missingChannels {
                    let range = max(missing.firstN, epoch.firstN)..<max(missing.firstN + missing.count, epoch.firstN)
                    guard let held = Self.firstHeld(range, stream: stream.position, epoch, headset) else { continue }
                    add(
                        .drained,
                        "n \(held) of \(missing.firstN)..<\(missing.firstN + missing.count) of stream \(stream.id.rawValue) "
                            + "is missing, but the headset has it", at: world.now, &report)
                }
            }
        }
    }
}
