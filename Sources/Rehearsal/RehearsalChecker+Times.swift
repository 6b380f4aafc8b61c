import Bluetooth
import Storage

/// When recordings were asked to begin and to end.
struct AskedTimes {
    /// By recording: when it is to end, on the world's time.
    var ends: [RecordingID: MonotonicTime] = [:]
    /// A start of which nothing was decided yet; nil for none.
    var start: Start?
    /// Since when the daemon could write, without an interruption; nil while it cannot.
    var ableSince: MonotonicTime?
    /// The latest time that a synchronised wall clock has shown, UTC in seconds since 1970.
    var latestWall: Int64 = .min

    /// A start of a schedule.
    struct Start {
        var schedule: ScheduleID
        /// UTC in seconds since 1970.
        var due: Int64
        /// Since when the wall clock shows it as past, and a daemon could write that; nil while that is not so.
        var overdueSince: MonotonicTime?
    }
}

/// Recordings begin and end when they were asked to.
extension RehearsalChecker {
    /// How late a daemon may be that can write: it reads the clock and the wishes each second, and a commit before that takes
    /// up to 10 s.
    private static let timeGrace = Duration.seconds(15)
    /// The wall clock is read each second.
    private static let wallGraceSeconds: Int64 = 2

    /// Looks whether something is overdue.
    ///
    /// - Parameters:
    ///   - isAble: a daemon runs, and the disk takes what it writes.
    ///   - wall: what a synchronised wall clock shows, UTC in seconds since 1970; nil for one that is not synchronised.
    mutating func checkTimes(isAble: Bool, wall: Int64?, at now: MonotonicTime, _ report: inout RehearsalReport) {
        if let wall { asked.latestWall = max(asked.latestWall, wall) }
        asked.ableSince = isAble ? asked.ableSince ?? now : nil
        guard let ableSince = asked.ableSince else {
            asked.start?.overdueSince = nil
            return
        }
        for (recording, end) in asked.ends.sorted(by: { $0.key < $1.key }) where now - max(end, ableSince) > Self.timeGrace {
            asked.ends[recording] = nil
            add(.timesAreKept, "recording \(recording.rawValue) goes on \(now - end) after its end", at: now, &report)
        }
        guard let start = asked.start, let wall, (start.due..<(start.due + 86_400)).contains(wall) else {
            asked.start?.overdueSince = nil
            return
        }
        let overdueSince = start.overdueSince ?? now
        asked.start?.overdueSince = overdueSince
        guard now - overdueSince > Self.timeGrace else { return }
        asked.start = nil
        add(.timesAreKept, "nothing was decided of a start that was due \(now - overdueSince) ago", at: now, &report)
    }

    /// Something was decided because of the time.
    ///
    /// - Parameters:
    ///   - open: the headset's recordings that are open now.
    ///   - bootBegan: when the host's boottime was 0.
    mutating func decided(
        _ decision: TimedDecision, headset: Int, open: [OpenRecording], bootBegan: MonotonicTime, at now: MonotonicTime,
        _ report: inout RehearsalReport
    ) {
        switch decision {
        case .end(let recording):
            if let end = asked.ends.removeValue(forKey: recording), now < end {
                add(.timesAreKept, "recording \(recording.rawValue) ended \(end - now) too early", at: now, &report)
            }
            stopRequested(recording)
        case .start(let schedule, let due, let until):
            if schedule == asked.start?.schedule { asked.start = nil }
            if asked.latestWall < due - Self.wallGraceSeconds {
                add(.timesAreKept, "a start was decided of \(due - asked.latestWall) s too early", at: now, &report)
            }
            // One that was about to end has made room for it.
            for known in headsetOfRecording.filter({ $0.value == headset }).keys
            where !open.contains(where: { $0.recording == known && $0.isWanted }) {
                asked.ends[known] = nil
                stopRequested(known)
            }
            for begun in open where begun.isWanted && headsetOfRecording[begun.recording] == nil {
                began(begun.recording, headset: headset, at: now)
                asked.ends[begun.recording] = until + (bootBegan - .boot)
            }
        case .miss(let schedule, _): if schedule == asked.start?.schedule { asked.start = nil }
        }
    }
}
