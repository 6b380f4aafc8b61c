import Acquisition
import Bluetooth
import BluetoothManagement
import Foundation
import Logging
import ServiceLifecycle
import Storage
import Synchronization

/// The acquisition as a service of the process: opens the database, runs, logs, and notifies the service manager.
final class Daemon: Service {
    /// How often a database that cannot be opened yet is tried again.
    private static let waitInterval = Duration.seconds(1)

    private let configuration: Configuration
    private let choice: CentralChoice
    private let log: DaemonLog
    private let state: Mutex<State>

    private struct State {
        var headsets: [KnownHeadset]
        var service: AcquisitionService?
        var isReady = false
        var status = "starting"
        /// What is said instead, for as long as it lasts.
        var alarm: String?
    }

    /// Creates the service.
    ///
    /// - Parameter choice: the way to the headsets, which stays as long as the process runs.
    init(configuration: Configuration, choice: CentralChoice, log: DaemonLog) {
        self.configuration = configuration.reaching(headsetsThrough: choice)
        self.choice = choice
        self.log = log
        state = Mutex(State(headsets: configuration.knownHeadsets))
    }

    /// Runs until a signal ends it, or until the database fails in a way that only a person can mend.
    func run() async throws {
        log.log(
            .info, "eegsync \(Eegsync.version) starts",
            ["database": "\(configuration.databasePath)", "central": "\(configuration.central.kind)", "pid": "\(getpid())"])
        logChoice()
        let store: AcquisitionStore
        do {
            store = try await cancelWhenGracefulShutdown { try await self.openStore() }
            try await cancelWhenGracefulShutdown { try await self.backOff(store) }
        } catch is CancellationError {
            return stopped()
        }
        noteMachine(store)
        if let path = store.path, let written = DiskWrites(path: path, files: SystemFiles()) {
            try? store.noteDiskStart(written.record(at: HostClock.now))
        }
        let writes = DeferredWrites(store: store)
        let writing = Task { await writes.run() }
        let watching = Task { await self.watchWriteAheadLog(of: store) }
        let file = DatabaseFileWatch(store: store, namedPath: configuration.databasePath, log: log) { self.setAlarm($0) }
        let watchingFile = Task { await file.run() }
        let settling = Task { await DaemonStart.settle(writes) }
        let releasing = Task { await ProgramText.releaseNowAndThen() }
        defer {
            releasing.cancel()
            watching.cancel()
            watchingFile.cancel()
            settling.cancel()
        }
        let service = makeService(store, KeptLinks(store: store, writes: writes, log: log))
        let reports = Task { await self.follow(service.reports) }
        try await withGracefulShutdownHandler {
            ready("looking at what is wanted")
            do {
                try await service.run()
            } catch {
                ServiceNotification.stopping()
                await reports.value
                log.log(.critical, "\(error)")
                file.rescue()
                throw error
            }
            await reports.value
            writes.finish()
            await writing.value
        } onGracefulShutdown: {
            self.log.log(.info, "ending in order")
            ServiceNotification.stopping()
            Task { await service.shutDown() }
        }
        try? store.noteSettled()
        file.rescue()
        try store.close()
        stopped()
    }

    /// Says a sentence instead of what else is to be said, or no more.
    private func setAlarm(_ sentence: String?) {
        let text = state.withLock { state in
            state.alarm = sentence
            return sentence ?? state.status
        }
        ServiceNotification.status(text)
    }

    private func logChoice() {
        if let sentence = configuration.alertsSentence { log.log(.error, sentence) }
        log.log(.info, choice.sentence)
        for problem in configuration.passkeyProblems { log.log(.warning, "\(problem)") }
        if let obstacle = choice.obstacle { log.log(.warning, "\(obstacle)") }
        let isNetworkAdministrator = SystemFiles().hasNetworkAdministration(pid: "self") ?? false
        guard let lack = choice.lack(isNetworkAdministrator: isNetworkAdministrator) else { return }
        if case .kernel = choice.central { log.log(.error, lack) } else { log.log(.warning, lack) }
    }

    /// Notifies the service manager that the configuration is in use (again).
    func ready(_ status: String? = nil) {
        let text = state.withLock { state in
            state.isReady = true
            if let status { state.status = status }
            return state.alarm ?? state.status
        }
        ServiceNotification.ready(status: text)
    }

    /// Replaces the headsets that may be recorded.
    func setHeadsets(_ headsets: [KnownHeadset]) async {
        let service = state.withLock { state in
            state.headsets = headsets
            return state.service
        }
        await service?.setHeadsets(headsets)
    }

    private func stopped() {
        ServiceNotification.stopping()
        log.log(.info, "ended in order; recordings stay open")
    }

    // MARK: The database

    /// Opens the database; waits for it where time may bring it (a disk that is not mounted yet, a full one).
    private func openStore() async throws -> AcquisitionStore {
        let options = StoreOptions(
            isFullySynchronous: configuration.limits.synchronous == .full,
            spoolPath: configuration.limits.usesSpool ? SpoolLocation.path(of: configuration.databasePath) : nil)
        let update = DaemonStart.schemaProgress(log)
        var logged: String?
        while true {
            do {
                let store = try AcquisitionStore(
                    path: configuration.databasePath, hostBoot: try HostBoot.current(), options: options, progress: update)
                report(store)
                return store
            } catch {
                guard error.isWorthWaiting else { throw error }
                if logged != "\(error)" { log.log(.warning, "\(error)") }
                logged = "\(error)"
                ready("waiting for the database: \(error)")
            }
            // The service manager counts from READY on; nobody else pings for us yet.
            ServiceNotification.watchdog()
            try await Task.sleep(for: Self.waitInterval)
        }
    }

    /// What an earlier process had left, and what hinders this one.
    private func report(_ store: AcquisitionStore) {
        if let recovered = store.recoveredSpool {
            let rows = Quantity.count(Int64(recovered.rowCount), "row")
            log.log(.notice, "\(rows) that an earlier process had not committed yet were in its spool, and are stored now")
            if let problem = recovered.problem {
                log.log(.error, "some of what was in the spool was refused, and is kept beside the database: \(problem)")
            }
        }
        if let problem = store.spoolProblem { log.log(.warning, "\(problem)") }
        for trigger in store.removedTriggers {
            log.log(
                .warning,
                "the trigger \(trigger.name.printable) of another program was removed from the database: nothing but "
                    + "eegsync's own SQL runs while it records", ["table": "\(trigger.table)", "sql": "\(trigger.sql)"])
        }
    }

    /// Notes on which machine the database is, and says so where it came from another one. A full disk keeps no note.
    private func noteMachine(_ store: AcquisitionStore) {
        guard let machine = MachineIdentity.current(), (try? store.control.note(machine, at: HostClock.now)) == true,
            let situation = try? MachineSituation(store)
        else { return }
        log.log(
            .warning, "\(situation.sentence). You can: \(situation.remedy)",
            ["machine": "\(situation.machine)", "former": "\(situation.former)"])
    }

    /// Says how the process before this one died, and waits where several have died early.
    private func backOff(_ store: AcquisitionStore) async throws {
        let start = DaemonStart(store: store, isService: ServiceNotification.isService())
        for line in start.lines { log.log(line.level, line.sentence, line.metadata) }
        guard let sentence = start.pauseSentence else { return }
        ready(sentence)
        let end = HostClock.now + start.pause
        do {
            while HostClock.now < end {
                ServiceNotification.watchdog()
                try await Task.sleep(for: min(Self.waitInterval, end - HostClock.now))
            }
        } catch {
            // Somebody ended it in order while it waited: the next start is a person's.
            try? store.noteSettled()
            throw error
        }
    }

    /// Looks from time to time whether somebody's transaction keeps the write-ahead log from beginning anew.
    private func watchWriteAheadLog(of store: AcquisitionStore) async {
        let inspection = WriteAheadLogInspection(files: SystemFiles())
        var watch = WriteAheadLogWatch()
        while !Task.isCancelled {
            switch watch.take(inspection.grownLog(of: store), at: HostClock.now) {
            case .grown(let grown)?:
                log.log(
                    .warning, "\(grown.sentence). You can: \(grown.remedy)",
                    ["bytes": "\(grown.bytes)", "pids": "\(grown.holders.map { "\($0.pid)" }.joined(separator: " "))"])
            case .shrunk?: log.log(.notice, "the write-ahead log has begun anew")
            case nil: break
            }
            try? await Task.sleep(for: WriteAheadLogWatch.interval)
        }
    }

    private func makeService(_ store: AcquisitionStore, _ kept: KeptLinks) -> AcquisitionService {
        let configuration = configuration
        var settings = AcquisitionService.Settings(
            headsets: [], seed: UInt64.random(in: .min ... .max), readClock: { HostClock.offset() })
        settings.process = ProcessIdentity(version: Eegsync.version, pid: getpid())
        settings.utcOffset = ZoneDatabase.utcOffset
        settings.hostFacts = Self.hostFacts(choice)
        settings.tap = makeTap()
        settings.limits.historyAge = configuration.limits.historyAge
        settings.limits.commitInterval = configuration.limits.commitInterval
        if configuration.limits.usesSpool {
            let spoolInterval = Configuration.Limits.spoolInterval
            if store.hasSpool {
                settings.limits.spoolInterval = spoolInterval
            } else {
                settings.limits.commitInterval = spoolInterval
            }
        }
        settings.limits.rowLimit = configuration.limits.bufferRows
        settings.limits.heartbeatInterval = ServiceNotification.watchdogInterval
        if settings.limits.heartbeatInterval != nil { settings.beat = Self.makeHeartbeat() }
        return state.withLock { state in
            settings.headsets = state.headsets
            let service = AcquisitionService(
                store: store, settings: settings,
                makeCentral: { watch in
                    configuration.makeCentral(
                        watch: watch, power: kept.adapterPower(), maps: kept.handleMaps(),
                        bonds: kept.bonds(forgetsLostKeys: configuration.forgetsLostKeys),
                        lock: AdapterLock(respect: .administrators))
                })
            state.service = service
            return service
        }
    }

    /// Where other programs read along. Without it nothing is lost that is recorded.
    private func makeTap() -> TapServer? {
        do throws(TapServerError) {
            return try TapServer(path: TapLocation.path(of: configuration.databasePath))
        } catch {
            log.log(.warning, "no program can read along: \(error)")
            return nil
        }
    }

    /// What all links are made with.
    private static func hostFacts(_ choice: CentralChoice) -> LinkFacts {
        var facts = LinkFacts()
        facts.eegsync = Eegsync.version
        facts.kernel = SystemFiles().text("/proc/sys/kernel/osrelease")?.trimmingCharacters(in: .whitespacesAndNewlines)
        facts.adapter = choice.central.adapterName
        switch choice.central {
        case .bluez:
            facts.route = "bluetoothd"
            facts.bluetoothd = BluetoothdInspection(files: SystemFiles()).version
        case .kernel: facts.route = "kernel"
        case .simulation: facts.route = "simulation"
        case .automatic: break
        }
        return facts
    }

    /// What the poll thread calls to show that it is alive. It only leaves a note: where the service manager is slow, its
    /// socket is full and makes the sender wait, which must not be the thread that takes time stamps.
    private static func makeHeartbeat() -> @Sendable () -> Void {
        let (beats, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        Task {
            for await _ in beats { ServiceNotification.watchdog() }
        }
        return { continuation.yield() }
    }

    // MARK: Reports

    private func follow(_ reports: AsyncStream<AcquisitionReport>) async {
        for await report in reports {
            log.log(report)
            guard case .summary(let text) = report else { continue }
            let said = state.withLock { state in
                state.status = text
                return state.alarm ?? text
            }
            ServiceNotification.status(said)
        }
    }
}

extension StorageError {
    /// True where the database may well be there in a moment: its disk is mounted, room is made, a program lets go.
    fileprivate var isWorthWaiting: Bool {
        switch self {
        case .directoryMissing, .diskFull, .busy: true
        default: false
        }
    }
}
