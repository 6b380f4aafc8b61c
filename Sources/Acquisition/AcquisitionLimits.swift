/// Bounds of the acquisition. Everything has one.
package struct AcquisitionLimits: Hashable, Sendable {
    /// Time between two commits. Without a spool it is what the death of the process can cost a headset without memory. A power
    /// cut can cost it what was committed since the latest flush.
    package var commitInterval: Duration = .seconds(1)
    /// How often what is to be written is put into the spool, which outlives the process; nil where there is none.
    package var spoolInterval: Duration?
    /// Sample rows that may wait for the database; beyond that new ones go to the gap ledger. 600,000 rows are 40 minutes of
    /// 250 Hz and about 20 MB.
    package var rowLimit = 600_000
    /// With so many rows a commit is due although its interval has not passed: far below what is buffered.
    package var rowsPerCommit = 50_000
    /// How often a streaming headset is asked for its status (battery, clock).
    package var statusInterval: Duration = .seconds(60)
    /// Streams that a recording may get beyond those that it begins with, each with a view, as its headset changes what it
    /// sends. The widest headset known has 7 streams: it may be given another preset 18 times.
    package var furtherStreamLimit = 128
    /// How often a headset may change what it sends within ``changePeriod``: a person changes a preset once, and a headset that
    /// is being prepared may go through two or three.
    package var changeLimit = 4
    /// See ``changeLimit``.
    package var changePeriod: Duration = .seconds(10)
    /// By how much UTC must have moved against `CLOCK_BOOTTIME` for a step: far above what NTP slews in a second.
    package var clockStepThreshold: Duration = .milliseconds(100)

    /// How often commits are made to survive a power cut. A headset may forget samples only then; each time costs the disk a
    /// flush, which wears an SD card.
    package var flushInterval: Duration = .seconds(10)
    /// How often a batch that could not be written, or wishes that could not be read, are tried again.
    package var retryInterval: Duration = .seconds(1)
    /// How often the operator's wishes are looked at: people wait for the effect of a command. Nil for only when they are said
    /// to have changed.
    package var wishesInterval: Duration? = .milliseconds(250)
    /// How often the wall clock is read: a step is dated to a second.
    package var clockInterval: Duration = .seconds(1)
    /// How often the service manager is shown that the process is alive; nil for never.
    package var heartbeatInterval: Duration?
    /// How often it is written that the process is alive: so exactly is known when one died.
    package var aliveInterval: Duration = .seconds(60)
    /// How long the history of connections, of the process and of the machine is kept; nil for ever. Ninety days are three
    /// months of a study in which somebody may ask what happened; a headset that loses its link a hundred times a day writes
    /// about 15 MB in that time.
    package var historyAge: Duration? = .seconds(90 * 86_400)
    /// How often a streaming headset's link is measured, where the system can.
    package var linkQualityInterval: Duration = .seconds(60)
    /// How often it is written how often a headset has said again what it said before.
    package var messageInterval: Duration = .seconds(60)
    /// Lines of the log that a headset's changes may cause within ``linesPeriod``; the sum of further ones is reported once.
    package var linesPerPeriod = 12
    /// See ``linesPerPeriod``.
    package var linesPeriod: Duration = .seconds(60)
    /// How long an orderly end leaves links open while what was written comes into the database file.
    package var checkpointLimit: Duration = .seconds(2)
    /// How long an orderly end may wait for another program that holds the lock of the database: what it does not get to write
    /// stands in the spool, and links close meanwhile.
    package var lockLimit: Duration = .seconds(4)
    /// How long an orderly end may wait for links to close; well below what the service manager waits (TimeoutStopSec).
    package var shutdownLimit: Duration = .seconds(4)

    /// The default limits.
    package init() {}
}
