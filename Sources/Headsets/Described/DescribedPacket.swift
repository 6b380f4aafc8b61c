/// One kind of packet: how it differs from others, and what it holds.
public struct DescribedPacket: Hashable, Sendable {
    /// What it is called in messages to people.
    public var name: String
    /// How many bytes the frame has; nil for any number that is enough.
    public var length: Int?
    /// Constants that distinguish this kind from others; all must fit.
    public var constants: [DescribedConstant] = []
    /// The counter, of packets or of samples; nil where there is none.
    public var counter: DescribedField?
    /// Samples.
    public var samples: [DescribedSamples] = []
    /// The headset's status.
    public var status: DescribedStatus?
    /// Something that the headset marks at this instant.
    public var annotation: DescribedText?
    /// A text for people.
    public var message: DescribedString?

    /// Creates a kind of packet that holds nothing.
    public init(name: String) {
        self.name = name
    }
}

/// A field that must have one of some values.
public struct DescribedConstant: Hashable, Sendable {
    /// Where.
    public var field: DescribedField
    /// Which bits of it count.
    public var mask: UInt64
    /// What must stand there; any one of them.
    public var values: [UInt64]

    /// Creates a constant.
    public init(field: DescribedField, mask: UInt64 = .max, values: [UInt64]) {
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
public struct DescribedSamples: Hashable, Sendable {
    /// How many instants a packet holds.
    public enum Count: Hashable, Sendable {
        /// Always so many.
        case fixed(Int)
        /// As a field says.
        case field(DescribedField)
        /// As many as fit, up to so many bytes before the frame's end.
        case rest(except: Int)
    }

    /// The stream's index in ``HeadsetDescriptor/streams``.
    public var stream: Int
    /// The first value.
    public var first: DescribedField
    /// How many instants.
    public var count: Count
    /// The channels (indices in the stream) in the order of the values; nil for values that are not stored.
    public var channels: [Int?]
    /// True where all values of a channel stand together; false where all values of an instant do.
    public var isChannelMajor = false
    /// Bits from one instant to the next (or, channel-major, from one channel to the next), where they do not simply
    /// follow each other.
    public var strideBits: Int?
    /// What one stored count of a floating-point value stands for, in the value's own unit; greater than 0.
    public var quantum = 1.0

    /// Creates samples that follow each other, all values of an instant together.
    public init(stream: Int, first: DescribedField, count: Count, channels: [Int?]) {
        self.stream = stream
        self.first = first
        self.count = count
        self.channels = channels
    }
}

/// The fields of a status. What is not described is not reported.
public struct DescribedStatus: Hashable, Sendable {
    /// What shows the condition.
    public enum Condition: Hashable, Sendable {
        /// Streaming once samples have come on this link, idle before.
        case bySamples
        /// Always the same.
        case fixed(HeadsetStatus.Condition)
        /// By a field's values; a value that is not listed is `otherwise`.
        case field(DescribedField, values: [Value], otherwise: HeadsetStatus.Condition)
    }

    /// What one value of a field means.
    public struct Value: Hashable, Sendable {
        /// The value.
        public var value: UInt64
        /// What it means.
        public var condition: HeadsetStatus.Condition

        /// Creates a value.
        public init(_ value: UInt64, _ condition: HeadsetStatus.Condition) {
            self.value = value
            self.condition = condition
        }
    }

    /// A number with a scale: physical = scale × raw + offset.
    public struct Quantity: Hashable, Sendable {
        /// Where.
        public var field: DescribedField
        /// Not 0.
        public var scale = 1.0
        /// What raw 0 stands for.
        public var offset = 0.0

        /// Creates a quantity.
        public init(field: DescribedField, scale: Double = 1, offset: Double = 0) {
            self.field = field
            self.scale = scale
            self.offset = offset
        }
    }

    /// What the headset does.
    public var condition = Condition.bySamples
    /// A number that is new after each power-on.
    public var bootIdentifier: DescribedField?
    /// The battery's charge in percent.
    public var battery: Quantity?
    /// What distinguishes two headsets of the model.
    public var serialNumber: DescribedString?
    /// The headset's clock, in ticks.
    public var ticks: DescribedField?
    /// Ticks per second, in hertz; greater than 0.
    public var tickFrequency = 1000.0

    /// Creates a status that says nothing.
    public init() {}
}

/// A text in a frame.
public struct DescribedString: Hashable, Sendable {
    /// The first byte; negative numbers count from the frame's end.
    public var byte: Int
    /// How many bytes; nil for all up to the frame's end.
    public var length: Int?
    /// True where the bytes are to be written in hexadecimal digits; false where they are ASCII or UTF-8, ended by a 0 if
    /// shorter.
    public var isHexadecimal = false

    /// Creates a text.
    public init(byte: Int, length: Int? = nil, isHexadecimal: Bool = false) {
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
public struct DescribedText: Hashable, Sendable {
    /// A piece of it.
    public enum Part: Hashable, Sendable {
        /// Always the same.
        case text(String)
        /// By a field's values. One that is not listed is written as `otherwise`; where that is nil too, the packet is none of
        /// its kind. Without any words, the number itself is written.
        case value(DescribedField, words: [Word], otherwise: String?)
    }

    /// What one value is called.
    public struct Word: Hashable, Sendable {
        /// The value.
        public var value: UInt64
        /// The word.
        public var word: String

        /// Creates a word.
        public init(_ value: UInt64, _ word: String) {
            self.value = value
            self.word = word
        }
    }

    /// The pieces, in order.
    public var parts: [Part]

    /// Creates a text.
    public init(_ parts: [Part]) {
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
