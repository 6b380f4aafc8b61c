import Acquisition
import Bluetooth
import BluetoothManagement
import Foundation
import Storage

/// The link to a headset that a command asks something of: that of a running daemon, asked through its database, or one of
/// this process's own, with a database in memory, which is the same from there on.
final class HeadsetSession: Sendable {
    /// The database through which the headset is asked.
    let store: ControlStore
    /// The model of the headset.
    let model: String
    /// The acquiring process; nil for this one.
    let daemonPid: Int32?
    private let headset: String
    private let service: AcquisitionService?
    /// Has the daemon write each second what is asked for: whoever adjusts an electrode or looks at packets sees at once what
    /// happens, and what is to end ends.
    private let follower: Follower?

    /// Asks the daemon where one runs on the database, or else connects to the headset as the configuration says.
    ///
    /// - Parameter consequence: what did not happen where there is no link.
    /// - Throws: ``Failure`` where nobody could have a link.
    convenience init(of headset: String, _ options: DatabaseOptions, consequence: String) throws {
        if let path = try? options.databasePath(), let pid = DaemonPresence.pid(database: path) {
            let follower = Follower(database: path)
            try self.init(askingDaemon: pid, try options.openForControl(), follower, headset: headset, consequence)
        } else {
            try self.init(connectingTo: headset, try options.configuration(), file: options.configurationPath, consequence)
        }
    }

    /// Asks the daemon that acquires into `store`; only where it records the headset, it has a link.
    private init(
        askingDaemon pid: Int32, _ store: ControlStore, _ follower: Follower?, headset: String, _ consequence: String
    ) throws {
        if try store.pause() != nil { throw Self.pausedFailure(consequence: consequence) }
        guard let open = try store.openRecordings().first(where: { $0.headsetName == headset && $0.isWanted }) else {
            throw Failure(
                problem: "eegsync run (pid \(pid)) has the radio, and does not record \(headset).",
                consequence: consequence, remedy: "let it record: eegsync record start \(headset).", code: .noInput)
        }
        self.store = store
        self.headset = headset
        model = open.model
        daemonPid = pid
        service = nil
        self.follower = follower
    }

    /// Connects to a configured headset by itself; nothing is stored.
    private init(connectingTo headset: String, _ configuration: Configuration, file: String, _ consequence: String) throws {
        guard let known = configuration.headsets.first(where: { $0.name == headset }) else {
            throw Failure(
                problem: "the configuration \(file) names no headset \(headset), only "
                    + configuration.headsets.map(\.name).joined(separator: ", ") + ".",
                consequence: consequence, remedy: "check the spelling, or add the headset to the configuration.",
                code: .noInput)
        }
        let lock = AdapterLock(respect: .everybody)
        if configuration.central.usesRadio, let (adapter, holder) = lock.obstacle(to: configuration.central.adapterName) {
            throw Failure(
                problem: "another eegsync (pid \(holder.pid)) has the adapter \(adapter).", consequence: consequence,
                remedy: "ask that one, with the --config or --database that it has, or end it: systemctl stop eegsync.",
                code: .unavailable)
        }
        let acquisition = try AcquisitionStore.inMemory(hostBoot: try HostBoot.current())
        store = acquisition.control
        try store.noteClockOffset(HostClock.offset())
        try store.startRecording(headset: headset, model: known.model, at: HostClock.now)
        self.headset = headset
        model = known.model
        daemonPid = nil
        follower = nil
        let settings = AcquisitionService.Settings(
            headsets: configuration.knownHeadsets, seed: UInt64.random(in: .min ... .max), readClock: { HostClock.offset() })
        service = AcquisitionService(
            store: acquisition, settings: settings,
            makeCentral: { configuration.makeCentral(watch: $0, lock: AdapterLock(respect: .everybody)) },
            // Nothing survives this process, so a headset with a memory is never allowed to forget.
            tasks: StorageTasks(
                acquisition, synchronise: { (_) throws(StorageError) in throw .readOnly(detail: "a database in memory") }))
    }

    private static func pausedFailure(consequence: String) -> Failure {
        Failure(
            problem: "eegsync is paused: it has no link to any headset.", consequence: consequence,
            remedy: "end the pause: eegsync resume.", code: .unavailable)
    }

    /// What a command that got nothing says: what the headset does or waits for at present.
    func failure(_ problem: String, consequence: String) -> Failure {
        // It may have begun meanwhile.
        if (try? store.pause()) != nil { return Self.pausedFailure(consequence: consequence) }
        let activity = try? store.headsets(at: HostClock.now).first { $0.name == headset }
        let situation = activity.map { HeadsetSituation($0, isDaemonRunning: true, isConfigured: true) }
        return Failure(
            problem: problem + (situation.map { "; it \($0.sentence)" } ?? "") + ".", consequence: consequence,
            remedy: situation?.severity == .waiting
                ? (situation?.remedy ?? "see `eegsync doctor`") + "."
                : "switch the headset on and bring it within reach; `eegsync status` and `eegsync scan` show more.",
            code: .unavailable)
    }

    /// Acquires while `body` runs, where this process has to.
    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        guard let service else { return try await body() }
        async let acquisition: Void = service.run()
        // Whoever does not read the reports loses them: they are bounded.
        let result: Result<Value, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await service.shutDown()
        try await acquisition
        return try result.get()
    }
}
