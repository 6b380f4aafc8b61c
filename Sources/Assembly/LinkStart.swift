package import Headsets

/// What a stream must know when samples begin to flow on a link.
package struct LinkStart: Sendable {
    /// What one run of the counter lasts for.
    package var epochRule: EpochRule
    /// The boot identifier of the headset's status; blocks may carry their own.
    package var bootIdentifier: UInt32?
    /// True where the headset can be asked for samples that were missed.
    package var hasMemory: Bool
    /// What the headset holds in memory of this stream; nil where it has none or did not say.
    package var buffered: HeadsetStatus.BufferedRange?
    /// Why samples are missing where no gap says it yet: this process was not there.
    package var absenceCause: GapCause
    /// The clock that the headset stamps samples with; nil for none.
    package var stamps: SampleStamps?
    /// The n in another bank of the same stream, numbered on this link already, of the first block's counter.
    package var alignedN: Int64?
    /// The first n that no bank of the stream has settled.
    package var leastN: Int64 = 0

    /// Creates what is known of a link.
    package init(
        epochRule: EpochRule, bootIdentifier: UInt32?, hasMemory: Bool, buffered: HeadsetStatus.BufferedRange?,
        absenceCause: GapCause, stamps: SampleStamps? = nil
    ) {
        self.epochRule = epochRule
        self.bootIdentifier = bootIdentifier
        self.hasMemory = hasMemory
        self.buffered = buffered
        self.absenceCause = absenceCause
        self.stamps = stamps
    }
}
