import Bluetooth
import Headsets

/// What a stream must know when samples begin to flow on a link.
struct LinkStart: Sendable {
    /// What one run of the counter lasts for.
    var epochRule: EpochRule
    /// The boot identifier of the headset's status; blocks may carry their own.
    var bootIdentifier: UInt32?
    /// True where the headset can be asked for samples that were missed.
    var hasMemory: Bool
    /// What the headset holds in memory of this stream; nil where it has none or did not tell.
    var buffered: HeadsetStatus.BufferedRange?
    /// Why samples are missing where no gap says it yet: this process was not there.
    var absenceCause: GapCause
    /// The clock that the headset stamps samples with; nil for none.
    var stamps: SampleStamps?
    /// Where another bank of the same stream, which has its place on this link, has the sample of the first block's counter.
    var alignedN: Int64?
    /// The first n that no bank of the stream has settled.
    var leastN: Int64 = 0
}
