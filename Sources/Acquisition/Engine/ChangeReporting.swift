import Bluetooth
import Reconnection
import Storage

/// What was reported last, so that only what has changed is reported.
struct ChangeReporting {
    private var headsets: [RecordingID: AcquiredHeadset] = [:]
    /// How many of a headset's changes were reported of late.
    private var lines: [RecordingID: PhaseLines] = [:]
    /// Recordings of which the configuration has no headset.
    private var unknownRecordings: [RecordingID] = []
    private var summary = ""
    private var isBufferFull = false
    /// The problem that the summary names.
    private var problem: String?

    /// The configuration is another one.
    mutating func configurationChanged() { unknownRecordings.removeAll() }

    /// A recording is wanted that no configured headset belongs to.
    mutating func reportUnknown(_ open: OpenRecording, _ context: EngineContext) {
        guard !unknownRecordings.contains(open.recording) else { return }
        unknownRecordings.append(open.recording)
        context.emit(.report(.unknownHeadset(name: open.headsetName, model: open.model)))
    }

    /// Reports what has changed with the headsets.
    ///
    /// - Returns: whether anything has.
    mutating func reportHeadsets(
        _ acquisitions: [HeadsetAcquisition], _ context: EngineContext, _ timers: inout EngineTimers, at now: MonotonicTime
    ) -> Bool {
        var hasChanged = false
        for acquisition in acquisitions {
            let last = headsets[acquisition.recording]
            for back in acquisition.takeReturns() { context.emit(.report(.returned(back))) }
            guard acquisition.phase != last?.phase || acquisition.phaseCause != last?.cause else { continue }
            let headset = AcquiredHeadset(acquisition)
            headsets[headset.recording] = headset
            hasChanged = true
            let isReturn = headset.phase == .streaming && last?.phase != .silent
            let isSeparate = lines[headset.recording, default: PhaseLines()].note(isReturn: isReturn, context.limits, at: now)
            // Quarantine ends what comes and goes, and a person must know.
            if isSeparate || headset.phase == .quarantined { context.emit(.report(.phaseChanged(headset))) }
        }
        if hasChanged || timers.take(.sums, at: now) { reportSums(acquisitions, context, &timers, at: now) }
        return hasChanged
    }

    /// Reports the sums that are due.
    private mutating func reportSums(
        _ acquisitions: [HeadsetAcquisition], _ context: EngineContext, _ timers: inout EngineTimers, at now: MonotonicTime
    ) {
        timers[.sums] = nil
        for acquisition in acquisitions {
            guard var lines = lines[acquisition.recording] else { continue }
            if let sum = lines.takeSum(context.limits, at: now), let headset = headsets[acquisition.recording] {
                context.emit(.report(.phasesChanged(headset, sum)))
            }
            self.lines[acquisition.recording] = lines
            guard let deadline = lines.deadline(context.limits) else { continue }
            timers[.sums] = min(timers[.sums] ?? deadline, deadline)
        }
    }

    /// Reports once that no row finds room any more.
    mutating func reportBuffer(rows: Int, _ context: EngineContext) {
        guard isBufferFull == context.hasRoom else { return }
        isBufferFull.toggle()
        if isBufferFull { context.emit(.report(.bufferFull(rows: rows))) }
    }

    /// Says in one sentence how everything stands, where that has changed.
    ///
    /// - Parameters:
    ///   - headsetsHaveChanged: what ``reportHeadsets(_:_:_:at:)`` returned.
    ///   - problem: why nothing can be written; nil where it can.
    mutating func reportSummary(
        of acquisitions: [HeadsetAcquisition], headsetsHaveChanged: Bool, isPaused: Bool, problem: String?,
        _ context: EngineContext
    ) {
        guard headsetsHaveChanged || summary.isEmpty || acquisitions.isEmpty || problem != self.problem else { return }
        self.problem = problem
        var text =
            acquisitions.isEmpty
            ? isPaused ? "paused: eegsync resume goes on" : "no recording is wanted"
            : acquisitions.map { "\($0.name): \($0.machine.state.name)" }.joined(separator: ", ")
        if let problem { text = "cannot write (\(problem)), buffering; " + text }
        guard text != summary else { return }
        summary = text
        context.emit(.report(.summary(text)))
    }
}

extension AcquiredHeadset {
    init(_ acquisition: HeadsetAcquisition) {
        self.init(
            name: acquisition.name, recording: acquisition.recording, phase: acquisition.phase,
            cause: acquisition.phaseCause, since: acquisition.phaseSince, attempt: acquisition.machine.attempt.number)
    }
}
