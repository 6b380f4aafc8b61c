import Headsets

/// The channels of a stream that hold triggers (BIDS's type `TRIG`): a change to a value other than 0 is an event.
///
/// An input that nothing is connected to changes with each sample. So many changes are entered as events as an experiment
/// needs; of the others it is said how many there were. The samples have all of them.
struct TriggerChannels {
    /// What is said of a channel.
    struct Change: Hashable {
        /// The index of the sample in its block.
        var instant: Int
        var channel: String
        var kind: Kind

        enum Kind: Hashable {
            /// The channel has changed to a value.
            case value(Int32)
            /// So many changes up to here are not entered.
            case notEntered(Int)
        }
    }

    /// One of them.
    private struct Channel {
        var index: Int
        var name: String
        /// What it had last, live and as read from the headset's memory; nil before the first sample.
        var live: Int32?
        var remembered: Int32?
        /// How many changes may be entered at once.
        var allowance = TriggerChannels.burst
        var notEntered = 0
        /// How many instants ago the first of ``notEntered`` was.
        var silence = 0

        /// An instant passes. Returns what it says.
        mutating func take(_ value: Int32?, perSecond frequency: Double) -> Change.Kind? {
            allowance = min(TriggerChannels.burst, allowance + TriggerChannels.perSecond / frequency)
            if notEntered > 0 { silence += 1 }
            if let value {
                guard allowance >= 1 else {
                    notEntered += 1
                    return nil
                }
                allowance -= 1
                return .value(value)
            }
            let isOver = allowance >= TriggerChannels.perSecond || Double(silence) >= 60 * frequency
            guard notEntered > 0, isOver else { return nil }
            defer { (notEntered, silence) = (0, 0) }
            return .notEntered(notEntered)
        }
    }

    private var channels: [Channel]
    private let samplingFrequency: Double

    /// So many changes may come at once: a stimulus program sends some ten in a second.
    static let burst = 600.0
    /// So many may come in each second for ever.
    static let perSecond = 10.0

    init(_ description: StreamDescription) {
        samplingFrequency = max(1, description.samplingFrequency)
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
                let isChange = last.map { $0 != value } ?? false && value != 0 && isNew(instant)
                if let kind = channels[index].take(isChange ? value : nil, perSecond: samplingFrequency) {
                    changes.append(Change(instant: instant, channel: channels[index].name, kind: kind))
                }
                last = value
            }
            if block.origin == .live { channels[index].live = last } else { channels[index].remembered = last }
        }
        return changes
    }
}
