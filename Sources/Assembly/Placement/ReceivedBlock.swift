import Bluetooth
import Headsets

/// A block of samples as it was received.
struct ReceivedBlock: Sendable {
    var block: SampleBlock
    /// `instantCount` × `channelCount` raw values, all channels of an instant together.
    var values: ArraySlice<Int32>
    var arrival: MonotonicTime
    /// The number of the notification that it came in: they ascend, over all streams of a headset.
    var notification: UInt64
    /// False where the buffer of samples is full; new samples then go to the ledger.
    var hasRoom: Bool

    /// The same with values of its own, so that it can wait.
    var copied: ReceivedBlock {
        var copy = self
        copy.values = Array(values)[...]
        return copy
    }

    /// The same without its first instants.
    func droppingFirst(_ count: Int) -> ReceivedBlock {
        var rest = self
        rest.values = values.dropFirst(count * block.channelCount)
        rest.block.instantCount -= count
        return rest
    }
}

/// What comes of a stream, in its order.
enum Reception: Sendable {
    case block(ReceivedBlock)
    /// The headset took `count` samples from `counter` on, and never sends them.
    case unsent(counter: UInt32, count: Int, at: MonotonicTime)

    /// The number of the notification that a block came in; nil for what never came.
    var notification: UInt64? {
        if case .block(let received) = self { received.notification } else { nil }
    }
}
