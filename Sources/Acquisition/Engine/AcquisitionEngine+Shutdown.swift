import Bluetooth
import Reconnection
import Storage

/// How it stands with the end of the process.
struct Shutdown {
    enum Checkpoint { case owed, underWay, done }

    var isRequested = false
    /// Until when links stay open while what was written comes into the database file; nil before.
    var preparedUntil: MonotonicTime?
    /// How far that is.
    var checkpoint = Checkpoint.owed
    var hasBegun = false
    /// True once nothing more is to be done.
    var isOver = false
}

/// An orderly end of the process: links are closed, what is buffered is written, recordings stay open.
extension AcquisitionEngine {
    func beginShutdown(at now: MonotonicTime) {
        guard shutdown.isRequested, !shutdown.hasBegun, isPreparedForShutdown(at: now) else { return }
        shutdown.hasBegun = true
        timers[.shutdown] = now + limits.shutdownLimit
        // Nothing more is begun: a clock that steps each second would be written for ever.
        for timer in [Timer.wishes, .clock, .alive, .trim, .spool] { timers[timer] = nil }
        for acquisition in acquisitions where !acquisition.isStopped { acquisition.handle(.stop(.shutdown), at: now) }
        settle(at: now)
    }

    /// Whoever closes a database brings its log into it, which takes most of the time of an end, and is time in which nobody
    /// records. So that is done while samples still come, and little is left for the close.
    private func isPreparedForShutdown(at now: MonotonicTime) -> Bool {
        let end = shutdown.preparedUntil ?? now + limits.checkpointLimit
        if shutdown.preparedUntil == nil {
            guard acquisitions.contains(where: { $0.phase == .streaming }) else { return true }
            shutdown.preparedUntil = end
            timers[.shutdown] = end
            commit(at: now, isForced: true)
        }
        if shutdown.checkpoint == .done || now >= end || commits.problem != nil || commits.failure != nil { return true }
        // What is buffered comes into the file, too.
        if shutdown.checkpoint == .owed, commits.underWay == nil {
            shutdown.checkpoint = .underWay
            emit(.checkpoint)
        }
        return false
    }

    /// Writes what is left, once links are closed or were waited for long enough.
    func finish(at now: MonotonicTime) {
        guard shutdown.hasBegun else { return }
        if timers[.shutdown].map({ $0 <= now }) ?? false { timers[.shutdown] = nil }
        guard isIdle || timers[.shutdown] == nil else { return }
        if commits.failure == nil {
            history.recordEnd(at: now)
            commit(at: now, isForced: true)
            guard commits.underWay == nil else { return }
        }
        shutdown.isOver = true
        timers = EngineTimers()
        emit(.finished(commits.failure))
    }
}
