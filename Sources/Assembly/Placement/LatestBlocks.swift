import Bluetooth
import Headsets

/// The blocks of a stream that were stored last, by which one that comes twice is known: it has the index and the values of
/// one of them. How soon it comes, and how long nothing comes behind it, does not show that: a stall looks the same.
///
/// A signal that does not change repeats its values, too: what comes later than a notification comes twice is no duplicate.
struct LatestBlocks: Sendable {
    private struct Entry: Sendable {
        /// Of the first sample.
        var index: Int64
        var firstChannel: Int
        var digest: UInt64
        var arrival: MonotonicTime
    }

    /// No notification holds more blocks of a stream: it has 512 bytes at the most, and a block with its number four at least.
    private static let countLimit = 128
    /// A notification comes twice within this time: both were in the same queue.
    private static let period = Duration.milliseconds(100)
    /// FNV-1a, a value of 32 bits at a time.
    private static let offsetBasis: UInt64 = 0xcbf2_9ce4_8422_2325
    private static let prime: UInt64 = 0x100_0000_01b3

    private var entries: [Entry] = []
    /// Which entry is the oldest, once there are ``countLimit``.
    private var oldest = 0

    /// A block was stored.
    ///
    /// - Parameter index: of its first sample.
    mutating func note(_ received: ReceivedBlock, index: Int64) {
        let entry = Entry(
            index: index, firstChannel: received.block.firstChannel, digest: Self.digest(of: received.values),
            arrival: received.arrival)
        if entries.count < Self.countLimit {
            entries.append(entry)
        } else {
            entries[oldest] = entry
            oldest = (oldest + 1) % Self.countLimit
        }
    }

    /// True where a block is one of them once more.
    ///
    /// - Parameter index: of its first sample.
    func contains(_ received: ReceivedBlock, index: Int64) -> Bool {
        let digest = Self.digest(of: received.values)
        return entries.contains { entry in
            entry.index == index && entry.digest == digest && entry.firstChannel == received.block.firstChannel
                && received.arrival - entry.arrival <= Self.period
        }
    }

    private static func digest(of values: ArraySlice<Int32>) -> UInt64 {
        var digest = offsetBasis
        for value in values { digest = (digest ^ UInt64(UInt32(bitPattern: value))) &* prime }
        return digest
    }
}
