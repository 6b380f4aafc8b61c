/// Bounds of the acquisition. Everything has one.
public struct AcquisitionLimits: Hashable, Sendable {
    /// Time between two commits: what a power cut can cost a headset without memory.
    public var commitInterval: Duration = .seconds(1)
    /// Sample rows that may wait for the database; beyond that new ones go to the gap ledger. 600,000 rows are 40 minutes of
    /// 250 Hz and about 20 MB.
    public var rowLimit = 600_000
    /// How often a streaming headset is asked for its status (battery, clock).
    public var statusInterval: Duration = .seconds(60)
    /// Streams that a recording may get beyond those that it begins with, each with a view, as its headset changes what it
    /// sends. The widest headset known has 7 streams: it may be given another preset 18 times.
    public var furtherStreamLimit = 128
    /// How often a headset may change what it sends within ``changePeriod``: a person changes a preset once, and a headset that
    /// is being prepared may go through two or three.
    public var changeLimit = 4
    /// See ``changeLimit``.
    public var changePeriod: Duration = .seconds(10)
    /// By how much UTC must have moved against `CLOCK_BOOTTIME` for a step: far above what NTP slews in a second.
    public var clockStepThreshold: Duration = .milliseconds(100)

    /// The default limits.
    public init() {}
}
