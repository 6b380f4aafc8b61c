package import Bluetooth
import CLinux
package import Storage
import Tap

/// The live acquisition: performs what an ``AcquisitionEngine`` wants. The central and the engine are on the poll thread, the
/// database on another.
///
/// Nothing awaits between an event and its effects: the poll thread takes one synchronous iteration after each wake-up.
package actor AcquisitionService {
    /// What is acquired, and how.
    package struct Settings: Sendable {
        /// The headsets that may be recorded.
        package var headsets: [KnownHeadset]
        /// The bounds.
        package var limits = AcquisitionLimits()
        /// Of everything random.
        package var seed: UInt64
        /// As the history describes the process; nil for not.
        package var process: ProcessIdentity?
        /// What all links are made with: the program, the machine and the route to the radio.
        package var hostFacts = LinkFacts()
        /// Called on the poll thread at the engine's interval, for a watchdog.
        package var beat: @Sendable () -> Void = {}
        /// Of time zones, for recordings that begin at a time of the day; without it nothing but UTC is known.
        package var utcOffset: UTCOffset?
        /// Where programs beside the daemon read along; nil for nowhere.
        package var tap: TapServer?
        /// Reads the wall clock.
        package var readClock: @Sendable () -> ClockOffsetRecord

        /// Creates settings with the default limits.
        package init(headsets: [KnownHeadset], seed: UInt64, readClock: @escaping @Sendable () -> ClockOffsetRecord) {
            self.headsets = headsets
            self.seed = seed
            self.readClock = readClock
        }

        /// Finds the headset of a recording.
        var lookUp: HeadsetLookup { { [headsets] open in headsets.first { $0.matches(open) } } }
    }

    /// Reports that may wait for whoever logs.
    private static let reportLimit = 1_024

    /// What happens, for whoever logs. Ends with ``run()``.
    package nonisolated let reports: AsyncStream<AcquisitionReport>
    private let continuation: AsyncStream<AcquisitionReport>.Continuation
    private var droppedReports = 0

    private let thread = PollThread(name: "eegsync-poll")
    private let store: AcquisitionStore
    private let tasks: StorageTasks
    private let worker: StorageWorker
    private let makeCentral: @Sendable (DescriptorWatch) -> any Central
    private var settings: Settings
    private var central: (any Central)?
    private var engine: AcquisitionEngine?
    private var endIsRequested = false
    private var failure: StorageError?
    private var finished: CheckedContinuation<Void, Never>?

    /// The poll thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a service that does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - makeCentral: creates the central; called on the poll thread, which alone uses it.
    ///   - tasks: what is done with the database; the store's own by default.
    package init(
        store: AcquisitionStore, settings: Settings, makeCentral: @escaping @Sendable (DescriptorWatch) -> any Central,
        tasks: StorageTasks? = nil
    ) {
        self.store = store
        self.settings = settings
        self.makeCentral = makeCentral
        self.tasks = tasks ?? StorageTasks(store)
        worker = StorageWorker(self.tasks)
        (reports, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.reportLimit))
    }

    /// Acquires until ``shutDown()``, or until the database fails in a way that only a person can mend.
    ///
    /// - Throws: the error that ended it. Recordings stay open in every case.
    package func run() async throws(StorageError) {
        defer { continuation.finish() }
        engine = AcquisitionEngine(
            nextStreamID: try store.nextStreamID(), beginsAfterFailedWrites: store.hasUnstored, limits: settings.limits,
            seed: settings.seed, process: settings.process, hostFacts: settings.hostFacts,
            lookUp: settings.lookUp)
        if let utcOffset = settings.utcOffset { engine?.utcOffset = utcOffset }
        central = makeCentral(thread.descriptorWatch)
        if endIsRequested { handle(.shutDown) }
        settings.tap?.start { [weak thread] in thread?.wake() }
        defer { settings.tap?.stop() }
        thread.setTurn { [weak self] now in self?.assumeIsolated { $0.iterate(at: now) } ?? nil }
        await withCheckedContinuation { finished = $0 }
        thread.setTurn(nil)
        (engine, central) = (nil, nil)
        if let failure { throw failure }
    }

    /// Ends in order: links are closed, what is buffered is written, recordings stay open.
    package func shutDown() {
        endIsRequested = true
        store.endWaits(by: MonotonicTime(nanoseconds: clinux_boottime_nanoseconds()) + settings.limits.lockLimit)
        handle(.shutDown)
    }

    /// Replaces the headsets that may be recorded. One that is being recorded goes on until it is stopped.
    package func setHeadsets(_ headsets: [KnownHeadset]) {
        settings.headsets = headsets
        handle(.reloaded(settings.lookUp))
    }

    // MARK: The engine

    private func iterate(at now: MonotonicTime) -> MonotonicTime? {
        guard let central, let engine, finished != nil else { return nil }
        if let tap = settings.tap, tap.hasNews { take(tap.takeNews()) }
        perform(engine.handle(.central(central.process(at: now)), at: now), at: now)
        guard let first = engine.deadline, let second = central.deadline else { return engine.deadline ?? central.deadline }
        return min(first, second)
    }

    /// Hands an event to the engine; the poll thread takes an iteration afterwards.
    private func handle(_ event: EngineEvent) {
        let now = MonotonicTime(nanoseconds: clinux_boottime_nanoseconds())
        if let engine { perform(engine.handle(event, at: now), at: now) }
    }

    /// Readers of the tap have come or gone.
    private func take(_ news: [TapServer.News]) {
        for item in news {
            switch item {
            case .joined(let reader, let dropped): handle(.readerJoined(reader, droppedReaders: dropped))
            case .emptied: handle(.readersLeft)
            case .dropped(let count, let total): deliver(.readersDropped(count, total: total))
            }
        }
    }

    private func perform(_ effects: [EngineEffect], at now: MonotonicTime) {
        for effect in effects {
            switch effect {
            case .request(let request): central?.request(request)
            case .readClock: if let engine { perform(engine.handle(.clock(settings.readClock()), at: now), at: now) }
            case .report(let report): deliver(report)
            case .beat: settings.beat()
            case .tap(let messages): settings.tap?.publish(messages)
            case .greetReader(let reader, let messages): settings.tap?.greet(reader, with: messages)
            case .finished(let error):
                failure = error
                finished?.resume()
                finished = nil
            // Tasks begin in this order, and the worker's thread takes them in it.
            case .readWishes, .readMarks, .loadResumeState, .spool, .commit, .commitByHeadset, .flush, .noteUnstored,
                .trimHistory, .decide:
                Task { if let event = await worker.perform(effect) { handle(event) } }
            case .checkpoint: Task { if let event = await StorageWorker(tasks).perform(effect) { handle(event) } }
            }
        }
    }

    private func deliver(_ report: AcquisitionReport) {
        if droppedReports > 0, case .enqueued = continuation.yield(.reportsDropped(droppedReports)) { droppedReports = 0 }
        if case .dropped = continuation.yield(report) { droppedReports += 1 }
    }
}
