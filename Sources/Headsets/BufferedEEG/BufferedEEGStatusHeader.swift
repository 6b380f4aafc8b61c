import Bluetooth

/// The first message of a status report of the Buffered EEG service: what the headset does and holds at one instant.
package struct BufferedEEGStatusHeader: Hashable, Sendable {
    /// The first byte.
    package static let opcode: UInt8 = 0x81

    /// What the headset holds of one stream.
    package struct StreamRange: Hashable, Sendable {
        /// Index of the oldest sample in memory, modulo 2^32.
        package var oldest: UInt32
        /// Index after the newest sample taken, modulo 2^32.
        package var end: UInt32
        /// Samples that were overwritten before they were acknowledged, since power-on; saturates.
        package var lost: UInt32

        /// Creates a range.
        package init(oldest: UInt32, end: UInt32, lost: UInt32 = 0) {
            self.oldest = oldest
            self.end = end
            self.lost = lost
        }
    }

    /// What the headset does.
    package var condition: HeadsetStatus.Condition
    /// Battery charge, 0 ... 100 %; nil where unknown.
    package var batteryPercent: UInt8?
    /// Random, new after each power-on.
    package var bootIdentifier: UInt32
    /// The headset's clock when the header was made, in ticks since power-on.
    package var deviceTicks: UInt64
    /// Ticks per second; 0 where the headset has no clock.
    package var tickFrequency: UInt32
    /// What the headset holds, one entry a stream, at most ``BufferedEEGService/streamCountMaximum``.
    package var ranges: [StreamRange]

    /// Creates a header.
    package init(
        condition: HeadsetStatus.Condition, batteryPercent: UInt8? = nil, bootIdentifier: UInt32, deviceTicks: UInt64 = 0,
        tickFrequency: UInt32 = 0, ranges: [StreamRange] = []
    ) {
        self.condition = condition
        self.batteryPercent = batteryPercent
        self.bootIdentifier = bootIdentifier
        self.deviceTicks = deviceTicks
        self.tickFrequency = tickFrequency
        self.ranges = ranges
    }

    /// The conditions in the order of their codes, from 0.
    private static let conditions: [HeadsetStatus.Condition] = [
        .streaming, .sampling, .idle, .lowPower, .bootloader, .wrongConfiguration,
    ]

    /// The message's bytes.
    package func encoded() -> [UInt8] {
        let code = Self.conditions.firstIndex(of: condition) ?? 0xFF
        var bytes = [Self.opcode, BufferedEEGService.version, UInt8(code), batteryPercent ?? 0xFF]
        bytes.append(littleEndian: bootIdentifier)
        bytes.append(littleEndian: deviceTicks)
        bytes.append(littleEndian: tickFrequency)
        let sent = ranges.prefix(BufferedEEGService.streamCountMaximum)
        bytes.append(UInt8(clamping: sent.count))
        for range in sent {
            bytes.append(littleEndian: range.oldest)
            bytes.append(littleEndian: range.end)
            bytes.append(littleEndian: range.lost)
        }
        return bytes
    }

    /// Decodes the fields after the opcode.
    init(reading reader: inout BufferedEEGReader) throws(BufferedEEGError) {
        let version = try reader.integer(UInt8.self)
        guard version == BufferedEEGService.version else { throw .unsupportedVersion(version) }
        let code = try reader.byte()
        guard code < Self.conditions.count else { throw .invalidField("condition") }
        condition = Self.conditions[code]
        let battery = try reader.integer(UInt8.self)
        guard battery <= 100 || battery == 0xFF else { throw .invalidField("battery") }
        batteryPercent = battery == 0xFF ? nil : battery
        bootIdentifier = try reader.integer()
        deviceTicks = try reader.integer()
        tickFrequency = try reader.integer()
        let count = try reader.byte()
        guard count <= BufferedEEGService.streamCountMaximum else { throw .invalidField("stream count") }
        ranges = []
        for _ in 0..<count {
            ranges.append(
                StreamRange(oldest: try reader.integer(), end: try reader.integer(), lost: try reader.integer()))
        }
    }
}
