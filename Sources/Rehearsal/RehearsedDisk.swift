import Acquisition
import Bluetooth
import Storage

/// The disk of the rehearsed daemon: how long it takes, and what it refuses until when.
struct RehearsedDisk {
    /// How long a commit takes where nothing is wrong.
    let commitDuration: Duration
    var commitDelayUntil = MonotonicTime.boot
    var diskFullUntil = MonotonicTime.boot
    var busyUntil = MonotonicTime.boot
    var flushRefusedUntil = MonotonicTime.boot

    init(commitDuration: Duration) {
        self.commitDuration = commitDuration
    }

    /// Nothing is wrong with it any more.
    mutating func endFaults(at now: MonotonicTime) {
        commitDelayUntil = min(commitDelayUntil, now)
        diskFullUntil = min(diskFullUntil, now)
        busyUntil = min(busyUntil, now)
        flushRefusedUntil = min(flushRefusedUntil, now)
    }

    func conduct(_ effect: EngineEffect, at now: MonotonicTime) -> VirtualDriver.TaskConduct {
        switch effect {
        case .commit, .commitByHeadset, .flush:
            let slow = min(commitDelayUntil, now + .seconds(10)) - now
            return VirtualDriver.TaskConduct(duration: max(commitDuration, slow), error: refusal(of: effect, at: now))
        default: return VirtualDriver.TaskConduct(duration: .milliseconds(1))
        }
    }

    private func refusal(of effect: EngineEffect, at now: MonotonicTime) -> StorageError? {
        if diskFullUntil > now { return .diskFull(detail: "rehearsed") }
        if case .flush = effect { return flushRefusedUntil > now ? .sqlite(code: 1034, detail: "rehearsed") : nil }
        return busyUntil > now ? .busy(detail: "rehearsed") : nil
    }
}
