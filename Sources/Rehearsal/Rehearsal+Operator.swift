import Bluetooth
import Headsets
import Simulation
import Storage

/// Something that the operator does.
struct OperatorAction {
    enum Kind: Hashable {
        case start, stop
        /// Starts a recording where none is open.
        case startAgain
        case measureImpedance(Duration)
        case adopt(PeripheralIdentifier)
        case pause, resume
        /// Says when the present recording is to end, and that the next one is to begin by a schedule.
        case sayTimes(RehearsalPlan.TimedRecording)
    }

    var at: MonotonicTime
    var headset: Int
    var kind: Kind
}

/// What the operator does in the database, as commands do.
extension Rehearsal {
    /// What the plan has the operator do, in order.
    static func actions(of plan: RehearsalPlan, from begin: MonotonicTime) -> [OperatorAction] {
        var actions: [OperatorAction] = []
        for stop in plan.operatorStops {
            actions.append(OperatorAction(at: begin + stop.at, headset: stop.headset, kind: .stop))
            actions.append(OperatorAction(at: begin + stop.at + stop.pause, headset: stop.headset, kind: .start))
        }
        for pause in plan.operatorPauses {
            actions.append(OperatorAction(at: begin + pause.at, headset: 0, kind: .pause))
            actions.append(OperatorAction(at: begin + pause.at + pause.duration, headset: 0, kind: .resume))
        }
        actions += plan.impedanceMeasurements.map {
            OperatorAction(at: begin + $0.at, headset: $0.headset, kind: .measureImpedance($0.duration))
        }
        if let timed = plan.timedRecording {
            actions.append(OperatorAction(at: begin + timed.saidAt, headset: timed.headset, kind: .sayTimes(timed)))
            actions.append(OperatorAction(at: begin + timed.startedAt, headset: timed.headset, kind: .startAgain))
        }
        return actions.sorted { $0.at < $1.at }
    }

    func start(_ headset: RehearsedHeadset) throws(StorageError) {
        let recording = try store.control.startRecording(
            headset: headset.name, model: headset.profile.model, label: "rehearsal", subject: "sim", task: "rest",
            at: boottime(world.now))
        // With several headsets of a model a person says which is which, however full the disk is; a single one is found.
        if plan.headsets.count > 1, let serial = headset.specification.serialNumber,
            let id = try store.headset(named: headset.name)
        {
            var batch = WriteBatch(number: 0)
            batch.changes = [.identityProof(IdentityProofRecord(headset: id, proof: serial))]
            batch.usesReserve = true
            try store.commit(batch)
        }
        checker.began(recording, headset: plan.headsets.firstIndex { $0.name == headset.name } ?? 0, at: world.now)
    }

    func takeOperatorActions(at now: MonotonicTime) throws(StorageError) {
        while let action = operatorActions.first, action.at <= now {
            operatorActions.removeFirst()
            let headset = plan.headsets[action.headset]
            switch action.kind {
            case .start:
                try start(headset)
                note("the operator starts a recording of \(headset.name)", at: now)
            case .startAgain:
                guard try !wantedRecordings(of: headset).contains(where: \.isWanted) else { continue }
                try start(headset)
                note("the operator starts a recording of \(headset.name) again", at: now)
            case .stop:
                let recording = try store.control.stopRecording(headset: headset.name, at: boottime(now))
                checker.stopRequested(recording)
                note("the operator stops the recording of \(headset.name)", at: now)
            case .measureImpedance(let duration):
                _ = try store.control.start(
                    ImpedanceMeasurementID.self, headset: headset.name, at: boottime(now), until: boottime(now) + duration)
                note("the operator measures impedances of \(headset.name) for \(duration)", at: now)
            case .pause, .resume: try setPaused(action.kind == .pause, at: now)
            case .adopt(let identifier):
                try store.control.adopt(identifier, headset: headset.name, at: boottime(now))
                note("the operator says that \(headset.name) is at \(identifier)", at: now)
            case .sayTimes(let timed): try sayTimes(timed, headset, at: now)
            }
        }
    }

    private func setPaused(_ isPaused: Bool, at now: MonotonicTime) throws(StorageError) {
        if isPaused, plan.defect != .ignorePause {
            try store.control.pause(at: boottime(now))
        } else {
            try store.control.resume(at: boottime(now))
        }
        checker.pauseRequested(isPaused, at: now)
        note(isPaused ? "the operator pauses everything" : "the operator ends the pause", at: now)
    }

    // MARK: Times

    private func sayTimes(
        _ timed: RehearsalPlan.TimedRecording, _ headset: RehearsedHeadset, at now: MonotonicTime
    ) throws(StorageError) {
        guard let open = try wantedRecordings(of: headset).first(where: \.isWanted) else { return }
        let end = now + timed.endsAfter
        let isSpoiled = plan.defect == .endTooEarly
        try store.control.setEnd(of: open.recording, at: boottime(isSpoiled ? now + timed.endsAfter / 2 : end))
        checker.asked.ends[open.recording] = end
        let unix = (plan.unixNanosecondsAtBoot + end.nanoseconds) / 1_000_000_000
        let due = (unix / 60 + 1) * 60
        // What the clock of the host shows counts, as for the command.
        let shown = readClock(at: boottime(now)).offsetNanoseconds + boottime(now).nanoseconds
        let schedule = try store.control.addSchedule(
            headset: headset.name, model: headset.profile.model,
            at: DailyTime(minuteOfDay: Int(due / 60 % 1440), timeZone: "UTC"), durationSeconds: timed.scheduledSeconds,
            now: shown / 1_000_000_000)
        if due > shown / 1_000_000_000 { checker.asked.start = AskedTimes.Start(schedule: schedule, due: due) }
        note("the operator says when \(headset.name) is recorded", at: now)
    }

    /// Something was decided because of the time.
    func decided(_ decision: TimedDecision, at now: MonotonicTime) {
        guard let timed = plan.timedRecording else { return }
        do {
            let open = try wantedRecordings(of: plan.headsets[timed.headset])
            checker.decided(decision, headset: timed.headset, open: open, bootBegan: bootBegan, at: now, &report)
            note("decided because of the time: \(decision)", at: now)
        } catch {
            checker.add(.storage, "\(error)", at: now, &report)
        }
    }

    private func wantedRecordings(of headset: RehearsedHeadset) throws(StorageError) -> [OpenRecording] {
        try store.openRecordings().filter { $0.headsetName == headset.name }
    }

    /// Looks whether times are kept.
    func checkTimes(isAlive: Bool, at now: MonotonicTime) {
        guard plan.timedRecording != nil else { return }
        let reading = readClock(at: boottime(now))
        let wall = reading.isSynchronised ? (reading.offsetNanoseconds + boottime(now).nanoseconds) / 1_000_000_000 : nil
        checker.checkTimes(isAble: isAlive && disk.takesAll(at: now), wall: wall, at: now, &report)
    }
}
