import Headsets
import YAMLReading

/// Streams and channels.
extension DescriptorReader {
    /// The most streams; each bank of 8 channels is one in the database.
    private static let streamsMaximum = 16
    /// The most channels of a stream.
    private static let channelsMaximum = 256

    /// Channel types of BIDS (EEG, physiological and motion recordings).
    private static let channelTypes = [
        "EEG", "EOG", "HEOG", "VEOG", "EMG", "ECG", "PPG", "GSR", "RESP", "TEMP", "ACCEL", "ANGACC", "GYRO", "MAGN", "ORNT",
        "POS", "VEL", "TRIG", "REF", "AUDIO", "EYEGAZE", "PUPIL", "LATENCY", "SYSCLOCK", "MISC",
    ]
    /// Scales and offsets; see ``StreamDescription/magnitudes``.
    private static let magnitudes = -StreamDescription.magnitudes.upperBound...StreamDescription.magnitudes.upperBound
    private static let channelKeys = ["type", "unit", "scale", "offset", "range"]

    mutating func readStreams(_ found: YAMLFields, isDescribedByHeadset: Bool) {
        let node =
            isDescribedByHeadset ? optional("streams", found) : required("streams", found, "a list with at least one stream")
        guard let node else { return }
        guard let elements = node.elements, !elements.isEmpty else {
            if !node.isOpen { complain(node, "\(node.kind) is not a list of streams", "begin each stream with '- name:'") }
            return
        }
        if elements.count > Self.streamsMaximum {
            complain(node, "\(elements.count) streams are too many", "at most \(Self.streamsMaximum)")
        }
        for element in elements.prefix(Self.streamsMaximum) where !element.isOpen { readStream(element) }
    }

    private mutating func readStream(_ node: YAMLValue) {
        let found = fields(node, ["name", "sampling_frequency_hertz", "counter", "channels"] + Self.channelKeys)
        let nameHint = "1 ... 32 lower-case letters, digits and '_', beginning with a letter"
        let nameNode = required("name", found, nameHint)
        let name = text(nameNode, limit: 32, allowed: nameHint) ?? ""
        if let nameNode, !name.isEmpty {
            let isLegal = name.unicodeScalars.allSatisfy { ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "_" }
            if !isLegal || !(name.first?.isLetter ?? false) {
                complain(nameNode, "'\(name)' is no name for a stream", nameHint)
            }
            if streams.contains(where: { $0.stream.name == name }) {
                complain(nameNode, "the name '\(name)' is taken by another stream")
            }
        }
        let frequency = number(
            required("sampling_frequency_hertz", found, "samples per second and channel"),
            StreamDescription.samplingFrequencies)
        let usual = channel(named: "", found, usual: nil, isScaleRequired: false)
        var draft = DraftStream(
            stream: DescribedStream(name: name, samplingFrequency: frequency ?? 1, channels: []), node: node, hasRange: [],
            filled: [])
        readCounter(found, &draft)
        if let list = required("channels", found, "the channels' names, in the order in which they are stored") {
            readChannels(list, found, usual: usual, &draft)
        }
        draft.filled = draft.stream.channels.map { _ in false }
        streams.append(draft)
    }

    private mutating func readCounter(_ found: YAMLFields, _ draft: inout DraftStream) {
        guard let node = optional("counter", found) else { return }
        let counter = fields(node, ["modulus", "samples_per_count"])
        if let modulus = integer(counter["modulus"], 2...(1 << 32)) {
            draft.stream.counterModulus = Int64(modulus)
            draft.hasModulus = true
        }
        if let samples = integer(counter["samples_per_count"], StreamDescription.samplesPerCountRange) {
            draft.stream.samplesPerCount = samples
            draft.hasSamplesPerCount = true
        }
        // A fact that is to be filled in is not missing.
        draft.hasSamplesPerCount = draft.hasSamplesPerCount || counter["samples_per_count"]?.isOpen == true
    }

    private mutating func readChannels(
        _ list: YAMLValue, _ stream: YAMLFields, usual: (ChannelDescription, hasRange: Bool),
        _ draft: inout DraftStream
    ) {
        guard let elements = list.elements, !elements.isEmpty else {
            complain(list, "\(list.kind) is not a list of channels", "write [Fp1, Fp2], or a mapping for each channel")
            return
        }
        if elements.count > Self.channelsMaximum {
            complain(list, "\(elements.count) channels are too many", "at most \(Self.channelsMaximum)")
        }
        let hint = "1 ... 32 characters"
        // A key without a value says as little as none.
        var isScaleMissing = stream["scale"].map { $0.isEmpty && !$0.isOpen } ?? true
        for element in elements.prefix(Self.channelsMaximum) where !element.isOpen {
            var described = usual
            var name: String?
            if element.entries != nil {
                let own = fields(element, ["name"] + Self.channelKeys)
                name = text(required("name", own, hint), limit: 32, allowed: hint)
                described = channel(named: "", own, usual: usual, isScaleRequired: isScaleMissing)
            } else {
                name = text(element, limit: 32, allowed: hint)
                if isScaleMissing, stream.isMapping {
                    complain(stream.owner, "'scale' is missing", "physical value = scale × raw + offset, in 'unit'")
                    isScaleMissing = false
                }
            }
            guard let name else { continue }
            if draft.stream.channels.contains(where: { $0.name == name }) {
                complain(element, "the channel '\(YAMLValue.printable(name))' is named twice")
            }
            described.0.name = name
            draft.stream.channels.append(described.0)
            draft.hasRange.append(described.hasRange)
        }
    }

    /// What a stream says of all its channels, or a channel of itself.
    private mutating func channel(
        named name: String, _ found: YAMLFields, usual: (channel: ChannelDescription, hasRange: Bool)?,
        isScaleRequired: Bool
    ) -> (ChannelDescription, hasRange: Bool) {
        var channel = usual?.channel ?? ChannelDescription(name: name, scale: 1, rawMinimum: .min, rawMaximum: .max)
        var hasRange = usual?.hasRange ?? false
        if let type = word(optional("type", found), Self.channelTypes.map { ($0, $0) }) { channel.type = type }
        if let unit = text(optional("unit", found), limit: 16, allowed: "a unit in BIDS's words, such as uV") {
            channel.unit = unit
        }
        let scaleNode =
            isScaleRequired
            ? required("scale", found, "physical value = scale × raw + offset, in 'unit'") : optional("scale", found)
        if let scale = number(scaleNode, Self.magnitudes, nonzero: true) { channel.scale = scale }
        if let offset = number(optional("offset", found), Self.magnitudes) { channel.offset = offset }
        if let range = optional("range", found) {
            let limits = range.elements?.compactMap { integer($0, Int(Int32.min)...Int(Int32.max)) } ?? []
            if limits.count == 2, limits[0] < limits[1] {
                (channel.rawMinimum, channel.rawMaximum, hasRange) = (Int32(limits[0]), Int32(limits[1]), true)
            } else {
                complain(
                    range, "\(range.kind) is no range",
                    "write the lowest and the highest raw value, such as [-8388608, 8388607]")
            }
        }
        return (channel, hasRange)
    }

    /// Checks that packets fill all streams, and hands these over.
    mutating func settleStreams(_ descriptor: inout HeadsetDescriptor) {
        // What could not be read may be what fills them.
        let isReadable = problems.isEmpty
        for draft in streams where descriptor.memory == .none && isReadable {
            for (index, isFilled) in draft.filled.enumerated() where !isFilled {
                // With a source of its own missing, one complaint says it all.
                if !draft.filled.contains(true) {
                    complain(draft.node, "no packet of 'sources' has samples of the stream '\(draft.stream.name)'")
                    break
                }
                complain(draft.node, "no packet has samples of the channel '\(draft.stream.channels[index].name)'")
            }
        }
        descriptor.streams = streams.map(\.stream)
        guard isReadable, let first = streams.first else { return }
        do throws(StreamDescriptionError) {
            try StreamDescription.check(descriptor.streams.flatMap(\.banks))
        } catch {
            complain(first.node, "the descriptor describes \(error)")
        }
    }
}
