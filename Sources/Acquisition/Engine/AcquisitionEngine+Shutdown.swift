import Bluetooth
import Reconnection
import Storage

/// How it stands with the end of the process.
struct Shutdown {
    var isRequested = false
    var hasBegun = false
    /// True once nothing more is to be done.
    var isOver = false
}

/// An orderly end of the process: links are closed, what is buffered is written, recordings stay open.
extension AcquisitionEngine {
    func beginShutdown(at now: MonotonicTime) {
        guard shutdown.isRequested, !shutdown.hasBegun else { return }
        shutdown.hasBegun = true
        timers[.shutdown] = now + limits.shutdownLimit
        // Nothing more is begun: a clock that steps each second would be written for ever.
        for timer in [Timer.wishes, .clock, .alive, .trim, .spool] { timers[timer] = nil }
        for acquisition in acquisitions where !acquisition.isStopped { acquisition.handle(.stop(.shutdown), at: now) }
        settle(at: now)
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
