import Bluetooth
import Storage

/// Says when the write-ahead log has grown because somebody keeps it from beginning anew, once for each time it does, and when
/// that is over.
///
/// A pure value: it takes what was found, and answers what to log.
struct WriteAheadLogWatch {
    /// A line for the log.
    enum Line: Hashable {
        /// Who reads, and what a person can do.
        case grown(GrownLog)
        case shrunk
    }

    /// How often to look. The log grows by some kilobytes a second.
    static let interval = Duration.seconds(10)
    /// No two lines come closer together.
    private static let leastDistance = Duration.seconds(60)
    /// It is said again while it lasts: a person may have read the last day of the journal only.
    private static let reminder = Duration.seconds(6 * 3600)

    /// What was said last, and when.
    private var reported: (log: GrownLog, at: MonotonicTime)?
    private var lastLine: MonotonicTime?

    /// Takes what was found now.
    ///
    /// - Parameter grown: nil where the log is as small as it should be.
    /// - Returns: what to log; nil for nothing.
    mutating func take(_ grown: GrownLog?, at now: MonotonicTime) -> Line? {
        if let lastLine, now - lastLine < Self.leastDistance { return nil }
        guard let grown else {
            guard reported != nil else { return nil }
            reported = nil
            lastLine = now
            return .shrunk
        }
        // Another reader is another occurrence.
        if let reported, reported.log.holders == grown.holders, now - reported.at < Self.reminder { return nil }
        reported = (grown, now)
        lastLine = now
        return .grown(grown)
    }
}
