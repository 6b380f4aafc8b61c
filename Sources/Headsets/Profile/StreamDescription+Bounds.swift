/// What a description may say. Headsets, descriptors and databases of earlier versions describe streams, and any of them may be
/// wrong: nothing is computed from a description before it was checked here.
extension StreamDescription {
    /// The most streams of one headset. The largest one known, 128 channels, has 16 banks.
    package static let countMaximum = 64
    /// Samples per second, in hertz: from one in 100 s to more than any radio carries. Bounds every time that is computed
    /// from n.
    package static let samplingFrequencies = 0.01...100_000.0
    /// Samples that one step of the counter may stand for.
    package static let samplesPerCountRange = 1...65_536
    /// Values of a counter before it wraps; counters of 32 bits are the widest that are sent.
    package static let counterModuli: ClosedRange<Int64> = 2...(1 << 32)
    /// Sizes of a scale and the largest offset, in any unit: far beyond what a unit of the field needs, far within what numbers
    /// can hold.
    package static let magnitudes = 1e-30...1e30
    /// Unicode scalars of a name, a type or a unit.
    package static let textLengthMaximum = 64

    /// Checks the streams of one headset.
    ///
    /// - Throws: the first rule that is broken.
    package static func check(_ streams: [StreamDescription]) throws(StreamDescriptionError) {
        guard streams.count <= countMaximum else { throw .tooManyStreams(streams.count) }
        for (index, stream) in streams.enumerated() {
            try stream.check()
            guard !streams[..<index].contains(where: { $0.name == stream.name && $0.bank == stream.bank }) else {
                throw .repeatedStream(name: stream.name, bank: stream.bank)
            }
        }
    }

    /// Checks one stream.
    ///
    /// - Throws: the first rule that is broken.
    package func check() throws(StreamDescriptionError) {
        func require(_ holds: Bool, _ field: StreamDescriptionError.Field, _ value: Any) throws(StreamDescriptionError) {
            if !holds { throw .stream(name: name.bounded, field: field, value: "\(value)".bounded) }
        }
        try require(name.isBoundedText && !name.isEmpty, .name, name)
        try require((0..<Self.countMaximum).contains(bank), .bank, bank)
        try require(Self.samplingFrequencies.contains(samplingFrequency), .samplingFrequency, samplingFrequency)
        try require(Self.samplesPerCountRange.contains(samplesPerCount), .samplesPerCount, samplesPerCount)
        try require(counterModulus.map(Self.counterModuli.contains) ?? true, .counterModulus, counterModulus ?? 0)
        try require((1...Self.channelsPerBank).contains(channels.count), .channelCount, channels.count)
        for channel in channels { try channel.check(of: name) }
    }
}

extension ChannelDescription {
    fileprivate func check(of stream: String) throws(StreamDescriptionError) {
        func require(_ holds: Bool, _ field: StreamDescriptionError.Field, _ value: Any) throws(StreamDescriptionError) {
            guard !holds else { return }
            throw .channel(stream: stream.bounded, name: name.bounded, field: field, value: "\(value)".bounded)
        }
        try require(name.isBoundedText && !name.isEmpty, .name, name)
        try require(type.isBoundedText, .type, type)
        try require(unit.isBoundedText, .unit, unit)
        try require(StreamDescription.magnitudes.contains(abs(scale)), .scale, scale)
        try require(abs(offset) <= StreamDescription.magnitudes.upperBound, .offset, offset)
        // An offset that swallows the steps of the raw value leaves a channel that says nothing.
        try require(offset + scale != offset, .offset, offset)
        try require(rawMinimum <= rawMaximum, .rawRange, "\(rawMinimum) ... \(rawMaximum)")
    }
}

/// Which rule a description breaks.
package enum StreamDescriptionError: Error, Hashable, Sendable {
    /// What is outside of its bounds.
    package enum Field: String, Hashable, Sendable, CaseIterable {
        case name
        case bank
        case samplingFrequency = "sampling frequency"
        case samplesPerCount = "samples per count"
        case counterModulus = "counter modulus"
        case channelCount = "number of channels"
        case type
        case unit
        case scale
        case offset
        case rawRange = "raw range"
    }

    /// More streams than ``StreamDescription/countMaximum``.
    case tooManyStreams(Int)
    /// Two streams have one name and one bank.
    case repeatedStream(name: String, bank: Int)
    /// A field of a stream is outside of its bounds.
    case stream(name: String, field: Field, value: String)
    /// A field of a channel is outside of its bounds.
    case channel(stream: String, name: String, field: Field, value: String)
}

extension StreamDescriptionError: CustomStringConvertible {
    /// What is wrong; completes "the headset describes ...".
    package var description: String {
        switch self {
        case .tooManyStreams(let count): "\(count) streams, and at most \(StreamDescription.countMaximum) are believed"
        case .repeatedStream(let name, let bank): "the stream '\(name)' twice with bank \(bank)"
        case .stream(let name, let field, let value):
            "the stream '\(name)' with the \(field.rawValue) \(value), which is beyond belief"
        case .channel(let stream, let name, let field, let value):
            "the channel '\(name)' of the stream '\(stream)' with the \(field.rawValue) \(value), which is beyond belief"
        }
    }
}

extension String {
    /// True for a text that people can read in one line.
    fileprivate var isBoundedText: Bool {
        unicodeScalars.count <= StreamDescription.textLengthMaximum
            && unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }

    /// As much of the text as an error quotes, in one line.
    fileprivate var bounded: String {
        var text = ""
        for scalar in unicodeScalars.prefix(StreamDescription.textLengthMaximum) {
            text.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? "?" : scalar)
        }
        return text
    }
}
