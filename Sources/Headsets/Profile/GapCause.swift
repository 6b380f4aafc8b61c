/// Why samples are missing. The raw values are those of the database's gap ledger.
package enum GapCause: String, Hashable, Sendable, Codable, CaseIterable {
    /// The link broke: out of range, interference, or a person disconnected it.
    case linkLost
    /// The headset was connected but silent.
    case silence
    /// The headset restarted and lost its memory or its count.
    case headsetRestarted
    /// This machine restarted or lost power.
    case hostRestarted
    /// The acquisition process was not running.
    case daemonDown
    /// The adapter was off, blocked or gone.
    case adapterUnavailable
    /// This program could not store fast enough; its bounded buffer overflowed.
    case queueOverflow
    /// The database could not be written (disk full, read-only) and the bounded buffer overflowed.
    case storageUnavailable
    /// A packet was lost on a link that stayed up.
    case packetLost
    /// A packet arrived damaged (checksum).
    case packetDamaged
    /// The headset took the sample and never sends it; nothing was lost on the way.
    case notSent
    /// The headset measured the impedance of its electrodes, and took no samples meanwhile.
    case impedance
    /// The headset's memory overwrote samples before they could be read.
    case bufferOverrun
    /// The headset was let go because what it sends breaks a rule; a person must look.
    case quarantined
    /// A person paused the recording.
    case operatorStopped = "operator"
}
