import Bluetooth

/// How often a headset has changed what it sends: it may, but not without bound.
struct StreamChanges {
    /// Streams beyond those that the recording began with.
    private var furtherStreamCount: Int
    /// When the headset changed what it sends, lately.
    private var times: [MonotonicTime] = []

    init(furtherStreamCount: Int) {
        self.furtherStreamCount = furtherStreamCount
    }

    /// Counts a change that needs further streams.
    ///
    /// - Throws: why it may not happen; nothing is counted then.
    mutating func admit(_ further: Int, limits: AcquisitionLimits, at now: MonotonicTime) throws(QuarantineReason) {
        guard further > 0 else { return }
        guard furtherStreamCount + further <= limits.furtherStreamLimit else {
            throw .tooManyStreams(limit: limits.furtherStreamLimit)
        }
        times.removeAll { now - $0 >= limits.changePeriod }
        guard times.count < limits.changeLimit else { throw .changesTooOften }
        times.append(now)
        furtherStreamCount += further
    }
}
