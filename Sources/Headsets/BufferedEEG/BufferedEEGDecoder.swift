package import Bluetooth

/// Decodes the notifications of the Buffered EEG service: each is one whole message.
package struct BufferedEEGDecoder: HeadsetDecoder {
    /// The status report that is being received; nil outside of a report.
    private var report: BufferedEEGStatusReport?

    /// Creates a decoder for one link.
    package init() {}

    package mutating func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID, into decoded: inout Decoded) {
        do throws(BufferedEEGError) {
            switch characteristic {
            case BufferedEEGService.data: try decodeData(bytes, into: &decoded)
            case BufferedEEGService.control: try decodeControl(bytes, into: &decoded)
            default: decoded.items.append(.discarded(byteCount: bytes.count))
            }
        } catch .unsupportedVersion {
            // A silent drop would look like a headset that does not answer.
            let code = BufferedEEGService.ResultCode.unsupportedVersion.rawValue
            decoded.items.append(.refused(command: BufferedEEGCommand.status.opcode, code: code))
        } catch {
            if characteristic == BufferedEEGService.control { report = nil }
            decoded.items.append(.discarded(byteCount: bytes.count))
        }
    }

    /// Blocks go straight from the bytes into `decoded`, without a message in between.
    private func decodeData(_ bytes: [UInt8], into decoded: inout Decoded) throws(BufferedEEGError) {
        if bytes.first == BufferedEEGBlock.opcode {
            let header = try BufferedEEGBlock.Header(decoding: bytes)
            let start = decoded.values.count
            BufferedEEGBlock.appendValues(of: bytes, to: &decoded.values)
            decoded.items.append(
                .samples(
                    SampleBlock(
                        stream: header.stream, counter: header.firstIndex, bootIdentifier: header.bootIdentifier,
                        firstChannel: header.firstChannel, channelCount: header.channelCount,
                        instantCount: header.instantCount, values: start..<decoded.values.count,
                        origin: header.isFromMemory ? .memory : .live)))
            return
        }
        switch try BufferedEEGMessage(decoding: bytes) {
        case .gap(let stream, let from, let end, _):
            decoded.items.append(.overwritten(stream: stream, from: from, end: end))
        case .end(let stream, let next, _): decoded.items.append(.drainEnded(stream: stream, next: next))
        case .statusHeader, .stream, .statusEnd, .result, .block: throw .unknownOpcode(bytes.first ?? 0)
        }
    }

    private mutating func decodeControl(_ bytes: [UInt8], into decoded: inout Decoded) throws(BufferedEEGError) {
        switch try BufferedEEGMessage(decoding: bytes) {
        case .statusHeader(let header): report = BufferedEEGStatusReport(header: header)
        case .stream(let part):
            guard report != nil else { throw .invalidField("stream") }
            try report?.append(part)
        case .statusEnd(let count):
            guard let status = try report?.status(streamCount: count) else { throw .invalidField("stream count") }
            report = nil
            decoded.items.append(.status(status))
        case .result(let command, let code):
            if code != BufferedEEGService.ResultCode.success.rawValue {
                decoded.items.append(.refused(command: command, code: code))
            }
        case .block, .gap, .end: throw .unknownOpcode(bytes.first ?? 0)
        }
    }
}
