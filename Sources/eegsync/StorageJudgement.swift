import Bluetooth
import Storage

/// What `eegsync status` knows around the headsets: who acquires, whether that is stored, and since when what is the case.
struct StorageJudgement {
    private let inspection: StorageInspection?
    /// Why nothing is stored; nil where it is, or where no process acquires.
    let situation: StorageSituation?
    /// The latest sign that a process acquired.
    private let lastSign: Double?
    private let now: MonotonicTime
    private let wallNanoseconds: Int64

    /// - Parameters:
    ///   - process: that acquires; nil for none.
    ///   - commitInterval: as the configuration has it; nil where that is not known.
    ///   - wallNanoseconds: now, in UTC nanoseconds since 1970.
    init(
        _ store: some Store, _ activities: [HeadsetActivity], process: DaemonProcess?, commitInterval: Duration?,
        now: MonotonicTime, wallNanoseconds: Int64
    ) throws {
        (self.now, self.wallNanoseconds) = (now, wallNanoseconds)
        let spooled = process == nil ? nil : try SpoolSign.latest(store)
        inspection = process.map {
            StorageInspection(process: $0, now: now, commitInterval: commitInterval, spooled: spooled)
        }
        situation = try inspection?.situation(store, activities)
        let rows = activities.flatMap(\.streams).compactMap(\.lastSample)
        let signs = rows + [try store.lastProcess()?.lastSign].compactMap { $0 }
        lastSign = signs.compactMap { Self.age($0, now: now, wallNanoseconds: wallNanoseconds) }.min()
    }

    /// How long ago an instant was, in seconds; nil where nobody knows.
    func age(_ instant: StoredInstant?) -> Double? {
        instant.flatMap { Self.age($0, now: now, wallNanoseconds: wallNanoseconds) }
    }

    private static func age(_ instant: StoredInstant, now: MonotonicTime, wallNanoseconds: Int64) -> Double? {
        if instant.isSameHostBoot { return (now - instant.time).inSeconds }
        return instant.unixNanoseconds.map { Double(wallNanoseconds - $0) / 1e9 }
    }

    /// What is known around a headset.
    func surroundings(of activity: HeadsetActivity, isPaused: Bool, isConfigured: Bool?) -> HeadsetSituation.Surroundings {
        var around = HeadsetSituation.Surroundings(isDaemonRunning: inspection != nil, isPaused: isPaused)
        around.isConfigured = isConfigured
        around.storage = situation
        guard let inspection else { return around }
        around.isLate = inspection.isLate(activity)
        guard let begun = begun(activity, inspection) else { return around }
        // A state that was entered before the process began is no state of its own.
        around.isOutdated = activity.stateEntered.map { age($0).map { $0 > begun } ?? true } ?? true
        around.isIgnored = begun > inspection.patienceSeconds
        return around
    }

    /// For how long the process has wanted the headset, in seconds; nil where that is not known.
    private func begun(_ activity: HeadsetActivity, _ inspection: StorageInspection) -> Double? {
        guard let started = inspection.process.started, let requested = age(activity.requested) else { return nil }
        return min(requested, (now - started).inSeconds)
    }

    /// For how long the situation of a headset has lasted, in seconds; nil where nobody knows.
    func seconds(of activity: HeadsetActivity, _ around: HeadsetSituation.Surroundings) -> Double? {
        let entered = age(activity.stateEntered)
        guard activity.recording != nil else { return entered }
        guard activity.isWanted else { return age(activity.stopRequested) ?? entered }
        let requested = age(activity.requested)
        guard let inspection else { return earliest(lastSign ?? requested, requested) }
        if around.isConfigured == false { return requested }
        if around.storage != nil || around.isLate {
            let newest = activity.streams.compactMap { age($0.lastSample) }.min()
            return earliest(newest ?? entered, requested)
        }
        return around.isOutdated ? begun(activity, inspection) : entered
    }

    /// Nothing lasts longer than it has been wanted.
    private func earliest(_ seconds: Double?, _ requested: Double?) -> Double? {
        guard let seconds, let requested else { return seconds ?? requested }
        return min(seconds, requested)
    }
}
