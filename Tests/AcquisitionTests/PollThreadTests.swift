import Bluetooth
import CLinux
import Glibc
import Synchronization
import Testing

@testable import Acquisition

/// An actor that lives on a poll thread.
private actor Resident {
    let thread: PollThread
    private(set) var turns = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: PollThread) { self.thread = thread }

    func identity() -> UInt {
        preconditionIsolated()
        thread.checkIsolated()
        return UInt(pthread_self())
    }

    func countTurn() { turns += 1 }
}

/// The thread that is an executor.
@Suite(.timeLimit(.minutes(3))) struct PollThreadTests {
    @Test func allWorkOfAnActorIsDoneOnTheOneThread() async {
        let resident = Resident(PollThread(name: "test"))
        let first = await resident.identity()
        var others: Set<UInt> = []
        await withTaskGroup(of: UInt.self) { group in
            for _ in 0..<100 { group.addTask { await resident.identity() } }
            for await identity in group { others.insert(identity) }
        }
        #expect(others == [first])
        #expect(UInt(pthread_self()) != first)
    }

    @Test func aTurnIsIsolatedToTheActor() async {
        let thread = PollThread(name: "test")
        let resident = Resident(thread)
        // Stops the process where it is wrong.
        await withCheckedContinuation { continuation in
            let isDone = Atomic(false)
            thread.setTurn { _ in
                resident.assumeIsolated { resident in
                    resident.preconditionIsolated()
                    resident.countTurn()
                }
                if !isDone.exchange(true, ordering: .relaxed) { continuation.resume() }
                return nil
            }
        }
        #expect(await resident.turns >= 1)
        #expect(thread.isIsolatingCurrentContext() == false)
        thread.setTurn(nil)
    }

    @Test func aCallFromAnotherThreadIsSeen() async {
        await #expect(processExitsWith: .failure) {
            PollThread(name: "test").checkIsolated()
        }
    }

    @Test func aDeadlineWakesTheThreadAndNotBefore() async {
        let thread = PollThread(name: "test")
        let deadline = Mutex<MonotonicTime?>(nil)
        let woken: (due: MonotonicTime, at: MonotonicTime) = await withCheckedContinuation { continuation in
            let isDone = Atomic(false)
            thread.setTurn { now in
                let due = deadline.withLock { due in
                    if due == nil { due = now + .milliseconds(20) }
                    return due ?? now
                }
                guard now >= due else { return due }
                if !isDone.exchange(true, ordering: .relaxed) { continuation.resume(returning: (due, now)) }
                return nil
            }
        }
        #expect(woken.at >= woken.due)
        thread.setTurn(nil)
    }

    @Test func aReadableDescriptorWakesTheThread() async {
        let descriptor = clinux_eventfd()
        defer { close(descriptor) }
        let thread = PollThread(name: "test")
        await withCheckedContinuation { continuation in
            let isDone = Atomic(false)
            // Readable only once the first turn, which asks for no other, is over.
            let turns = Atomic(0)
            thread.setTurn { _ in
                var counter: UInt64 = 0
                let isReadable = read(descriptor, &counter, 8) == 8
                if isReadable, !isDone.exchange(true, ordering: .relaxed) { continuation.resume() }
                if turns.add(1, ordering: .relaxed).oldValue == 0 { _ = clinux_eventfd_signal(descriptor) }
                return nil
            }
            thread.watch(descriptor)
        }
        thread.unwatch(descriptor)
        thread.setTurn(nil)
    }
}
