import Bluetooth
import Foundation
import Logging
import Storage
import Synchronization

/// What a daemon does before it acquires: it looks how those before it ended, and lets its service manager wait while the
/// schema is changed.
struct DaemonStart {
    /// A line of the log.
    struct Line {
        var level: Logger.Level
        var sentence: String
        var metadata: Logger.Metadata = [:]
    }

    /// What the log says of the processes before.
    private(set) var lines: [Line] = []
    /// How long to wait.
    private(set) var pause = Duration.zero
    /// Why, in words; nil where there is no pause.
    private(set) var pauseSentence: String?

    /// Notes the start.
    ///
    /// - Parameter isService: true where a service manager starts the process, again and again if need be. A person who starts
    /// it by
    ///   hand is not kept waiting.
    init(store: AcquisitionStore, isService: Bool, previous: PreviousEnd? = PreviousEnd.current()) {
        guard isService else { return }
        if let cause = previous?.deathCause {
            let open = ((try? store.openRecordings()) ?? []).filter(\.isWanted)
            let fell = open.map { "\($0.headsetName) (recording \($0.recording.rawValue))" }.joined(separator: ", ")
            lines.append(
                Line(
                    level: .error,
                    sentence: "the process before this one has died: \(cause). "
                        + (fell.isEmpty ? "It recorded nothing" : "It recorded \(fell), which goes on"),
                    metadata: ["result": "\(previous?.result ?? "")"]))
        }
        // A full disk keeps no account, and must keep nobody from recording what fits into memory.
        let deaths = (try? store.noteStart(at: HostClock.now, deathCause: previous?.deathCause)) ?? 0
        PreviousEnd.noteCounted()
        pause = RestartBackoff.pause(earlyDeaths: deaths)
        pauseSentence = RestartBackoff.sentence(earlyDeaths: deaths, lastEnd: previous)
        if let pauseSentence { lines.append(Line(level: .error, sentence: pauseSentence)) }
    }

    /// After a while the process has proven itself.
    static func settle(_ writes: DeferredWrites) async {
        guard (try? await Task.sleep(for: RestartBackoff.earlyPeriod)) != nil else { return }
        writes.add(.start) { (store) throws(StorageError) in try store.noteSettled() }
    }

    /// How often the service manager is asked for more time, at most.
    private static let extensionDistance = Duration.seconds(1)

    /// Hears of a change of the schema, says so, and has the service manager wait while it makes progress.
    static func schemaProgress(_ log: DaemonLog) -> SchemaProgress {
        let last = Mutex<MonotonicTime?>(nil)
        let isLogged = Mutex(false)
        return { step in
            switch step {
            case .copied(let path):
                log.log(
                    .notice,
                    "the database was copied before its schema is changed: \(path). A week from now the copy is removed")
            case .notCopied(let reason):
                log.log(
                    .warning,
                    "the schema of the database is changed without a copy from before, so there is no way back to an older "
                        + "version: \(reason)")
            case .copying: break
            case .changing:
                let isFirst = isLogged.withLock { isLogged in
                    defer { isLogged = true }
                    return !isLogged
                }
                if isFirst { log.log(.notice, "the schema of the database is brought up to date") }
            }
            let now = HostClock.now
            let isDue = last.withLock { last in
                if let before = last, now - before < extensionDistance { return false }
                last = now
                return true
            }
            if isDue { ServiceNotification.takingLonger(words(step)) }
        }
    }

    private static func words(_ step: SchemaStep) -> String {
        switch step {
        case .copying(let share): "copying the database before its schema is changed: \(Int(share * 100)) %"
        case .copied, .notCopied, .changing: "bringing the schema of the database up to date"
        }
    }
}
