import Acquisition
import Bluetooth
import Storage
import Synchronization

/// How much room the rehearsed disk has: enough, or less than what is to be kept free.
final class RehearsedRoom: Sendable {
    private let isShort = Mutex(false)

    /// True where the store finds less than what is to be kept free.
    var isKeptFree: Bool { isShort.withLock { $0 } }

    func setShort(_ value: Bool) { isShort.withLock { $0 = value } }

    /// Of a disk of 64 GB, half of it or 150 MB are free.
    var reserve: DiskReserve {
        DiskReserve { [self] _ in
            DiskRoom(freeBytes: isKeptFree ? 150_000_000 : 32_000_000_000, totalBytes: 64_000_000_000)
        }
    }
}

/// The disk of the rehearsed daemon: how long it takes, and what it refuses until when.
struct RehearsedDisk {
    /// How long a commit takes where nothing is wrong.
    let commitDuration: Duration
    var commitDelayUntil = MonotonicTime.boot
    var diskFullUntil = MonotonicTime.boot
    /// Until when what is free is to be kept free.
    var shortUntil = MonotonicTime.boot
    let room = RehearsedRoom()
    private var fullCount = 0
    var busyUntil = MonotonicTime.boot
    var flushRefusedUntil = MonotonicTime.boot

    init(commitDuration: Duration) {
        self.commitDuration = commitDuration
    }

    /// Nothing is wrong with it any more.
    mutating func endFaults(at now: MonotonicTime) {
        commitDelayUntil = min(commitDelayUntil, now)
        diskFullUntil = min(diskFullUntil, now)
        shortUntil = min(shortUntil, now)
        busyUntil = min(busyUntil, now)
        flushRefusedUntil = min(flushRefusedUntil, now)
    }

    /// No room is left, for a time; each second time it is the store that leaves the last of the disk free.
    mutating func fill(until end: MonotonicTime) {
        fullCount += 1
        if fullCount.isMultiple(of: 2) { shortUntil = max(shortUntil, end) } else { diskFullUntil = max(diskFullUntil, end) }
    }

    /// True while it takes what is written, without delay.
    func takesAll(at now: MonotonicTime) -> Bool {
        [commitDelayUntil, diskFullUntil, shortUntil, busyUntil, flushRefusedUntil].allSatisfy { $0 <= now }
    }

    /// True of a refusal by which the store leaves the last of the disk free, which it was shown to be short of.
    func spares(_ error: StorageError) -> Bool {
        guard case .diskFull = error else { return false }
        return room.isKeptFree
    }

    func conduct(_ effect: EngineEffect, at now: MonotonicTime) -> VirtualDriver.TaskConduct {
        room.setShort(shortUntil > now)
        switch effect {
        case .commit, .commitByHeadset, .flush, .checkpoint:
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
