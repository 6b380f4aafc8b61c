import Bluetooth
import Reconnection
import Storage

/// What was reported last, so that only what has changed is reported.
struct ChangeReporting {
    var headsets: [RecordingID: AcquiredHeadset] = [:]
    /// How many of a headset's changes were reported of late.
    var lines: [RecordingID: PhaseLines] = [:]
    /// Recordings of which the configuration has no headset.
    var unknownRecordings: [RecordingID] = []
    var summary = ""
    var isBufferFull = false
    /// The problem that the summary names.
    var problem: String?
}

/// Bounds what is reported of one headset whose link comes and goes: a few changes in a minute one by one, of more the sum.
struct PhaseLines {
    private var began: MonotonicTime?
    private var reported = 0
    private var summed = PhaseChanges(count: 0, returns: 0, period: .zero)

    /// When the sum is due; nil where all is reported.
    func deadline(_ limits: AcquisitionLimits) -> MonotonicTime? {
        summed.count > 0 ? began.map { $0 + limits.linesPeriod } : nil
    }

    /// Notes a change. True where it is to be reported by itself.
    mutating func note(isReturn: Bool, _ limits: AcquisitionLimits, at now: MonotonicTime) -> Bool {
        if summed.count == 0, began.map({ now - $0 >= limits.linesPeriod }) ?? true { (began, reported) = (now, 0) }
        guard reported >= limits.linesPerPeriod else {
            reported += 1
            return true
        }
        summed.count += 1
        summed.returns += isReturn ? 1 : 0
        return false
    }

    /// The sum, where it is due. What goes on in the same way is summed up again.
    mutating func takeSum(_ limits: AcquisitionLimits, at now: MonotonicTime) -> PhaseChanges? {
        guard let deadline = deadline(limits), deadline <= now, let began else { return nil }
        var sum = summed
        sum.period = now - began
        self.began = now
        summed = PhaseChanges(count: 0, returns: 0, period: .zero)
        return sum
    }
}

extension AcquisitionEngine {
    /// What is being acquired.
    package var headsets: [AcquiredHeadset] {
        acquisitions.map { acquisition in
            AcquiredHeadset(
                name: acquisition.name, recording: acquisition.recording, phase: acquisition.phase,
                cause: acquisition.phaseCause, since: acquisition.phaseSince,
                attempt: acquisition.machine.attempt.number)
        }
    }

    func reportUnknown(_ open: OpenRecording) {
        guard !reporting.unknownRecordings.contains(open.recording) else { return }
        reporting.unknownRecordings.append(open.recording)
        emit(.report(.unknownHeadset(name: open.headsetName, model: open.model)))
    }

    /// Reports what has changed.
    func reportChanges(at now: MonotonicTime) {
        var hasChanged = false
        for acquisition in acquisitions {
            let last = reporting.headsets[acquisition.recording]
            for back in acquisition.takeReturns() { emit(.report(.returned(back))) }
            guard acquisition.phase != last?.phase || acquisition.phaseCause != last?.cause,
                let headset = headsets.first(where: { $0.recording == acquisition.recording })
            else { continue }
            reporting.headsets[headset.recording] = headset
            hasChanged = true
            let isReturn = headset.phase == .streaming && last?.phase != .silent
            let isSeparate = reporting.lines[headset.recording, default: PhaseLines()].note(isReturn: isReturn, limits, at: now)
            // Quarantine ends what comes and goes, and a person must know.
            if isSeparate || headset.phase == .quarantined { emit(.report(.phaseChanged(headset))) }
        }
        if hasChanged || timers.take(.sums, at: now) { reportSums(at: now) }
        if reporting.isBufferFull == context.hasRoom {
            reporting.isBufferFull.toggle()
            if reporting.isBufferFull { emit(.report(.bufferFull(rows: bufferedRows))) }
        }
        let problem = commits.problem?.error.cause
        guard hasChanged || reporting.summary.isEmpty || acquisitions.isEmpty || problem != reporting.problem else { return }
        reporting.problem = problem
        var text =
            acquisitions.isEmpty
            ? wishes.isPaused ? "paused: eegsync resume goes on" : "no recording is wanted"
            : acquisitions.map { "\($0.name): \($0.machine.state.name)" }.joined(separator: ", ")
        if let problem { text = "cannot write (\(problem)), buffering; " + text }
        guard text != reporting.summary else { return }
        reporting.summary = text
        emit(.report(.summary(text)))
    }

    /// Reports the sums that are due.
    private func reportSums(at now: MonotonicTime) {
        timers[.sums] = nil
        for acquisition in acquisitions {
            guard var lines = reporting.lines[acquisition.recording] else { continue }
            if let sum = lines.takeSum(limits, at: now), let headset = reporting.headsets[acquisition.recording] {
                emit(.report(.phasesChanged(headset, sum)))
            }
            reporting.lines[acquisition.recording] = lines
            guard let deadline = lines.deadline(limits) else { continue }
            timers[.sums] = min(timers[.sums] ?? deadline, deadline)
        }
    }
}
