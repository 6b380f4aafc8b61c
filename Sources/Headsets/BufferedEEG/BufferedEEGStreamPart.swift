import Bluetooth

/// A stream's description in a status report, or a part of its channels where not all fit into one notification.
package struct BufferedEEGStreamPart: Hashable, Sendable {
    /// The first byte.
    package static let opcode: UInt8 = 0x82

    /// The stream's index in the status report.
    package var stream: Int
    /// The stream's name, 1 ... 16 printable ASCII characters.
    package var name: String
    /// The number of the bank, from 0.
    package var bank: Int
    /// Samples per second and channel, in hertz, as sent: what is believed is decided by ``StreamDescription/check()``.
    package var samplingFrequency: Double
    /// How many channels the whole stream has, 1 ... 8.
    package var channelTotal: Int
    /// The first channel that this message describes.
    package var firstChannel: Int
    /// The channels that this message describes. Sent are name, type, unit, scale, offset and the raw range as its bits.
    package var channels: [ChannelDescription]

    /// Types in BIDS's words, in the order of their codes from 0; every other type is sent as 255, `MISC`.
    private static let types = ["EEG", "EOG", "EMG", "ECG", "ACCEL", "GYRO", "MAGN", "PPG", "TEMP", "TRIG"]

    /// Splits a description into messages of at most `length` bytes; each holds at least one channel.
    package static func parts(
        of description: StreamDescription, stream: Int, length: Int = BufferedEEGService.notificationLengthMaximum
    ) -> [BufferedEEGStreamPart] {
        let empty = BufferedEEGStreamPart(
            stream: stream, name: description.name, bank: description.bank,
            samplingFrequency: description.samplingFrequency, channelTotal: description.channels.count, firstChannel: 0,
            channels: [])
        var parts: [BufferedEEGStreamPart] = []
        var part = empty
        for (index, channel) in description.channels.enumerated() {
            part.channels.append(channel)
            if part.channels.count > 1, part.encoded().count > length {
                part.channels.removeLast()
                parts.append(part)
                part = empty
                part.firstChannel = index
                part.channels.append(channel)
            }
        }
        return parts + [part]
    }

    /// The message's bytes; names that are too long are cut.
    package func encoded() -> [UInt8] {
        var bytes = [
            Self.opcode, UInt8(clamping: stream), UInt8(clamping: bank), UInt8(clamping: channelTotal),
            UInt8(clamping: firstChannel), UInt8(clamping: channels.count),
        ]
        bytes.append(littleEndian: samplingFrequency.bitPattern)
        bytes.append(text: name, maximum: BufferedEEGService.nameLengthMaximum)
        for channel in channels {
            bytes.append(UInt8(Self.types.firstIndex(of: channel.type) ?? 0xFF))
            bytes.append(Self.bits(of: channel))
            bytes.append(littleEndian: channel.scale.bitPattern)
            bytes.append(littleEndian: channel.offset.bitPattern)
            bytes.append(text: channel.name, maximum: BufferedEEGService.nameLengthMaximum)
            bytes.append(text: channel.unit, maximum: BufferedEEGService.unitLengthMaximum)
        }
        return bytes
    }
}

extension BufferedEEGStreamPart {
    /// The width of the signed integer that holds the channel's raw range: 2 ... 24 bits.
    private static func bits(of channel: ChannelDescription) -> UInt8 {
        let magnitude = max(channel.rawMaximum, ~channel.rawMinimum, 1)
        return UInt8(min(33 - magnitude.leadingZeroBitCount, 24))
    }

    /// Decodes the fields after the opcode.
    init(reading reader: inout BufferedEEGReader) throws(BufferedEEGError) {
        stream = try reader.byte()
        bank = try reader.byte()
        channelTotal = try reader.byte()
        firstChannel = try reader.byte()
        let count = try reader.byte()
        guard stream < BufferedEEGService.streamCountMaximum else { throw .invalidField("stream") }
        guard (1...StreamDescription.channelsPerBank).contains(channelTotal), count > 0,
            firstChannel + count <= channelTotal
        else { throw .invalidField("channel count") }
        samplingFrequency = try reader.double()
        name = try reader.text("stream name", maximum: BufferedEEGService.nameLengthMaximum)
        channels = []
        for _ in 0..<count { channels.append(try Self.channel(reading: &reader)) }
    }

    private static func channel(reading reader: inout BufferedEEGReader) throws(BufferedEEGError) -> ChannelDescription {
        let type = try reader.byte()
        let bits = try reader.byte()
        guard (2...24).contains(bits) else { throw .invalidField("bits") }
        let scale = try reader.double()
        let offset = try reader.double()
        let name = try reader.text("channel name", maximum: BufferedEEGService.nameLengthMaximum)
        let unit = try reader.text("unit", maximum: BufferedEEGService.unitLengthMaximum)
        return ChannelDescription(
            name: name, type: type < types.count ? types[type] : "MISC", unit: unit, scale: scale, offset: offset,
            rawMinimum: -1 << (bits - 1), rawMaximum: 1 << (bits - 1) - 1)
    }
}
