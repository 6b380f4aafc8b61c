import Headsets

/// The channels of a stream that hold triggers (BIDS's type `TRIG`): a change to a value other than 0 is an event.
struct TriggerChannels {
    /// A value that a channel has changed to.
    struct Change: Hashable {
        /// The index of the sample in its block.
        var instant: Int
        var channel: String
        var value: Int32
    }

    /// One of them.
    private struct Channel {
        var index: Int
        var name: String
        /// What it had last, live and as read from the headset's memory; nil before the first sample.
        var live: Int32?
        var remembered: Int32?
    }

    private var channels: [Channel]

    init(_ description: StreamDescription) {
        channels = description.channels.enumerated().filter { $0.element.type == "TRIG" }.map {
            Channel(index: $0.offset, name: $0.element.name)
        }
    }

    /// True for most streams.
    var isEmpty: Bool { channels.isEmpty }

    /// What is read from memory on another link does not go on with what was read before.
    mutating func beginLink() {
        for index in channels.indices { channels[index].remembered = nil }
    }

    /// What changes within a block, or from the block before to it.
    ///
    /// - Parameter isNew: whether the sample with an index in the block was not there yet.
    mutating func changes(
        in block: SampleBlock, _ values: ArraySlice<Int32>, isNew: (Int) -> Bool
    ) -> [Change] {
        var changes: [Change] = []
        for index in channels.indices {
            let column = channels[index].index - block.firstChannel
            guard (0..<block.channelCount).contains(column) else { continue }
            var last = block.origin == .live ? channels[index].live : channels[index].remembered
            for instant in 0..<block.instantCount {
                let value = values[values.startIndex + instant * block.channelCount + column]
                if let last, last != value, value != 0, isNew(instant) {
                    changes.append(Change(instant: instant, channel: channels[index].name, value: value))
                }
                last = value
            }
            if block.origin == .live { channels[index].live = last } else { channels[index].remembered = last }
        }
        return changes
    }
}
