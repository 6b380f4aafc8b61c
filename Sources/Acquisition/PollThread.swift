package import Bluetooth
import CLinux
import Glibc
import Synchronization

/// One thread that owns a poll(2) loop: over file descriptors, over work that actors enqueue, and over the next deadline.
///
/// It is the executor of the actor that acquires. A dispatch source or an `AsyncStream` between the descriptor and the actor
/// would cost several times the processor and a late time stamp; here the thread that poll(2) wakes is the actor's own.
/// Deadlines are instants of `CLOCK_BOOTTIME`, which goes on while the machine is suspended, hence a timerfd(2) and no timeout.
package final class PollThread: SerialExecutor {
    private let loop: PollLoop

    /// Starts the thread. It ends when the last reference to this object is gone.
    ///
    /// - Parameter name: what `ps -L` and debuggers show; at most 15 bytes.
    package init(name: String) {
        loop = PollLoop(name: name)
        loop.state.withLock { $0.executor = self }
        loop.start()
    }

    deinit { loop.stop() }

    /// Runs a job on the thread as soon as what it does now is done.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.state.withLock { $0.jobs.append(job) }
        loop.wake()
    }

    /// Stops the process where the caller is not on the thread.
    package func checkIsolated() {
        precondition(loop.isCurrent, "not on the poll thread")
    }

    /// Whether the caller is on the thread.
    package func isIsolatingCurrentContext() -> Bool? { loop.isCurrent }

    /// What is done after each wake-up, once the enqueued work is done; it returns when it wants to be called next at the
    /// latest. Nil for nothing.
    package func setTurn(_ turn: (@Sendable (_ now: MonotonicTime) -> MonotonicTime?)?) {
        loop.state.withLock { $0.turn = turn }
        loop.wake()
    }

    /// Takes a turn soon. May be called from any thread.
    package func wake() { loop.wake() }

    /// Takes a turn also whenever the descriptor can be read. The turn must read it, or it is woken again at once.
    package func watch(_ descriptor: Int32) {
        loop.state.withLock { $0.watched.append(descriptor) }
        loop.wake()
    }

    /// This thread as a central knows it.
    package var descriptorWatch: DescriptorWatch {
        DescriptorWatch(watch: { [weak self] in self?.watch($0) }, unwatch: { [weak self] in self?.unwatch($0) })
    }

    /// Undoes ``watch(_:)``; to be called before the descriptor is closed.
    package func unwatch(_ descriptor: Int32) {
        loop.state.withLock { state in state.watched.removeAll { $0 == descriptor } }
        loop.wake()
    }
}

/// What the thread itself holds, so that it does not keep its executor alive.
private final class PollLoop: Sendable {
    struct State {
        weak var executor: PollThread?
        var jobs: [UnownedJob] = []
        var turn: (@Sendable (MonotonicTime) -> MonotonicTime?)?
        var watched: [Int32] = []
        var isStopped = false
    }

    let state = Mutex(State())
    private let name: String
    private let wakeUp: Int32
    private let timer: Int32
    /// The thread's own identifier; 0 before it runs.
    private let thread = Atomic<UInt>(0)

    init(name: String) {
        self.name = name
        wakeUp = clinux_eventfd()
        timer = clinux_timerfd()
        precondition(wakeUp >= 0 && timer >= 0, "no file descriptor is left for the poll thread")
    }

    deinit {
        close(wakeUp)
        close(timer)
    }

    var isCurrent: Bool { thread.load(ordering: .acquiring) == UInt(pthread_self()) }

    func wake() { _ = clinux_eventfd_signal(wakeUp) }

    func stop() {
        state.withLock { $0.isStopped = true }
        wake()
    }

    func start() {
        var identifier = pthread_t()
        let context = Unmanaged.passRetained(self)
        // `@Sendable`: a closure written in an isolated context would inherit that isolation and stop the process here.
        let code = pthread_create(
            &identifier, nil,
            { @Sendable context in
                // The thread was given one retained reference, and takes it.
                guard let context else { return nil }
                Unmanaged<PollLoop>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        precondition(code == 0, "the poll thread cannot be started: \(String(cString: strerror(code)))")
        pthread_detach(identifier)
    }

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        clinux_name_thread(name)
        var descriptors: [pollfd] = []
        // What need not be said to the kernel again: these are most of the turns of a headset that streams.
        var isAwoken = true
        var armed: Int64?
        while true {
            // Cleared before the work is taken: what is enqueued later makes it readable again.
            if isAwoken { _ = clinux_eventfd_clear(wakeUp) }
            runJobs()
            let (turn, watched, isStopped) = state.withLock { ($0.turn, $0.watched, $0.isStopped) }
            if isStopped { return }
            let deadline = turn?(MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()))
            let due = deadline.map { max(0, $0.nanoseconds) } ?? -1
            if armed != due { _ = clinux_timerfd_arm(timer, due) }
            descriptors.removeAll(keepingCapacity: true)
            descriptors.append(pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0))
            descriptors.append(pollfd(fd: timer, events: Int16(POLLIN), revents: 0))
            for descriptor in watched { descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
            // An interrupted call is a wake-up like any other.
            poll(&descriptors, nfds_t(descriptors.count), -1)
            isAwoken = descriptors[0].revents != 0
            // A timer that has fired stays readable until it is armed again.
            armed = descriptors[1].revents == 0 ? due : nil
        }
    }

    private func runJobs() {
        while true {
            let (jobs, executor) = state.withLock { state in
                defer { state.jobs.removeAll() }
                return (state.jobs, state.executor)
            }
            guard !jobs.isEmpty, let executor else { return }
            for job in jobs { job.runSynchronously(on: executor.asUnownedSerialExecutor()) }
        }
    }
}
