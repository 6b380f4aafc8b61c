import Acquisition
import Bluetooth
import BluetoothManagement
import Foundation
import Headsets
import Reconnection
import Storage
import Synchronization

/// The links to the headsets that are set up: acquired as the daemon does, into a database in memory that nobody keeps.
final class SetupLinks: Sendable {
    private let service: AcquisitionService
    private let store: ControlStore
    private let batches: ObservedBatches
    private let task: Task<Void, any Error>

    /// Names that no person sees.
    private static func name(_ index: Int) -> String { "setup-\(index + 1)" }

    /// Begins to connect to the headsets.
    ///
    /// - Throws: ``Failure`` where another eegsync has the adapter.
    init(_ chosen: [SetupCandidate], _ configuration: Configuration, library: HeadsetLibrary) throws {
        let lock = AdapterLock(respect: .everybody)
        if configuration.central.usesRadio, let (adapter, holder) = lock.obstacle(to: configuration.central.adapterName) {
            throw Failure(
                problem: "another eegsync (pid \(holder.pid)) has the adapter \(adapter).",
                consequence: "nothing was changed; it goes on.",
                remedy: "let it rest meanwhile: systemctl stop eegsync. It goes on with: systemctl start eegsync.",
                code: .unavailable)
        }
        var configuration = configuration
        let known = configuration.headsets
        configuration.headsets = chosen.indices.map { index in
            let candidate = chosen[index]
            var headset =
                known.first { $0.name == candidate.knownAs && $0.model == candidate.model }
                ?? Configuration.Headset(name: "", model: candidate.model)
            headset.name = Self.name(index)
            headset.identifiers = [candidate.identifier]
            // Only the one that was chosen.
            headset.adoption = .never
            headset.descriptor = library.entries.first { $0.profile.model == candidate.model }?.descriptor
            return headset
        }
        let acquisition = try AcquisitionStore.inMemory(hostBoot: try HostBoot.current())
        store = acquisition.control
        try store.noteClockOffset(HostClock.offset())
        let recordings = try chosen.indices.map {
            try acquisition.control.startRecording(headset: Self.name($0), model: chosen[$0].model, at: HostClock.now)
        }
        let batches = ObservedBatches(recordings)
        self.batches = batches
        var settings = AcquisitionService.Settings(
            headsets: configuration.knownHeadsets, seed: UInt64.random(in: .min ... .max), readClock: { HostClock.offset() })
        // A person waits for what a tap shows.
        settings.limits.commitInterval = .milliseconds(250)
        let central = configuration
        service = AcquisitionService(
            store: acquisition, settings: settings,
            makeCentral: { central.makeCentral(watch: $0, lock: AdapterLock(respect: .everybody)) },
            // Nothing survives this process, so a headset with a memory is never allowed to forget.
            tasks: StorageTasks(
                acquisition,
                commit: { (batch) throws(StorageError) in
                    try acquisition.commit(batch)
                    batches.take(batch, at: HostClock.now)
                },
                synchronise: { (_) throws(StorageError) in throw .readOnly(detail: "a database in memory") }))
        task = Task { [service] in try await service.run() }
    }

    /// What is known of each, by index.
    var observed: [HeadsetObservation] { batches.observed }

    /// Begins a test.
    func restart() { batches.restart() }

    /// What a headset does or waits for, in words that complete "it ...".
    func situation(_ index: Int) -> String {
        guard let activity = try? store.headsets(at: HostClock.now).first(where: { $0.name == Self.name(index) }) else {
            return "has no link"
        }
        return HeadsetSituation(activity, isDaemonRunning: true, isConfigured: true).sentence
    }

    /// Closes the links.
    func end() async {
        await service.shutDown()
        _ = try? await task.value
    }
}

/// What the batches of all headsets have shown so far.
private final class ObservedBatches: Sendable {
    private let state: Mutex<[HeadsetObservation]>

    init(_ recordings: [RecordingID]) { state = Mutex(recordings.map { HeadsetObservation(recording: $0) }) }

    var observed: [HeadsetObservation] { state.withLock { $0 } }

    func take(_ batch: WriteBatch, at now: MonotonicTime) {
        state.withLock { observations in
            for index in observations.indices { observations[index].take(batch, at: now) }
        }
    }

    func restart() {
        state.withLock { observations in
            for index in observations.indices { observations[index].restart() }
        }
    }
}
