import Bluetooth
import Storage

/// What begins and ends by itself.
struct TimedWishes {
    /// As it was read last.
    var schedules: [RecordingSchedule] = []
    /// Open recordings that end by themselves.
    var ends: [OpenRecording] = []
    /// What is being written.
    var pending: [TimedDecision] = []
    /// True from a decision on until what follows from it was read.
    var isStale = false
}

extension AcquisitionEngine {
    /// A start that is decided of and lies farther ahead than this was decided of by a clock that was wrong.
    static let futureMaximum: Int64 = 26 * 3600

    /// Takes what begins and ends by itself from what the operator wishes.
    func followTimes(of contents: OperatorWishes.Contents, at now: MonotonicTime) {
        timed.schedules = contents.schedules
        timed.ends = contents.recordings.filter { $0.isWanted && $0.end != nil }
        timed.isStale = false
        followTimes(at: now)
    }

    /// Decides what time has made due. Called with each reading of the wall clock.
    func followTimes(at now: MonotonicTime) {
        guard !shutdown.hasBegun, !timed.isStale, timed.pending.isEmpty else { return }
        let wall = clock.trustedOffset(at: now).map { CivilTime.floorDivided($0 + now.nanoseconds, by: 1_000_000_000).quotient }
        for open in timed.ends {
            guard let end = open.end else { continue }
            let isOver =
                end.isSameHostBoot
                ? end.at <= now
                : end.unixNanoseconds.flatMap { end in wall.map { $0 >= end / 1_000_000_000 } } ?? false
            if isOver { decide(.end(open.recording)) }
        }
        guard let wall else { return }
        for schedule in timed.schedules {
            guard let due = schedule.time.latest(upTo: wall, utcOffset: utcOffset), due > schedule.createdUnix,
                !schedule.isDecided(due, at: wall)
            else { continue }
            let rest = due + schedule.durationSeconds - wall
            decide(rest > 0 ? .start(schedule.id, due: due, until: now + .seconds(rest)) : .miss(schedule.id, due: due))
        }
    }

    /// What was decided is written, or cannot be: then it is decided again with the next reading of the clock.
    func decided(_ decision: TimedDecision, _ result: Result<Void, StorageError>, at now: MonotonicTime) {
        timed.pending.removeAll { $0 == decision }
        guard case .success = result else { return }
        timed.isStale = true
        wishes.areStale = true
        readWishes(at: now)
    }

    private func decide(_ decision: TimedDecision) {
        timed.pending.append(decision)
        emit(.decide(decision))
    }
}

extension RecordingSchedule {
    /// Whether it was decided of a start, or of one after it. What a clock decided that was ahead by more than a day means
    /// nothing for other starts.
    fileprivate func isDecided(_ due: Int64, at wall: Int64) -> Bool {
        starts.contains { $0.dueUnix == due || $0.dueUnix > due && $0.dueUnix <= wall + AcquisitionEngine.futureMaximum }
    }
}
