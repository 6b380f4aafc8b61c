import Bluetooth

/// From bytes of the tap, in pieces of any length, to messages.
package struct TapDecoder: Sendable {
    /// Bytes that belong to no whole frame yet.
    private var bytes: [UInt8] = []
    private var position = 0
    /// How many frames were left out, as they hold what this version does not know.
    package private(set) var unknownCount = 0
    /// True once the greeting has shown that both speak of the same.
    private var isGreeted = false

    /// Creates a decoder for one connection.
    package init() {}

    /// Bytes that wait for the rest of their frame.
    package var waitingCount: Int { bytes.count - position }

    /// Takes bytes that were read.
    package mutating func append(_ piece: ArraySlice<UInt8>) {
        if position > 0 {
            bytes.removeFirst(position)
            position = 0
        }
        bytes += piece
    }

    /// The next message; nil where more bytes are needed.
    ///
    /// - Throws: ``TapError``; nothing that follows can be read then.
    package mutating func next() throws(TapError) -> TapMessage? {
        while bytes.count - position >= 4 {
            let length = Int(bytes[position..<position + 4].littleEndianInteger)
            guard (TapMessage.headerSize...TapMessage.sizeMaximum).contains(length) else { throw .length(bytes: length) }
            guard bytes.count - position >= 4 + length else { return nil }
            let frame = Array(bytes[position + 4..<position + 4 + length])
            position += 4 + length
            guard let message = try TapMessage(frame: frame) else {
                unknownCount += 1
                continue
            }
            if !isGreeted {
                guard case .hello(let hello) = message.content else { throw .malformed(kind: frame[0]) }
                guard hello.version == TapHello.version else { throw .version(hello.version) }
                isGreeted = true
            }
            return message
        }
        return nil
    }
}
