import Bluetooth

/// A message that the headset notifies on the control or the data characteristic of the Buffered EEG service.
package enum BufferedEEGMessage: Hashable, Sendable {
    /// Begins a status report.
    case statusHeader(BufferedEEGStatusHeader)
    /// Describes a stream, within a status report.
    case stream(BufferedEEGStreamPart)
    /// Ends a status report.
    case statusEnd(streamCount: Int)
    /// Says whether a command was carried out; code 0 is success, see ``BufferedEEGService/ResultCode``.
    case result(command: UInt8, code: UInt8)
    /// Samples.
    case block(BufferedEEGBlock)
    /// Samples `from ..< end`, modulo 2^32, cannot be had any more.
    case gap(stream: Int, from: UInt32, end: UInt32, reason: BufferedEEGService.GapReason)
    /// A read ended; `next` is the index, modulo 2^32, to read from next.
    case end(stream: Int, next: UInt32, reason: BufferedEEGService.EndReason)

    static let statusEndOpcode: UInt8 = 0x83
    static let resultOpcode: UInt8 = 0x84
    static let gapOpcode: UInt8 = 0x92
    static let endOpcode: UInt8 = 0x93

    /// True for messages of the data characteristic; the others belong to the control characteristic.
    package var isData: Bool {
        switch self {
        case .block, .gap, .end: true
        case .statusHeader, .stream, .statusEnd, .result: false
        }
    }

    /// The message's bytes.
    package func encoded() -> [UInt8] {
        switch self {
        case .statusHeader(let header): return header.encoded()
        case .stream(let part): return part.encoded()
        case .statusEnd(let count): return [Self.statusEndOpcode, UInt8(clamping: count)]
        case .result(let command, let code): return [Self.resultOpcode, command, code]
        case .block(let block): return block.encoded()
        case .gap(let stream, let from, let end, let reason):
            var bytes = [Self.gapOpcode, UInt8(clamping: stream)]
            bytes.append(littleEndian: from)
            bytes.append(littleEndian: end)
            bytes.append(reason.rawValue)
            bytes.append(littleEndian: CRC32C.checksum(of: bytes))
            return bytes
        case .end(let stream, let next, let reason):
            var bytes = [Self.endOpcode, UInt8(clamping: stream)]
            bytes.append(littleEndian: next)
            bytes.append(reason.rawValue)
            bytes.append(littleEndian: CRC32C.checksum(of: bytes))
            return bytes
        }
    }

    /// Decodes a message; the host's side.
    ///
    /// - Throws: ``BufferedEEGError`` for bytes that are not exactly one message.
    package init(decoding bytes: [UInt8]) throws(BufferedEEGError) {
        guard let opcode = bytes.first else { throw .empty }
        switch opcode {
        case BufferedEEGBlock.opcode: self = .block(try BufferedEEGBlock(decoding: bytes))
        case Self.gapOpcode, Self.endOpcode: try self.init(checkedData: bytes, opcode: opcode)
        default: try self.init(control: bytes, opcode: opcode)
        }
    }

    private init(control bytes: [UInt8], opcode: UInt8) throws(BufferedEEGError) {
        var reader = BufferedEEGReader(bytes, from: 1)
        switch opcode {
        case BufferedEEGStatusHeader.opcode: self = .statusHeader(try BufferedEEGStatusHeader(reading: &reader))
        case BufferedEEGStreamPart.opcode: self = .stream(try BufferedEEGStreamPart(reading: &reader))
        case Self.statusEndOpcode: self = .statusEnd(streamCount: try reader.byte())
        case Self.resultOpcode: self = .result(command: try reader.integer(), code: try reader.integer())
        default: throw .unknownOpcode(opcode)
        }
        try reader.finish()
    }

    /// GAP and END, whose last four bytes are a CRC-32C.
    private init(checkedData bytes: [UInt8], opcode: UInt8) throws(BufferedEEGError) {
        let length = opcode == Self.gapOpcode ? 15 : 11
        if bytes.count < length { throw .truncated }
        if bytes.count > length { throw .trailingBytes(count: bytes.count - length) }
        try Self.verifyChecksum(of: bytes)
        var reader = BufferedEEGReader(bytes, from: 1)
        let stream = try reader.byte()
        guard stream < BufferedEEGService.streamCountMaximum else { throw .invalidField("stream") }
        let index: UInt32 = try reader.integer()
        if opcode == Self.gapOpcode {
            let end: UInt32 = try reader.integer()
            let reason = BufferedEEGService.GapReason(rawValue: try reader.integer()) ?? .unreadable
            self = .gap(stream: stream, from: index, end: end, reason: reason)
        } else {
            let reason = BufferedEEGService.EndReason(rawValue: try reader.integer()) ?? .failed
            self = .end(stream: stream, next: index, reason: reason)
        }
    }

    /// Compares the last four bytes with the CRC-32C of those before them.
    static func verifyChecksum(of bytes: [UInt8]) throws(BufferedEEGError) {
        guard bytes.count >= 4 else { throw .truncated }
        var reader = BufferedEEGReader(bytes, from: bytes.count - 4)
        let sent: UInt32 = try reader.integer()
        guard sent == CRC32C.checksum(of: bytes, count: bytes.count - 4) else { throw .checksumMismatch }
    }

    /// A whole status report: header, descriptions of the streams, end; in the order in which they are sent.
    ///
    /// - Parameters:
    ///   - header: holds one range a stream.
    ///   - streams: the streams, in the order of the ranges.
    ///   - length: the most bytes of one notification.
    package static func statusReport(
        _ header: BufferedEEGStatusHeader, streams: [StreamDescription],
        length: Int = BufferedEEGService.notificationLengthMaximum
    ) -> [BufferedEEGMessage] {
        var messages: [BufferedEEGMessage] = [.statusHeader(header)]
        for (index, stream) in streams.enumerated() {
            messages += BufferedEEGStreamPart.parts(of: stream, stream: index, length: length).map { .stream($0) }
        }
        return messages + [.statusEnd(streamCount: streams.count)]
    }
}
