import Acquisition
import Alerts
import Bluetooth
import CLinux
import Foundation
import Storage

/// Finds out how things stand, for rules: from the database, which is opened read-only each time, so that a file that was moved
/// or replaced is noticed, and from the machine's own files.
struct AlertFactsReader {
    /// Over how long missing samples are counted.
    private static let lossWindow = Duration.seconds(600)
    /// A check of a signal that is older says nothing about now, in seconds.
    private static let checkAgeMaximum = 30.0
    /// A stream as slow as a sample in some minutes is silent for longer than that between two of them.
    private static let slowStreamPeriods = 5.0
    /// Between two transactions the newest committed sample grows as old as their interval, and with what the next one takes a
    /// little older; that is no silence.
    private static let commitIntervals = 1.5
    /// How often the bytes of a row are measured: they change with the headsets, and by hardly more than that.
    private static let rowSizeInterval = Duration.seconds(600)

    let databasePath: String
    /// The headsets that the configuration names; nil where there is none.
    let configured: [String]?
    /// As the configuration has it.
    let commitInterval: Duration
    var files = SystemFiles()
    /// On which boot of the machine instants are.
    let hostBoot: HostBoot
    /// How many bytes a row takes, and when that was measured; nil for not yet.
    private var rowSize: (bytes: Double, measured: MonotonicTime)?

    init(
        databasePath: String, configured: [String]?, commitInterval: Duration = Configuration.Limits().commitInterval,
        files: SystemFiles = SystemFiles(), hostBoot: HostBoot
    ) {
        (self.databasePath, self.configured, self.commitInterval) = (databasePath, configured, commitInterval)
        (self.files, self.hostBoot) = (files, hostBoot)
    }

    /// How things stand.
    mutating func facts(at now: AlertInstant) -> AlertFacts {
        var facts = AlertFacts()
        let synchronised = clinux_clock_is_synchronised()
        facts.isClockSynchronised = synchronised < 0 ? nil : synchronised == 1
        let sensors = BoardSensors(files: files)
        facts.temperatureCelsius = sensors.temperatureCelsius
        facts.isUndervoltage = sensors.isUndervoltage
        do {
            try read(&facts, at: now)
        } catch {
            facts.headsets = nil
            facts.databaseProblem = Failure(error).problem.trimmingCharacters(in: CharacterSet(charactersIn: ". \n"))
        }
        return facts
    }

    private mutating func read(_ facts: inout AlertFacts, at now: AlertInstant) throws {
        let path = DatabaseFiles.resolve(databasePath)
        if let failure = LostDatabase.failure(at: path) { throw failure }
        let store = try ReadOnlyStore(unattended: path, hostBoot: hostBoot)
        defer { try? store.close() }
        let isPaused = try store.pause() != nil
        let process = DaemonPresence.process(database: path)
        let recordings = try store.watchedRecordings(at: now.time, window: Self.lossWindow)
        facts.isPaused = isPaused
        let judgement = try StorageJudgement(
            store, recordings.map(\.headset), process: process, commitInterval: commitInterval, now: now.time,
            wallNanoseconds: now.unixNanoseconds)
        // What that process records is in no list here.
        if let situation = judgement.situation, situation.cause == .replaced {
            throw Failure(
                problem: situation.sentence + ".", consequence: "nothing is stored.", remedy: situation.remedy + ".",
                code: .unavailable)
        }
        facts.headsets = recordings.map { recording in
            let around = judgement.surroundings(
                of: recording.headset, isPaused: isPaused, isConfigured: configured.map { $0.contains(recording.headset.name) })
            return headset(recording, around, at: now)
        }
        facts.restarts = try store.startsAfterDeath(limit: 1000).compactMap { age(of: $0, at: now) }
        let size = try store.size()
        facts.freeBytes = size.freeBytes
        let rate = recordings.flatMap { Self.present($0.streams) }.reduce(0) { $0 + $1.samplingFrequency }
        if let free = size.usableBytes, rate > 0 {
            facts.diskDays = Double(free) / (rate * (try bytesPerRow(store, at: now.time))) / 86_400
        }
    }

    private mutating func bytesPerRow(_ store: ReadOnlyStore, at now: MonotonicTime) throws -> Double {
        if let rowSize, now - rowSize.measured < Self.rowSizeInterval { return rowSize.bytes }
        let bytes = try store.bytesPerRow()
        rowSize = (bytes, now)
        return bytes
    }

    private func age(of instant: StoredInstant, at now: AlertInstant) -> Duration? {
        if instant.isSameHostBoot { return now.time - instant.time }
        // Of an earlier boot; a clock that was set back makes it too young, and so at worst an alert too many.
        return instant.unixNanoseconds.map { .nanoseconds(max(now.time.nanoseconds, now.unixNanoseconds &- $0)) }
    }

    private func headset(
        _ recording: WatchedRecording, _ around: HeadsetSituation.Surroundings, at now: AlertInstant
    ) -> WatchedHeadset {
        let activity = recording.headset
        let situation = HeadsetSituation(activity, around)
        var watched = WatchedHeadset(
            name: activity.name, situation: situation.sentence.printable, remedy: situation.remedy?.printable)
        let streams = Self.present(recording.streams)
        let silences = streams.map { stream in
            (stream, silence(of: stream, since: recording.wantedSince, at: now))
        }
        watched.silence = silences.map(\.1).max() ?? max(.zero, now.time - recording.wantedSince)
        // What stands still for long while the rest goes on; where nothing goes on, all of it does.
        let least = silences.map(\.1).min() ?? .zero
        watched.silentStreams = silences.filter { $0.1 > least + .seconds(30) }.map { $0.0.name.printable }
        watched.batteryPercent = activity.batteryPercent
        watched.isQuarantined = around.isDaemonRunning && activity.state == ConnectionPhase.quarantined.rawValue
        if least < .seconds(Self.checkAgeMaximum), !streams.isEmpty { watched.badContacts = Self.badContacts(streams) }
        watched.missingFraction = streams.compactMap(\.missingFraction).max()
        return watched
    }

    /// Without the streams that another one goes on from.
    private static func present(_ streams: [WatchedStream]) -> [WatchedStream] {
        streams.filter { stream in !streams.contains { StreamName($0.name).continues(stream.name) } }
    }

    private func silence(of stream: WatchedStream, since wanted: MonotonicTime, at now: AlertInstant) -> Duration {
        let last = stream.lastSample.flatMap { $0.isSameHostBoot ? $0.time : nil } ?? wanted
        let silence = max(.zero, now.time - max(last, wanted))
        let usual = Duration.seconds(
            max(Self.slowStreamPeriods / stream.samplingFrequency, Self.commitIntervals * commitInterval.inSeconds))
        return silence < usual ? .zero : silence
    }

    /// Nil where no channel was looked at lately.
    private static func badContacts(_ streams: [WatchedStream]) -> [String]? {
        let recent = streams.flatMap(\.signals).filter { $0.ageSeconds <= checkAgeMaximum }
        if recent.isEmpty { return nil }
        return recent.compactMap { signal in
            switch signal.check.condition {
            case .flat: "\(signal.channel.printable) is flat"
            case .railed: "\(signal.channel.printable) is railed"
            case .poorContact: "\(signal.channel.printable) has poor contact"
            case .noContact: "\(signal.channel.printable) has no contact"
            case .good, .lineNoise: nil
            }
        }
    }
}
