import Acquisition
import Bluetooth
import Logging
import Storage
import Synchronization

/// The one place of the daemon that logs: to standard error, as journald wants it.
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

    /// Writes what the acquisition tells.
    func log(_ report: AcquisitionReport) {
        switch report {
        case .phaseChanged(let headset):
            let reason = headset.detail.map { ": " + (AdapterState(rawValue: $0)?.words ?? $0) } ?? ""
            log(
                headset.phase.level, headset.phase.words + reason,
                [
                    "headset": "\(headset.name)", "attempt": "\(headset.attempt)", "state": "\(headset.phase.rawValue)",
                    "recording": "\(headset.recording.rawValue)",
                ])
        case .returned(let headset, let layer, let instant):
            log(
                .debug, "the first sample of the link has arrived",
                ["headset": "\(headset)", "layer": "\(layer)", "boottime_ns": "\(instant.nanoseconds)"])
        case .committed(let number, let rows, let duration):
            let milliseconds = duration.components.attoseconds / 1_000_000_000_000_000 + duration.components.seconds * 1000
            log(.trace, "committed", ["batch": "\(number)", "rows": "\(rows)", "ms": "\(milliseconds)"])
        case .writeFailed(let error, let rows):
            log(.error, "\(error)", ["buffered_rows": "\(rows)"])
        case .writeRecovered(let after, let rows):
            log(.notice, "the database can be written again", ["after_s": "\(after.components.seconds)", "rows": "\(rows)"])
        case .radioHangs(true):
            log(.error, "the radio hangs: for minutes it has done nothing of what it was told. It is switched off and on again")
        case .radioHangs(false):
            log(
                .error,
                "the radio hangs: for minutes it has done nothing of what it was told. eegsync goes on trying. You can unplug "
                    + "it and plug it in, or let eegsync switch it off and on: 'recover_adapter: true'")
        case .bufferFull(let rows):
            log(.error, "the buffer is full: new samples go to the gap ledger", ["buffered_rows": "\(rows)"])
        case .readFailed(let error):
            log(.warning, "the operator's wishes cannot be read and are tried again: \(error)")
        case .unknownHeadset(let name, let model):
            log(
                .warning, "a recording is wanted, but the configuration names no such headset; it stays open and waits",
                ["headset": "\(name)", "model": "\(model)"])
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
    /// What the headset does.
    fileprivate var words: String {
        switch self {
        case .stopped: "let go"
        case .waitingForAdapter: "waiting for the Bluetooth adapter"
        case .waitingForOperator: "waiting for a person"
        case .searching: "looking for the headset"
        case .establishing: "connected, preparing the headset"
        case .streaming: "recording"
        case .silent: "connected, but nothing arrives"
        case .quarantined: "quarantined; the others go on, and 'systemctl reload eegsync' tries it again"
        }
    }

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
