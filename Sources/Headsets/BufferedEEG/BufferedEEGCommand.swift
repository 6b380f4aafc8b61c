import Bluetooth

/// A command that the host writes to the control characteristic of the Buffered EEG service. Integers are little-endian.
package enum BufferedEEGCommand: Hashable, Sendable {
    /// Asks for a status report.
    case status
    /// Leaves low power or the bootloader.
    case wake
    /// Applies the default configuration and samples into memory.
    case configure
    /// Sends samples live as they are taken.
    case start
    /// Stops sending and sampling; the memory stays readable.
    case stop
    /// Reads a stream's memory from index `from`, modulo 2^32, up to the newest sample; at most `credit` blocks at first.
    case read(stream: Int, from: UInt32, credit: UInt16)
    /// Allows `blocks` more blocks of the stream's running read.
    case credit(stream: Int, blocks: UInt16)
    /// Says that all samples before index `upTo`, modulo 2^32, are committed to disk; the headset may forget them.
    case acknowledge(stream: Int, upTo: UInt32)
    /// Ends the stream's running read.
    case abort(stream: Int)
    /// Gives the host's UTC, in microseconds since 1970, and how uncertain it is.
    case setTime(microsecondsSince1970: UInt64, uncertaintyMicroseconds: UInt32)

    /// The first byte.
    package var opcode: UInt8 {
        switch self {
        case .status: 0x01
        case .wake: 0x02
        case .configure: 0x03
        case .start: 0x04
        case .stop: 0x05
        case .read: 0x06
        case .credit: 0x07
        case .acknowledge: 0x08
        case .abort: 0x09
        case .setTime: 0x0A
        }
    }

    /// The command as one step of a sequence: written with response, so that commands never overtake each other.
    package var step: CommandStep { .write(encoded(), to: BufferedEEGService.control, type: .withResponse) }

    /// The command's bytes.
    package func encoded() -> [UInt8] {
        var bytes = [opcode]
        switch self {
        case .status, .wake, .configure, .start, .stop: break
        case .read(let stream, let from, let credit):
            bytes.append(UInt8(clamping: stream))
            bytes.append(littleEndian: from)
            bytes.append(littleEndian: credit)
        case .credit(let stream, let blocks):
            bytes.append(UInt8(clamping: stream))
            bytes.append(littleEndian: blocks)
        case .acknowledge(let stream, let upTo):
            bytes.append(UInt8(clamping: stream))
            bytes.append(littleEndian: upTo)
        case .abort(let stream): bytes.append(UInt8(clamping: stream))
        case .setTime(let microseconds, let uncertainty):
            bytes.append(littleEndian: microseconds)
            bytes.append(littleEndian: uncertainty)
        }
        return bytes
    }

    /// Decodes a command; the headset's side.
    ///
    /// - Throws: ``BufferedEEGError`` for bytes that are not exactly one command.
    package init(decoding bytes: [UInt8]) throws(BufferedEEGError) {
        guard let opcode = bytes.first else { throw .empty }
        var reader = BufferedEEGReader(bytes, from: 1)
        switch opcode {
        case 0x01: self = .status
        case 0x02: self = .wake
        case 0x03: self = .configure
        case 0x04: self = .start
        case 0x05: self = .stop
        case 0x06: self = .read(stream: try reader.byte(), from: try reader.integer(), credit: try reader.integer())
        case 0x07: self = .credit(stream: try reader.byte(), blocks: try reader.integer())
        case 0x08: self = .acknowledge(stream: try reader.byte(), upTo: try reader.integer())
        case 0x09: self = .abort(stream: try reader.byte())
        case 0x0A:
            self = .setTime(microsecondsSince1970: try reader.integer(), uncertaintyMicroseconds: try reader.integer())
        default: throw .unknownOpcode(opcode)
        }
        try reader.finish()
    }
}
