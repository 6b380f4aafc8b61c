import Bluetooth
import GRDB

/// What another program may have changed is read as the nearest number that a recording comes to, so that sums of some of them
/// fit; an audit says that it was changed (``SurprisingNumbers``).
extension Row {
    /// A number of samples, or one of them; nil where there is none.
    func number(_ column: String) -> Int64? {
        whole(column).map { Swift.min(Swift.max($0, -SurprisingNumbers.bound), SurprisingNumbers.bound) }
    }

    /// A time or a length of time; nil where there is none.
    func nanoseconds(_ column: String) -> Int64? {
        let range = SurprisingNumbers.nanoseconds
        return whole(column).map { Swift.min(Swift.max($0, range.lowerBound), range.upperBound) }
    }

    /// A time of a view; nil where there is none, or where the time map gives one that no recording comes to.
    func instant(_ column: String) -> Int64? {
        whole(column).flatMap { SurprisingNumbers.nanoseconds.contains($0) ? $0 : nil }
    }

    /// SQL reports as a real number what 64 bits cannot hold.
    private func whole(_ column: String) -> Int64? {
        switch (self[column] as DatabaseValue?)?.storage {
        case .int64(let value)?: return value
        case .double(let value)?: return Int64(clamping: value)
        default: return nil
        }
    }
}
