/// One kind of packet: how it differs from others, and what it holds.
package struct DescribedPacket: Hashable, Sendable {
    /// What it is called in messages to people.
    package var name: String
    /// How many bytes the frame has; nil for any number that is enough.
    package var length: Int?
    /// Constants that distinguish this kind from others; all must fit.
    package var constants: [DescribedConstant] = []
    /// The counter, of packets or of samples; nil where there is none.
    package var counter: DescribedField?
    /// Samples.
    package var samples: [DescribedSamples] = []
    /// The headset's status.
    package var status: DescribedStatus?
    /// Something that the headset marks at this instant.
    package var annotation: DescribedAnnotation?
    /// A text for people.
    package var message: DescribedString?

    /// Creates a kind of packet that holds nothing.
    package init(name: String) {
        self.name = name
    }
}

/// A field that must have one of some values.
package struct DescribedConstant: Hashable, Sendable {
    /// Where.
    package var field: DescribedField
    /// Which bits of it count.
    package var mask: UInt64
    /// What must stand there; any one of them.
    package var values: [UInt64]

    /// Creates a constant.
    package init(field: DescribedField, mask: UInt64 = .max, values: [UInt64]) {
        self.field = field
        self.mask = mask
        self.values = values
    }

    /// False where a frame that begins at `start` cannot have the constant; true also where that many bytes have not come yet.
    func mayFit(_ bytes: [UInt8], from start: Int) -> Bool {
        if field.byte < 0 || start + field.byte + field.byteCount > bytes.count { return true }
        return fits(bytes, start..<bytes.count)
    }

    func fits(_ bytes: [UInt8], _ frame: Range<Int>) -> Bool {
        guard let pattern = field.pattern(in: bytes, frame) else { return false }
        return values.contains { (pattern ^ $0) & mask == 0 }
    }
}

/// Samples of one stream within a packet: instants × channels.
package struct DescribedSamples: Hashable, Sendable {
    /// How many instants a packet holds.
    package enum Count: Hashable, Sendable {
        /// Always so many.
        case fixed(Int)
        /// As a field says.
        case field(DescribedField)
        /// As many as fit, up to so many bytes before the frame's end.
        case rest(except: Int)
    }

    /// The stream's index in ``HeadsetDescriptor/streams``.
    package var stream: Int
    /// The first value.
    package var first: DescribedField
    /// How many instants.
    package var count: Count
    /// The channels (indices in the stream) in the order of the values; nil for values that are not stored.
    package var channels: [Int?]
    /// True where all values of a channel stand together; false where all values of an instant do.
    package var isChannelMajor = false
    /// Bits from one instant to the next (or, channel-major, from one channel to the next), where they do not simply
    /// follow each other.
    package var strideBits: Int?
    /// What one stored count of a floating-point value stands for, in the value's own unit; greater than 0.
    package var quantum = 1.0

    /// Creates samples that follow each other, all values of an instant together.
    package init(stream: Int, first: DescribedField, count: Count, channels: [Int?]) {
        self.stream = stream
        self.first = first
        self.count = count
        self.channels = channels
    }
}

/// The fields of a status. What is not described is not reported.
package struct DescribedStatus: Hashable, Sendable {
    /// What shows the condition.
    package enum Condition: Hashable, Sendable {
        /// Streaming once samples have come on this link, idle before.
        case bySamples
        /// Always the same.
        case fixed(HeadsetStatus.Condition)
        /// By a field's values; a value that is not listed is `otherwise`.
        case field(DescribedField, values: [Value], otherwise: HeadsetStatus.Condition)
    }

    /// What one value of a field means.
    package struct Value: Hashable, Sendable {
        /// The value.
        package var value: UInt64
        /// What it means.
        package var condition: HeadsetStatus.Condition

        /// Creates a value.
        package init(_ value: UInt64, _ condition: HeadsetStatus.Condition) {
            self.value = value
            self.condition = condition
        }
    }

    /// A number with a scale: physical = scale × raw + offset.
    package struct Quantity: Hashable, Sendable {
        /// Where.
        package var field: DescribedField
        /// Not 0.
        package var scale = 1.0
        /// What raw 0 stands for.
        package var offset = 0.0

        /// Creates a quantity.
        package init(field: DescribedField, scale: Double = 1, offset: Double = 0) {
            self.field = field
            self.scale = scale
            self.offset = offset
        }
    }

    /// What the headset does.
    package var condition = Condition.bySamples
    /// A number that is new after each power-on.
    package var bootIdentifier: DescribedField?
    /// The battery's charge in percent.
    package var battery: Quantity?
    /// What distinguishes two headsets of the model.
    package var serialNumber: DescribedString?
    /// The headset's clock, in ticks.
    package var ticks: DescribedField?
    /// Ticks per second, in hertz; greater than 0.
    package var tickFrequency = 1000.0

    /// Creates a status that says nothing.
    package init() {}
}

/// A text in a frame.
package struct DescribedString: Hashable, Sendable {
    /// The first byte; negative numbers count from the frame's end.
    package var byte: Int
    /// How many bytes; nil for all up to the frame's end.
    package var length: Int?
    /// True where the bytes are to be written in hexadecimal digits; false where they are ASCII or UTF-8, ended by a 0 if
    /// shorter.
    package var isHexadecimal = false

    /// Creates a text.
    package init(byte: Int, length: Int? = nil, isHexadecimal: Bool = false) {
        self.byte = byte
        self.length = length
        self.isHexadecimal = isHexadecimal
    }

    /// The text, or nil where the frame is too short or nothing readable stands there.
    func text(in bytes: [UInt8], _ frame: Range<Int>) -> String? {
        let first = frame.lowerBound + (byte < 0 ? frame.count + byte : byte)
        guard first >= frame.lowerBound, first <= frame.upperBound else { return nil }
        let wanted = max(0, length ?? frame.upperBound - first)
        guard wanted <= frame.upperBound - first else { return nil }
        let characters = bytes[first..<first + wanted]
        if isHexadecimal {
            return wanted == 0 ? nil : characters.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        var text = String(decoding: characters.prefix { $0 != 0 }, as: UTF8.self)
        while let last = text.unicodeScalars.last, last.properties.isWhitespace { text.unicodeScalars.removeLast() }
        return text.isEmpty || text.unicodeScalars.contains { $0.value < 32 || $0.value == 127 } ? nil : text
    }
}

/// A sentence with values of fields in it.
package struct DescribedText: Hashable, Sendable {
    /// A piece of it.
    package enum Part: Hashable, Sendable {
        /// Always the same.
        case text(String)
        /// By a field's values. One that is not listed is written as `otherwise`; where that is nil too, the packet is none of
        /// its kind. Without any words, the number itself is written.
        case value(DescribedField, words: [Word], otherwise: String?)
    }

    /// What one value is called.
    package struct Word: Hashable, Sendable {
        /// The value.
        package var value: UInt64
        /// The word.
        package var word: String

        /// Creates a word.
        package init(_ value: UInt64, _ word: String) {
            self.value = value
            self.word = word
        }
    }

    /// The pieces, in order.
    package var parts: [Part]

    /// Creates a text.
    package init(_ parts: [Part]) {
        self.parts = parts
    }

    /// The text, or nil where the frame is too short or has a value that nobody has listed.
    func text(in bytes: [UInt8], _ frame: Range<Int>) -> String? {
        var result = ""
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .value(let field, let words, let otherwise):
                guard let pattern = field.pattern(in: bytes, frame) else { return nil }
                if let word = words.first(where: { $0.value == pattern })?.word ?? otherwise {
                    result += word
                } else if !words.isEmpty {
                    return nil
                } else {
                    result += field.number.integer(pattern).map { String($0) } ?? String(pattern)
                }
            }
        }
        return result
    }
}
