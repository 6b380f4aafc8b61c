import Acquisition
import Bluetooth
import Logging
import Storage
import Synchronization

/// The only part of the daemon that logs: to standard error, as journald wants it.
///
/// At level info a day fits on a page: what changed for a person. Every commit is a line at level trace.
final class DaemonLog: Sendable {
    private let logger: Mutex<Logger>

    init(level: Configuration.LogLevel) {
        var logger = Logger(label: "eegsync", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = level.loggerLevel
        self.logger = Mutex(logger)
    }

    /// Changes from which level on lines are written.
    func setLevel(_ level: Configuration.LogLevel) {
        logger.withLock { $0.logLevel = level.loggerLevel }
    }

    /// Writes a line.
    func log(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata = [:]) {
        // A copy: a slow terminal must not hold the lock.
        let logger = logger.withLock { $0 }
        logger.log(level: level, "\(message)", metadata: metadata.isEmpty ? nil : metadata)
    }

    private func reason(of headset: AcquiredHeadset) -> String { headset.cause.map { ": \($0.words)" } ?? "" }

    /// Writes a line about a headset's connection.
    private func log(_ headset: AcquiredHeadset, _ level: Logger.Level, _ message: String) {
        log(
            level, message,
            [
                "headset": "\(headset.name)", "attempt": "\(headset.attempt)", "state": "\(headset.phase.rawValue)",
                "recording": "\(headset.recording.rawValue)",
            ])
    }

    /// Writes what the acquisition reports.
    func log(_ report: AcquisitionReport) {
        switch report {
        case .phaseChanged(let headset): log(headset, headset.phase.level, headset.phase.words + reason(of: headset))
        case .phasesChanged(let headset, let changes):
            log(
                headset, max(headset.phase.level, .info),
                "the connection has changed \(changes.count) times more in \(Quantity.duration(changes.period)), with "
                    + "\(Quantity.count(Int64(changes.returns), "return")); now \(headset.phase.words)\(reason(of: headset))")
        case .returned(let back):
            log(
                .debug, "the first sample of the link has arrived",
                [
                    "headset": "\(back.headset)", "layer": "\(back.layer)",
                    "boottime_ns": "\(back.firstSample.nanoseconds)",
                ])
        case .committed(let number, let rows, let duration):
            let milliseconds = duration.components.attoseconds / 1_000_000_000_000_000 + duration.components.seconds * 1000
            log(.trace, "committed", ["batch": "\(number)", "rows": "\(rows)", "ms": "\(milliseconds)"])
        case .writeFailed(let error, let rows): log(.error, "\(error)", ["buffered_rows": "\(rows)"])
        case .writeRecovered(let after, let rows):
            log(.notice, "the database can be written again", ["after_s": "\(after.components.seconds)", "rows": "\(rows)"])
        case .flushFailed(let error):
            log(
                .error,
                "what is written may not survive a power cut: \(error). It is written again; headsets with a memory keep it "
                    + "until then")
        case .flushRecovered(let after):
            log(.notice, "what is written survives a power cut again", ["after_s": "\(after.components.seconds)"])
        case .spoolFailed(let error): log(.warning, "\(error)")
        case .radioHangs(true):
            log(.error, "the radio hangs: for minutes it has done nothing that it was asked. It is switched off and on again")
        case .radioHangs(false):
            log(
                .error,
                "the radio hangs: for minutes it has done nothing that it was asked. eegsync goes on trying. You can unplug "
                    + "it and plug it in, or let eegsync switch it off and on: 'recover_adapter: true'")
        case .bufferFull(let rows):
            log(.error, "the buffer is full: new samples go to the gap ledger", ["buffered_rows": "\(rows)"])
        case .readFailed(let error):
            log(.warning, "the operator's wishes cannot be read and are tried again: \(error)")
        case .unknownHeadset(let name, let model):
            log(
                .warning, "a recording is wanted, but the configuration names no such headset; it stays open and waits",
                ["headset": "\(name)", "model": "\(model)"])
        case .unrecognisedCandidate(let headset, let identifier):
            log(
                .notice,
                "one of the headset's model is in sight, and nothing proves that it is this headset. If it is: "
                    + "eegsync headsets adopt \(headset) \(identifier)", ["headset": "\(headset)", "address": "\(identifier)"])
        case .addressChanged(let headset, let detail): log(.warning, "the headset is \(detail)", ["headset": "\(headset)"])
        case .firmwareChanged(let headset, let from, let to):
            log(.notice, "the headset's firmware has changed from \(from) to \(to)", ["headset": "\(headset)"])
        case .contradicted(let headset, let stream, let samples, let firstN):
            log(
                .warning,
                "\(Quantity.count(samples, "sample")) came once more with other values, and were dropped: numbers near "
                    + "n \(firstN) are in doubt", ["headset": "\(headset)", "stream": "\(stream)"])
        case .readersDropped(let count, let total):
            log(.warning, "dropped \(Quantity.count(Int64(count), "reader")) of the tap: too slow", ["since_start": "\(total)"])
        case .summary: break
        case .reportsDropped(let count): log(.warning, "\(count) lines of this log were dropped")
        }
    }
}

extension Configuration.LogLevel {
    /// The same level in the words of the log.
    var loggerLevel: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}

extension ConnectionPhase {
    /// How much a person cares.
    fileprivate var level: Logger.Level {
        switch self {
        case .establishing, .stopped: .debug
        case .searching, .streaming, .silent: .info
        case .waitingForAdapter, .waitingForOperator: .warning
        case .quarantined: .error
        }
    }
}
