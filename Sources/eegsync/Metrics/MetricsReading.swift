import Acquisition
import Bluetooth
import CLinux
import Foundation
import Headsets
import Metrics
import Storage

/// Finds out all figures of `eegsync metrics`, each time anew: the database is opened read-only for it, so that a file that
/// was moved or replaced is noticed, and nobody waits for it.
struct MetricsReading {
    /// A check of a signal that is older says nothing about now, in seconds.
    private static let checkAgeMaximum = 30.0

    let databasePath: String
    /// Nil where there is none, or none that can be read.
    let configuration: Configuration?
    let hostBoot: HostBoot

    /// The figures now.
    ///
    /// - Throws: ``StorageError`` where the database cannot be read.
    func families(at now: MonotonicTime) throws -> [MetricFamily] {
        let store = try ReadOnlyStore(unattended: databasePath, hostBoot: hostBoot)
        defer { try? store.close() }
        let process = DaemonPresence.process(database: databasePath)
        let status = try StatusFacts(store: store, configuration: configuration, now: now, process: process)
        var host = HostFigures()
        host.version = Eegsync.version
        host.isRunning = process != nil
        host.startedUnixSeconds = process?.started.map {
            Double(HostClock.offset().offsetNanoseconds + $0.nanoseconds) / 1e9
        }
        host.starts = try store.processCount()
        host.deathsLastDay = Int64(status.deaths?.count ?? 0)
        host.committedBatches = try store.committedBatches()
        host.lastSignSeconds = status.headsets.flatMap(\.streams).compactMap(\.newestRowSeconds).min()
        host.isStoring = process == nil ? nil : status.storage == nil
        host.isPaused = status.pausedSeconds != nil
        host.databaseBytes = status.databaseBytes
        host.logBytes = store.writeAheadLogBytes
        host.freeBytes = status.freeBytes
        host.usableBytes = try store.size().usableBytes
        host.daysLeft = status.daysLeft
        host.writtenBytesPerHour = status.diskWear?.bytesPerHour
        host.isClockSynchronised = Self.isClockSynchronised
        host.clockSteps = try store.clockStepCount()
        let headsets = try status.headsets.map { try figures(of: $0, in: store) }
        return host.families + HeadsetFigures.families(headsets, states: ConnectionPhase.allCases.map(\.rawValue))
    }

    /// What is left to say where the database cannot be read.
    static var unreadable: [MetricFamily] {
        var host = HostFigures()
        host.version = Eegsync.version
        host.isReadable = false
        host.isClockSynchronised = isClockSynchronised
        return host.families
    }

    private static var isClockSynchronised: Bool? {
        let synchronised = clinux_clock_is_synchronised()
        return synchronised < 0 ? nil : synchronised == 1
    }

    private func figures(of headset: StatusFacts.Headset, in store: ReadOnlyStore) throws -> HeadsetFigures {
        var figures = HeadsetFigures(name: headset.name, model: headset.model)
        figures.serialNumber = headset.serialNumber
        figures.isWanted = headset.isWanted
        figures.severity = headset.severity.rawValue
        figures.state = headset.state
        figures.stateSeconds = headset.stateSeconds
        figures.batteryPercent = headset.batteryPercent
        figures.recording = headset.recording
        figures.streams = headset.streams.map { stream in
            var known = HeadsetFigures.Stream(
                name: stream.name, samplingFrequency: stream.samplingFrequency, rowsPerSecond: stream.rowsPerSecond,
                rows: stream.rows, newestRowSeconds: stream.newestRowSeconds, hasOpenGap: stream.hasOpenGap,
                timeUncertaintySeconds: stream.timeUncertaintySeconds, measuredFrequency: stream.measuredFrequency)
            let recent = stream.signals.filter { $0.ageSeconds <= Self.checkAgeMaximum }
            known.conditions = recent.map { .init(channel: $0.channel, condition: $0.condition) }
            return known
        }
        guard let recording = headset.recording.map(RecordingID.init) else { return figures }
        figures.missing = try store.missingByCause(of: recording).map {
            .init(
                stream: StreamDescription.bankName($0.stream, $0.bank), cause: $0.cause, samples: $0.missing,
                recovered: $0.recovered, gaps: $0.gaps)
        }
        figures.returnSeconds = try store.returnTimes(of: recording).map(\.inSeconds)
        figures.kilohms = try store.electrodeFacts(of: recording).kilohms
        return figures
    }
}
