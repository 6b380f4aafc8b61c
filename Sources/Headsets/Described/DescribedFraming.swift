/// How frames stand in the bytes of a characteristic.
package struct DescribedFraming: Hashable, Sendable {
    /// The most bytes of a frame; a value of a characteristic has 512 at most, a frame may be cut into several.
    package static let lengthMaximum = 4096

    /// A byte that must stand somewhere, as far as a mask goes.
    package struct Byte: Hashable, Sendable {
        /// What must stand there.
        package var value: UInt8
        /// Which bits of it count.
        package var mask: UInt8

        /// Creates a byte.
        package init(_ value: UInt8, mask: UInt8 = 0xFF) {
            self.value = value
            self.mask = mask
        }

        @inline(__always)
        func matches(_ byte: UInt8) -> Bool { (byte ^ value) & mask == 0 }
    }

    /// What shows the length of a frame.
    package enum Length: Hashable, Sendable {
        /// The notification: whatever it has. In a byte stream, nothing.
        case any
        /// Always so many bytes, everything counted.
        case fixed(Int)
        /// A field, to which what it leaves out is added; frames of more than `maximum` bytes in all are damaged.
        case field(DescribedField, plus: Int, maximum: Int)
        /// The kind of packet that begins here; the first that fits.
        case byKind([Kind])
    }

    /// How long the packets of one kind are.
    package struct Kind: Hashable, Sendable {
        /// What shows the kind; counted from the frame's beginning.
        package var constants: [DescribedConstant]
        /// The whole frame's bytes.
        package var length: Int

        /// Creates a kind.
        package init(constants: [DescribedConstant], length: Int) {
            self.constants = constants
            self.length = length
        }
    }

    /// True where frames stand in a stream of bytes; false where each notification is one frame.
    package var isByteStream = false
    /// In a byte stream: true where a frame may begin in one notification and end in a later one.
    package var spansNotifications = true
    /// Bytes that each frame begins with.
    package var sync: [Byte] = []
    /// What shows where it ends.
    package var length = Length.any
    /// Bytes that each frame ends with.
    package var trailer: [Byte] = []
    /// What proves that it is whole.
    package var checksum: DescribedChecksum?
    /// True where the search for the next frame goes on after a damaged frame's end; false where it goes on at the damaged
    /// frame's second byte, so that a damaged length does not swallow good frames.
    package var skipsDamagedFrame = false

    /// Each notification is one frame, of any length.
    package init() {}

    /// What a frame that begins here is; `bytes[start...]` is all there is.
    enum Verdict: Hashable {
        /// A frame of so many bytes.
        case frame(Int)
        /// None; so many bytes can be passed over.
        case none(skip: Int)
        /// Cannot be known before more bytes come.
        case incomplete
    }

    /// Judges what stands at `start` of a byte stream.
    func verdict(on bytes: [UInt8], from start: Int) -> Verdict {
        let available = bytes.count - start
        for (offset, byte) in sync.enumerated() {
            if offset >= available { return .incomplete }
            if !byte.matches(bytes[start + offset]) { return .none(skip: 1) }
        }
        let count: Int
        switch length {
        case .any: return .none(skip: 1)
        case .fixed(let fixed): count = fixed
        case .field(let field, let plus, let maximum):
            // The field stands within the shortest frame; its offset is counted from the beginning.
            guard field.byte >= 0 else { return .none(skip: 1) }
            if field.byte + field.byteCount > available { return .incomplete }
            guard let pattern = field.pattern(in: bytes, start..<bytes.count), pattern <= UInt64(Self.lengthMaximum) else {
                return .none(skip: 1)
            }
            count = Int(pattern) + plus
            guard count <= maximum else { return .none(skip: 1) }
        case .byKind(let kinds):
            guard let kind = kinds.first(where: { $0.constants.allSatisfy { $0.mayFit(bytes, from: start) } }) else {
                return .none(skip: 1)
            }
            count = kind.length
        }
        guard count > 0, count <= Self.lengthMaximum, count >= sync.count + trailer.count else { return .none(skip: 1) }
        if count > available { return .incomplete }
        return isSound(bytes, start..<start + count) ? .frame(count) : .none(skip: skipsDamagedFrame ? count : 1)
    }

    /// True where a whole notification is a frame.
    func accepts(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= sync.count + trailer.count else { return false }
        for (offset, byte) in sync.enumerated() where !byte.matches(bytes[offset]) { return false }
        switch length {
        case .any, .byKind: break
        case .fixed(let count): guard bytes.count == count else { return false }
        case .field(let field, let plus, let maximum):
            guard let pattern = field.pattern(in: bytes, 0..<bytes.count), pattern <= UInt64(Self.lengthMaximum),
                Int(pattern) + plus == bytes.count, bytes.count <= maximum
            else { return false }
        }
        return isSound(bytes, 0..<bytes.count)
    }

    private func isSound(_ bytes: [UInt8], _ frame: Range<Int>) -> Bool {
        let end = frame.upperBound - trailer.count
        for (offset, byte) in trailer.enumerated() where !byte.matches(bytes[end + offset]) { return false }
        return checksum?.holds(in: bytes, frame) ?? true
    }
}

/// Finds the frames of a byte stream that may be cut anywhere and damaged anywhere. Holds at most one frame between calls.
struct DescribedFrameBuffer: Sendable {
    /// The bytes that a frame refers to.
    private(set) var bytes: [UInt8] = []
    private(set) var hasFoundFrame = false
    /// Bytes that were passed over since the last frame.
    private var skipped = 0
    private var start = 0

    /// Adds the next piece. All frames must have been taken before.
    mutating func append(_ piece: [UInt8]) {
        bytes.removeFirst(start)
        start = 0
        bytes.append(contentsOf: piece)
    }

    /// The next frame's range in ``bytes``, or nil until more bytes come.
    mutating func next(_ framing: DescribedFraming) -> Range<Int>? {
        while start < bytes.count {
            switch framing.verdict(on: bytes, from: start) {
            case .frame(let count):
                let frame = start..<start + count
                start = frame.upperBound
                return frame
            case .none(let count): skip(count)
            case .incomplete: return nil
            }
        }
        return nil
    }

    /// The frame that was returned last is what it seems to be. Returns the bytes that were passed over before it.
    mutating func confirm() -> (skipped: Int, isFirst: Bool) {
        defer { (skipped, hasFoundFrame) = (0, true) }
        return (skipped, !hasFoundFrame)
    }

    /// The frame that was returned last is none: the search goes on at its second byte, or at its end.
    mutating func reject(_ frame: Range<Int>, _ framing: DescribedFraming) {
        start = frame.lowerBound
        skip(framing.skipsDamagedFrame ? frame.count : 1)
    }

    /// Gives up what is left of an earlier notification.
    mutating func abandonRest() {
        skip(bytes.count - start)
    }

    private mutating func skip(_ count: Int) {
        start = min(bytes.count, start + count)
        skipped += count
    }
}
