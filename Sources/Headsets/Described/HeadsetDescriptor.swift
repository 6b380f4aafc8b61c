package import Bluetooth

/// A model of headset as data: what a person writes down about it in a file, so that a headset that nobody has programmed
/// works like a built-in one. See the documentation page `DescribingAHeadset`.
///
/// ``DescribedProfile`` makes it a profile. Any value is harmless: what cannot be is left out of the profile or never decoded.
package struct HeadsetDescriptor: Hashable, Sendable {
    /// The model's identifier, such as `openearable-exg`.
    package var model: String
    /// The model's name for people.
    package var displayName: String
    /// What people should know: sources, what is disputed. May be empty.
    package var about = ""
    /// Which advertisements belong to the model.
    package var recognition: Recognition
    /// The services that mark a connected peripheral as one of this model.
    package var services: [BluetoothUUID]
    /// Characteristics without which it is another model.
    package var required: [BluetoothUUID] = []
    /// Characteristics with which it is another model.
    package var excluded: [BluetoothUUID] = []
    /// The characteristic whose value distinguishes two headsets of the model; nil where there is none.
    package var identityCharacteristic: BluetoothUUID?
    /// What one run of the counters lasts for.
    package var epochRule = EpochRule.connection
    /// Whether and how the headset hands over samples from its memory.
    package var memory = MemoryCapability.none
    /// Limits on the headset's silence.
    package var timing: ProfileTiming
    /// The streams; those wider than ``StreamDescription/channelsPerBank`` become several banks.
    package var streams: [DescribedStream] = []
    /// Where bytes come from, and what they mean.
    package var sources: [DescribedSource] = []
    /// Sequences of commands, at most one for a purpose.
    package var commands: [Commands] = []

    /// The commands of one purpose.
    package struct Commands: Hashable, Sendable {
        /// What they are for.
        package var purpose: CommandPurpose
        /// What is done, in order.
        package var steps: [CommandStep]

        /// Creates a sequence.
        package init(purpose: CommandPurpose, steps: [CommandStep]) {
            self.purpose = purpose
            self.steps = steps
        }
    }

    /// Creates a descriptor without streams, sources and commands.
    package init(
        model: String, displayName: String, recognition: Recognition, services: [BluetoothUUID], timing: ProfileTiming
    ) {
        self.model = model
        self.displayName = displayName
        self.recognition = recognition
        self.services = services
        self.timing = timing
    }
}

/// A stream of a described headset, of any width.
package struct DescribedStream: Hashable, Sendable {
    /// The stream's name, lower case, such as `eeg`.
    package var name: String
    /// Samples per second and channel, in hertz; greater than 0.
    package var samplingFrequency: Double
    /// How many samples one step of the counter stands for; at least 1.
    package var samplesPerCount = 1
    /// The number of values of the counter before it wraps to 0; nil where there is no counter.
    package var counterModulus: Int64?
    /// The channels, in the order of the database.
    package var channels: [ChannelDescription]

    /// Creates a stream without counter.
    package init(name: String, samplingFrequency: Double, channels: [ChannelDescription]) {
        self.name = name
        self.samplingFrequency = samplingFrequency
        self.channels = channels
    }

    /// The banks of at most eight channels that are stored.
    package var banks: [StreamDescription] {
        stride(from: 0, to: channels.count, by: StreamDescription.channelsPerBank).enumerated().map { bank, first in
            StreamDescription(
                name: name, bank: bank, samplingFrequency: samplingFrequency, samplesPerCount: samplesPerCount,
                counterModulus: counterModulus,
                channels: Array(channels[first..<min(channels.count, first + StreamDescription.channelsPerBank)]))
        }
    }
}

/// Something that bytes come from: a characteristic, how frames stand in its bytes, and what they hold.
package struct DescribedSource: Hashable, Sendable {
    /// When a characteristic is asked for its bytes.
    package enum Role: String, Hashable, Sendable, CaseIterable {
        /// Notifies samples; switched on after the headset was initialised.
        case data
        /// Notifies answers; switched on before the status query.
        case control
        /// Is read by a command, and does not notify.
        case read
    }

    /// Where the bytes come from.
    package var characteristic: BluetoothUUID
    /// When it is asked.
    package var role = Role.data
    /// True where some headsets of the model lack it; its streams then are absent.
    package var isOptional = false
    /// True where its silence alone is a lost link.
    package var isVital = false
    /// How frames stand in the bytes.
    package var framing = DescribedFraming()
    /// The kinds of packets; the first that fits is taken.
    package var packets: [DescribedPacket] = []

    /// Creates a source without packets.
    package init(characteristic: BluetoothUUID) {
        self.characteristic = characteristic
    }
}
