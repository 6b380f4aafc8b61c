import Bluetooth
import Storage

extension SegmentRecord {
    /// A change of a segment by less is not worth writing.
    private static let worthNanoseconds = 20e3
    /// A change of the uncertainty by less is not either.
    private static let uncertaintyWorthNanoseconds = 1e6

    /// True where it says something else than what was written of it before.
    func isWorthWriting(over old: SegmentRecord) -> Bool {
        let span = Double(lastN &- firstN)
        return lastN != old.lastN
            || abs(Double(referenceTime.nanoseconds) - Double(old.referenceTime.nanoseconds)) > Self.worthNanoseconds
            || abs(periodNanoseconds - old.periodNanoseconds) * span > Self.worthNanoseconds
            || abs((uncertaintyNanoseconds ?? 0) - (old.uncertaintyNanoseconds ?? 0)) > Self.uncertaintyWorthNanoseconds
    }
}
