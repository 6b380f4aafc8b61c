import Acquisition
import Bluetooth
import CLinux
import Foundation
import Glibc
import Headsets
import Storage
import YAMLReading

/// Gathers the facts that ``Diagnosis`` judges.
struct HostInspection {
    var files = SystemFiles()
    let options: DatabaseOptions

    /// How long the adapter's side has to say who is connected.
    private static let centralLimit = Duration.seconds(2)

    func facts() -> HostFacts {
        var facts = HostFacts()
        let configuration = inspectConfiguration(&facts)
        facts.bluetooth = AdapterInspection(files: files).facts()
        facts.kernel = files.text("/proc/version").flatMap(SoftwareVersion.init(kernel:))
        facts.bluetoothd = BluetoothdInspection(files: files).facts()
        facts.uncountedHeadsets = (configuration?.headsets ?? []).filter(Self.sendsUncounted).map(\.name)
        // Whoever has no file yet gets what a file without a word about it gets.
        var central = configuration?.central
        if case .absent = facts.configuration { central = .automatic(Configuration.BlueZ(), Configuration.Kernel()) }
        if let central {
            facts.choice = CentralChoice(central, isBluetoothdRunning: facts.bluetoothd.pid != nil)
        }
        facts.clock = clock()
        let path = (try? options.databasePath()) ?? configuration?.databasePath
        let daemonPid = path.flatMap { DaemonPresence.pid(database: $0) }
        let (service, grants) = ServiceInspection(files: files).facts(daemonPid: daemonPid)
        facts.service = service
        facts.privilege.thisProcessMay = files.hasNetworkAdministration(pid: "self") ?? false
        facts.privilege.daemonMayLoadParameters =
            daemonPid.flatMap { files.hasNetworkAdministration(pid: "\($0)") } ?? grants
        if let path { inspectDatabase(path, configuration, &facts) }
        return facts
    }

    private func inspectConfiguration(_ facts: inout HostFacts) -> Configuration? {
        let path = options.configurationPath
        guard FileManager.default.fileExists(atPath: path) else {
            facts.configuration = .absent(path: path)
            return nil
        }
        do throws(ConfigurationError) {
            let configuration = try options.configuration()
            facts.configuration = .valid(
                path: path, central: configuration.central.kind,
                showsPasskeys: configuration.headsets.contains { $0.passkey != nil } && Self.isReadByOthers(path))
            facts.alertsProblem = configuration.alertsSentence
            return configuration
        } catch .wrong(_, let error) {
            facts.configuration = .wrong(path: path, problems: error.problems.map(\.description))
        } catch {
            facts.configuration = .wrong(path: path, problems: [Failure(error).problem])
        }
        return nil
    }

    private static func isReadByOthers(_ path: String) -> Bool {
        var file = stat()
        return stat(path, &file) == 0 && file.st_mode & S_IROTH != 0
    }

    private func clock() -> HostFacts.Clock {
        let flag = clinux_clock_is_synchronised()
        return HostFacts.Clock(
            isSynchronised: flag < 0 ? nil : flag == 1,
            hasBatteryClock: files.names(in: "/sys/class/rtc").contains { $0.hasPrefix("rtc") })
    }

    // MARK: The database

    private func inspectDatabase(_ path: String, _ configuration: Configuration?, _ facts: inout HostFacts) {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var database = HostFacts.Database(path: path)
        database.exists = FileManager.default.fileExists(atPath: path)
        database.isDirectoryThere = FileManager.default.fileExists(atPath: directory)
        database.isWritable = access(database.exists ? path : directory, W_OK) == 0
        var mode = stat()
        database.isWrittenByGroup = stat(directory, &mode) == 0 && mode.st_mode & S_IWGRP != 0
        database.medium = MediumInspection(files: files).medium(of: directory)
        let room = DiskRoom(of: directory)
        (database.freeBytes, database.reservedBytes) = (room?.freeBytes, room?.reserve ?? 0)
        database.rowsPerSecond = (configuration?.headsets ?? []).reduce(0) { $0 + Self.rowsPerSecond($1) }
        if database.exists {
            do {
                let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
                let rows = try store.recordings().reduce(0) { $0 + $1.rows }
                database.bytes = try store.size().bytes
                let others: Set<Int32> = [getpid(), facts.service.daemonPid ?? getpid()]
                database.grownLog = WriteAheadLogInspection(files: files, others: others).grownLog(of: store)
                // The same rule as `eegsync status`: measured where there is enough to measure.
                database.bytesPerRow = try store.bytesPerRow(rows: rows)
                facts.headsets = try headsets(store, configuration, facts)
                database.wear = try DiskWear(
                    store, isRunning: facts.service.daemonPid != nil, files: files, now: HostClock.now)
                database.machine = try MachineSituation(store)
                database.storing = try storing(store, configuration)
            } catch {
                database.openingError = Failure(error).problem
            }
        } else if LostDatabase.failure(at: path) != nil, let process = DaemonPresence.process(database: path) {
            var gone = StorageFacts(process: process)
            gone.isGone = true
            database.lost = StorageSituation(gone)
        }
        facts.database = database
    }

    /// Whether what is wanted is stored, by the same rule as `eegsync status`; nil where nothing streams that is.
    private func storing(_ store: ReadOnlyStore, _ configuration: Configuration?) throws -> HostFacts.Storing? {
        guard let process = store.path.flatMap({ DaemonPresence.process(database: $0) }) else { return nil }
        let named = configuration.flatMap { $0.names(store.path) ? $0 : nil }
        let inspection = StorageInspection(
            process: process, now: HostClock.now, commitInterval: named?.limits.commitInterval,
            spooled: try SpoolSign.latest(store))
        let activities = try store.headsets(at: inspection.now)
        if let situation = try inspection.situation(store, activities) { return .not(situation) }
        return activities.compactMap(inspection.newestRowSeconds).min().map { .isStored(newestRowSeconds: $0) }
    }

    /// The nominal rows a second of a headset: one for each sample and bank. A model that describes itself counts as one
    /// stream of 250 Hz.
    static func rowsPerSecond(_ headset: Configuration.Headset) -> Double {
        let streams = headset.profile?.streams ?? []
        return streams.isEmpty ? 250 : streams.reduce(0) { $0 + $1.samplingFrequency }
    }

    // MARK: Headsets

    /// Whether some of what a headset sends over Low Energy bears no count.
    static func sendsUncounted(_ headset: Configuration.Headset) -> Bool {
        guard let profile = headset.profile, !profile.usesSerialPort else { return false }
        return !profile.requiredCharacteristics.allSatisfy(profile.countedCharacteristics.contains)
    }

    private func headsets(
        _ store: ReadOnlyStore, _ configuration: Configuration?, _ facts: HostFacts
    ) throws -> [HostFacts.Headset] {
        let connected = connectedPeripherals(configuration, facts)
        let now = HostClock.now
        return try store.headsets(at: now).map { headset in
            var result = HostFacts.Headset(name: headset.name)
            inspectStreams(headset, at: now, isDaemonRunning: facts.service.daemonPid != nil, &result)
            result.isConnected = try store.identifiers(of: headset.id).contains { connected.contains($0) }
            result.isHeldByDaemon = facts.service.daemonPid != nil && Self.holdsLink(state: headset.state)
            return result
        }
    }

    /// What the daemon says of a headset that is wanted.
    private func inspectStreams(
        _ activity: HeadsetActivity, at now: MonotonicTime, isDaemonRunning: Bool, _ facts: inout HostFacts.Headset
    ) {
        let situation = HeadsetSituation(activity, isDaemonRunning: isDaemonRunning, isConfigured: nil)
        guard isDaemonRunning, activity.recording != nil, activity.isWanted else { return }
        if activity.state == ConnectionPhase.quarantined.rawValue {
            facts.quarantine = HostFacts.Quarantine(sentence: situation.sentence, remedy: situation.remedy ?? "")
        }
        guard situation.severity == .good, let entered = activity.stateEntered, entered.isSameHostBoot else { return }
        facts.timeWarnings = TimeSituation(activity, streamingSeconds: (now - entered.time).inSeconds).warnings
    }

    /// Whether the daemon has a link in a state of the database.
    static func holdsLink(state: String?) -> Bool {
        state.flatMap(ConnectionPhase.init(rawValue:))?.holdsLink ?? false
    }

    /// What is connected to this machine, by whomever.
    private func connectedPeripherals(_ configuration: Configuration?, _ facts: HostFacts) -> [PeripheralIdentifier] {
        guard let configuration, case .bluez? = facts.choice?.central, facts.bluetoothd.pid != nil else { return [] }
        let session = CentralSession { configuration.makeCentral(watch: $0, isAlone: false) }
        var connected: [PeripheralIdentifier]?
        var isAsked = false
        session.run(for: Self.centralLimit) { events, _ in
            for case .didRetrieveConnected(let identifiers, _) in events { connected = identifiers }
            if !isAsked, session.central.state == .poweredOn {
                isAsked = true
                session.central.request(
                    .retrieveConnectedPeripherals(
                        withServices: configuration.services, attempt: Attempt(number: 1)))
            }
            return connected != nil
        }
        return connected ?? []
    }
}
