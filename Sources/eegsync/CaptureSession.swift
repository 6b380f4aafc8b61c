import Acquisition
import Bluetooth
import Foundation
import Storage

/// Where a capture comes from: a running daemon, asked through its database, or an acquisition of this process's own into a
/// database in memory, which is the same from there on.
final class CaptureSession: Sendable {
    /// The database through which the capture is asked for.
    let store: Store
    /// The acquiring process; nil for this one.
    let daemonPid: Int32?
    private let service: AcquisitionService?

    /// Asks the daemon that acquires into `store`.
    ///
    /// - Throws: ``Failure`` where it does not record the headset: only then it has a link to capture.
    init(askingDaemon pid: Int32, store: Store, headset: String) throws {
        guard try store.headsets(at: HostClock.now).contains(where: { $0.name == headset && $0.isWanted }) else {
            throw Failure(
                problem: "eegsync run (pid \(pid)) has the radio, and does not record \(headset).",
                consequence: "nothing was captured.", remedy: "let it record: eegsync record start \(headset).", code: .noInput)
        }
        self.store = store
        daemonPid = pid
        service = nil
    }

    /// Connects to a configured headset by itself; nothing is stored.
    ///
    /// - Throws: ``Failure`` where the configuration does not name the headset.
    init(connectingTo headset: String, _ configuration: Configuration, file: String) throws {
        guard let known = configuration.headsets.first(where: { $0.name == headset }) else {
            throw Failure(
                problem: "the configuration \(file) names no headset \(headset), only "
                    + configuration.headsets.map(\.name).joined(separator: ", ") + ".",
                consequence: "nothing was captured.", remedy: "check the spelling, or add the headset to the configuration.",
                code: .noInput)
        }
        let store = try Store.inMemory(hostBoot: try HostBoot.current())
        try store.noteClockOffset(HostClock.offset())
        try store.startRecording(headset: headset, model: known.model, at: HostClock.now)
        self.store = store
        daemonPid = nil
        let settings = AcquisitionService.Settings(
            headsets: configuration.knownHeadsets, seed: UInt64.random(in: .min ... .max), readClock: { HostClock.offset() })
        service = AcquisitionService(
            store: store, settings: settings, makeCentral: { configuration.makeCentral(watch: $0) },
            // Nothing survives this process, so a headset with a memory is never told that it may forget.
            synchronise: { () throws(StorageError) in throw .readOnly(detail: "a database in memory") })
    }

    /// Acquires while `body` runs, where this process has to.
    func run(_ body: () async throws -> Void) async throws {
        guard let service else { return try await body() }
        async let acquisition: Void = service.run()
        // Whoever does not read the reports loses them: they are bounded.
        let result: Result<Void, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        await service.shutDown()
        try await acquisition
        try result.get()
    }
}
