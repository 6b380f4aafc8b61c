/// Where a person has put the electrodes: names for a headset's EEG channels instead of those of its profile.
package struct Montage: Hashable, Sendable {
    /// The names, in the order of the channels over all banks.
    package var names: [String]

    /// Creates a montage.
    package init(_ names: [String]) {
        self.names = names
    }

    /// How many channels of a profile it can name; nil where the headset itself shows which channels it has.
    ///
    /// A descriptor names its streams whatever the GATT database decides: that the headset is one of the model, and which of
    /// the streams are sent.
    package static func channelCount(of profile: any HeadsetProfile) -> Int? {
        guard !profile.streams.isEmpty, profile is DescribedProfile || !profile.isDiscriminatedByDatabase else { return nil }
        return profile.streams.reduce(0) { $0 + $1.channels.filter { $0.type == "EEG" }.count }
    }

    /// The streams with the names; as they are where their EEG channels are not as many as there are names.
    package func applied(to streams: [StreamDescription]) -> [StreamDescription] {
        var rest = names[...]
        var named = streams
        for stream in named.indices {
            for channel in named[stream].channels.indices where named[stream].channels[channel].type == "EEG" {
                guard let name = rest.popFirst() else { return streams }
                named[stream].channels[channel].name = name
            }
        }
        return rest.isEmpty ? named : streams
    }
}
