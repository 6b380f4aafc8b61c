import Bluetooth

/// Consecutive samples of one stream, or of a part of its channels: the BLOCK message of the Buffered EEG service.
package struct BufferedEEGBlock: Hashable, Sendable {
    /// The first byte of a BLOCK.
    package static let opcode: UInt8 = 0x91
    /// Bytes before the samples.
    package static let headerLength = 14
    /// Bytes of header and CRC-32C together.
    package static let overhead = headerLength + 4
    /// The range of a sample: signed, 24 bits.
    package static let valueRange: ClosedRange<Int32> = -0x80_0000...0x7F_FFFF

    /// What stands before the samples.
    package var header: Header
    /// `instantCount` × `channelCount` raw values, all channels of an instant together; clamped to ``valueRange`` when sent.
    package var values: [Int32]

    /// Creates a block.
    package init(header: Header, values: [Int32]) {
        self.header = header
        self.values = values
    }

    /// What stands before the samples of a block.
    package struct Header: Hashable, Sendable {
        /// True where the samples were read from memory, false where they are sent as they were taken.
        package var isFromMemory: Bool
        /// The boot identifier of the headset that took the samples.
        package var bootIdentifier: UInt32
        /// The stream's index in the status report.
        package var stream: Int
        /// The first channel in the block, 0 ... 7.
        package var firstChannel: Int
        /// How many channels are in the block, 1 ... 8 - ``firstChannel``.
        package var channelCount: Int
        /// How many sampling instants are in the block, 1 ... 255.
        package var instantCount: Int
        /// The first sample's index, modulo 2^32.
        package var firstIndex: UInt32

        /// Creates a header.
        package init(
            isFromMemory: Bool, bootIdentifier: UInt32, stream: Int, firstChannel: Int = 0, channelCount: Int,
            instantCount: Int, firstIndex: UInt32
        ) {
            self.isFromMemory = isFromMemory
            self.bootIdentifier = bootIdentifier
            self.stream = stream
            self.firstChannel = firstChannel
            self.channelCount = channelCount
            self.instantCount = instantCount
            self.firstIndex = firstIndex
        }
    }

    /// The most instants of `channelCount` channels that fit into a notification of `length` bytes; at least 0, at most 255.
    package static func instantCountMaximum(
        channelCount: Int, length: Int = BufferedEEGService.notificationLengthMaximum
    ) -> Int {
        min(255, max(0, length - overhead) / (3 * max(1, channelCount)))
    }
}

extension BufferedEEGBlock.Header {
    /// Decodes the header of a BLOCK and proves the whole message: its length, its fields and its CRC-32C.
    ///
    /// - Throws: ``BufferedEEGError``.
    package init(decoding bytes: [UInt8]) throws(BufferedEEGError) {
        guard let opcode = bytes.first else { throw .empty }
        guard opcode == BufferedEEGBlock.opcode else { throw .unknownOpcode(opcode) }
        guard bytes.count >= BufferedEEGBlock.overhead else { throw .truncated }
        var reader = BufferedEEGReader(bytes, from: 1)
        // Bits 1 ... 7 of the flags are reserved for later versions and ignored.
        isFromMemory = try reader.byte() & 1 == 1
        bootIdentifier = try reader.integer()
        stream = try reader.byte()
        firstChannel = try reader.byte()
        channelCount = try reader.byte()
        instantCount = try reader.byte()
        firstIndex = try reader.integer()
        let length = BufferedEEGBlock.overhead + channelCount * instantCount * 3
        if bytes.count < length { throw .truncated }
        if bytes.count > length { throw .trailingBytes(count: bytes.count - length) }
        try BufferedEEGMessage.verifyChecksum(of: bytes)
        guard stream < BufferedEEGService.streamCountMaximum else { throw .invalidField("stream") }
        guard channelCount > 0, firstChannel + channelCount <= StreamDescription.channelsPerBank else {
            throw .invalidField("channel count")
        }
        guard instantCount > 0 else { throw .invalidField("instant count") }
    }
}

extension BufferedEEGBlock {
    /// Decodes a BLOCK.
    ///
    /// - Throws: ``BufferedEEGError``.
    package init(decoding bytes: [UInt8]) throws(BufferedEEGError) {
        header = try Header(decoding: bytes)
        values = []
        Self.appendValues(of: bytes, to: &values)
    }

    /// Appends the samples of a BLOCK whose header was decoded.
    static func appendValues(of bytes: [UInt8], to values: inout [Int32]) {
        bytes.withUnsafeBufferPointer { bytes in
            var position = headerLength
            while position + 3 <= bytes.count - 4 {
                let raw =
                    UInt32(bytes[position]) << 8 | UInt32(bytes[position + 1]) << 16 | UInt32(bytes[position + 2]) << 24
                values.append(Int32(bitPattern: raw) >> 8)
                position += 3
            }
        }
    }

    /// The message's bytes.
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.overhead + values.count * 3)
        bytes.append(Self.opcode)
        bytes.append(header.isFromMemory ? 1 : 0)
        bytes.append(littleEndian: header.bootIdentifier)
        bytes.append(UInt8(clamping: header.stream))
        bytes.append(UInt8(clamping: header.firstChannel))
        bytes.append(UInt8(clamping: header.channelCount))
        bytes.append(UInt8(clamping: header.instantCount))
        bytes.append(littleEndian: header.firstIndex)
        for value in values {
            let bits = UInt32(bitPattern: min(max(value, Self.valueRange.lowerBound), Self.valueRange.upperBound))
            bytes.append(UInt8(truncatingIfNeeded: bits))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
            bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
        }
        bytes.append(littleEndian: CRC32C.checksum(of: bytes))
        return bytes
    }
}
