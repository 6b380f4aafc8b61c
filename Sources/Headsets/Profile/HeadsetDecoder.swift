package import Bluetooth

/// Turns the bytes of one link into samples and messages. Any byte sequence is accepted: damage is counted, never fatal.
package protocol HeadsetDecoder: Sendable {
    /// Decodes one notification, or one piece of a byte stream, and appends what it contained.
    ///
    /// - Parameters:
    ///   - bytes: the value of the characteristic; pieces of a byte stream may be cut anywhere.
    ///   - characteristic: where the bytes came from.
    ///   - decoded: gets the items, in the order of the bytes.
    mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded)

    /// The decoder of another link to the same headset, which has what this one has learnt of the headset; nil where a fresh
    /// one is as good.
    func continued() -> (any HeadsetDecoder)?
}

extension HeadsetDecoder {
    /// A fresh one is as good.
    package func continued() -> (any HeadsetDecoder)? { nil }
}

/// What a decoder found: items, and the sample values that they refer to. Reused from call to call, so that the steady
/// state allocates nothing.
package struct Decoded: Sendable {
    /// What was found, in order.
    package var items: [DecodedItem] = []
    /// Raw sample values; each ``SampleBlock`` owns a range of them.
    package var values: [Int32] = []

    /// Creates an empty result.
    package init() {}

    /// Empties the result and keeps its memory.
    package mutating func removeAll() {
        items.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
    }
}

/// One thing that a decoder found.
package enum DecodedItem: Hashable, Sendable {
    /// Samples, live or from memory.
    case samples(SampleBlock)
    /// The answer to the status query, or a status that the headset sent by itself.
    case status(HeadsetStatus)
    /// The headset says that samples `from ..< end` (indexes as sent) of a stream cannot be had any more.
    case overwritten(stream: Int, from: UInt32, end: UInt32)
    /// The headset has sent everything that was asked for, or stops; `next` is the index to read from next.
    case drainEnded(stream: Int, next: UInt32)
    /// Bytes of a stream without counter were damaged; `count` samples are missing before the next ones.
    case damaged(stream: Int, count: Int)
    /// The headset took `count` samples from `counter` on, and never sends them: no packet was lost.
    case unsent(stream: Int, counter: UInt32, count: Int)
    /// A mark that the headset itself makes: between this one and the one before it, it took exactly `sampleCount` samples of
    /// the stream, whatever arrived of them, or a multiple of that where marks were lost. It stands among the samples where the
    /// headset put it, to within `blockLength` samples: so many are sent, and lost, together; 1 where it stands between two
    /// samples. A headset that begins anew, begins to count anew.
    case periodMark(stream: Int, sampleCount: Int, blockLength: Int)
    /// Bytes that belong to no valid message were dropped; nothing can be said about samples in them.
    case discarded(byteCount: Int)
    /// The impedance of an electrode, in kΩ as the headset says it; `electrode` is an index in
    /// ``ImpedanceMeasurement/electrodes``.
    case impedance(electrode: Int, kilohms: Double)
    /// Something that a person or the headset marks, such as a blink, a button, a trigger.
    case event(HeadsetEvent)
    /// Text for people that the headset sent, such as the answer to a command.
    case message(String)
    /// What the headset is, as it says.
    case deviceInformation(DeviceInformation)
    /// The headset answered a command, and says no more than that it has done it.
    case answered
    /// The headset refused a command.
    case refused(command: UInt8, code: UInt8)
}

/// Consecutive samples of one stream.
package struct SampleBlock: Hashable, Sendable {
    /// Where the samples came from.
    package enum Origin: String, Hashable, Sendable {
        /// Sent as they were taken: their arrival shows the time.
        case live
        /// Read from the headset's memory: their arrival shows nothing.
        case memory
    }

    /// The stream's index in the headset's list of streams.
    package var stream: Int
    /// The headset's counter of the first sample, as sent; nil where the stream has none.
    package var counter: UInt32?
    /// The boot identifier that came with the samples; nil where the model has none.
    package var bootIdentifier: UInt32?
    /// The first channel that the block holds.
    package var firstChannel: Int
    /// How many channels the block holds, from ``firstChannel``.
    package var channelCount: Int
    /// How many sampling instants the block holds.
    package var instantCount: Int
    /// The range in ``Decoded/values``: `instantCount` × `channelCount` values, all channels of an instant together.
    package var values: Range<Int>
    /// Live or from memory.
    package var origin: Origin
    /// True where the values are sums of differences: wrong if a wrap of the counter was lost before them unseen.
    package var isSummed: Bool
    /// The headset's own clock when the last of the instants was taken, in ticks of ``HeadsetProfile/sampleStamps``;
    /// nil where nothing was sent that shows it. The profile says what a tick is worth; whether the clock is right, is even, or
    /// goes on at all, is the headset's word only.
    package var deviceTicks: UInt64?
    /// True where the headset took nothing of the stream between the block before and this one, as its packets show: it counted
    /// on by one, and no packet since was lost. However long that took, no wrap of the counter lies between them.
    package var followsDirectly: Bool

    /// Creates a block.
    package init(
        stream: Int, counter: UInt32?, bootIdentifier: UInt32? = nil, firstChannel: Int = 0, channelCount: Int,
        instantCount: Int, values: Range<Int>, origin: Origin = .live, isSummed: Bool = false,
        deviceTicks: UInt64? = nil, followsDirectly: Bool = false
    ) {
        self.stream = stream
        self.counter = counter
        self.bootIdentifier = bootIdentifier
        self.firstChannel = firstChannel
        self.channelCount = channelCount
        self.instantCount = instantCount
        self.values = values
        self.origin = origin
        self.isSummed = isSummed
        self.deviceTicks = deviceTicks
        self.followsDirectly = followsDirectly
    }
}
