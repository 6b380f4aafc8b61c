package import Bluetooth
package import Storage

/// What a stream has assembled since whoever follows was served last.
package struct FollowedStream: Sendable {
    /// Changes of the ledger, in the order in which they were noticed.
    package var entries: [LedgerEntry]
    /// New rows, and ones that were missing.
    package var rows: [FollowedRows]
    /// Channels of rows that came without them.
    package var fills: [ChannelFill]
}

/// The time of a sample by a map that may still be fitted anew.
package struct SampleTime: Hashable, Sendable {
    package var at: MonotonicTime
    /// Nanoseconds from one sample to the next.
    package var periodNanoseconds: Double
    /// Within how many nanoseconds it is right, but for the headset's constant delay; nil where that is not known.
    package var uncertaintyNanoseconds: Double?
}
