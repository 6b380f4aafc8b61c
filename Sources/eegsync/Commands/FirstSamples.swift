import Bluetooth
import Foundation
import Storage

/// Waits for the first samples of a recording.
struct FirstSamples {
    let recording: RecordingID
    let headset: String
    let database: String
    /// Nil where there is none, or none that can be read.
    let configuration: Configuration?
    /// How long they may take.
    let limit: Duration

    /// How often is looked.
    private static let interval = Duration.milliseconds(250)

    /// Returns when samples are committed.
    ///
    /// - Returns: how long it took from `start` on.
    /// - Throws: a ``Failure`` that says why none are.
    func wait(since start: MonotonicTime) async throws -> Duration {
        let store = try ReadOnlyStore(path: database, hostBoot: try HostBoot.current())
        // While somebody follows, transactions come each second.
        let follower = Follower(database: database)
        defer { withExtendedLifetime(follower) {} }
        while true {
            let now = HostClock.now
            let isStored = try store.headsets(at: now).contains { activity in
                activity.recording == recording && activity.streams.contains { $0.rows > 0 }
            }
            if isStored { return now - start }
            guard try store.openRecordings().contains(where: { $0.recording == recording && $0.isWanted }) else {
                throw failure("it was stopped meanwhile", remedy: nil, code: .unavailable)
            }
            if DaemonPresence.pid(database: database) == nil {
                throw failure(
                    "eegsync run does not run on this database", remedy: "start it: systemctl start eegsync.",
                    code: .unavailable)
            }
            if try store.pause() != nil {
                throw failure("nothing is recorded during a pause", remedy: "end it: eegsync resume.", code: .unavailable)
            }
            if now - start >= limit {
                throw try late(StatusFacts(store: store, configuration: configuration, now: now))
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Why none came in time, as `eegsync status` says it.
    private func late(_ status: StatusFacts) -> Failure {
        let own = status.headsets.first { $0.name == headset }
        let sentence = status.storage?.sentence ?? own.map { "\(headset) \($0.sentence)" } ?? "nothing is known of \(headset)"
        let onlyPerson = own?.severity == .waiting
        return failure(
            "\(sentence) (after \(Quantity.duration(limit)))", remedy: status.storage?.remedy ?? own?.remedy,
            code: onlyPerson ? .unavailable : .temporary)
    }

    private func failure(_ reason: String, remedy: String?, code: Failure.Code) -> Failure {
        Failure(
            problem: "nothing of recording \(recording.rawValue) of \(headset) is stored: \(reason).",
            consequence: "the recording stays wanted, unless somebody stops it.",
            remedy: remedy ?? "see how it goes on: eegsync status --watch.", code: code)
    }
}
