import Bluetooth
import CLinux

/// Does what concerns the database on a thread of its own, one after the other, so that a slow disk delays no time stamp.
actor StorageWorker {
    private let thread = PollThread(name: "eegsync-write")
    private let tasks: StorageTasks

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ tasks: StorageTasks) { self.tasks = tasks }

    func perform(_ effect: EngineEffect) -> EngineEvent? {
        tasks.perform(effect, at: MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()))
    }
}
