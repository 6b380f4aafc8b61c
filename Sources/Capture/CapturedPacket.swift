package import Bluetooth

/// One HCI packet that went between this machine and a peripheral, or would have.
package struct CapturedPacket: Hashable, Sendable {
    /// The kind of an HCI packet, as HCI UART (H4) has it (Core Specification, Vol 4, Part A, 2).
    package enum Kind: UInt8, Hashable, Sendable {
        /// Asynchronous data: what goes over the air.
        case data = 0x02
        /// What the controller reports: the beginning and the end of a connection.
        case event = 0x04
    }

    /// The peripheral at the other end.
    package var peripheral: PeripheralIdentifier
    /// When it was sent or received.
    package var time: MonotonicTime
    /// Data or event.
    package var kind: Kind
    /// True from the peripheral to this machine.
    package var isReceived: Bool
    /// The packet, without the byte of its kind.
    package var bytes: [UInt8]

    /// True for the beginning of a connection.
    package var beginsLink: Bool { kind == .event && (bytes.first == 0x03 || bytes.first == 0x3E) }

    /// Creates a packet.
    package init(peripheral: PeripheralIdentifier, time: MonotonicTime, kind: Kind, isReceived: Bool, bytes: [UInt8]) {
        self.peripheral = peripheral
        self.time = time
        self.kind = kind
        self.isReceived = isReceived
        self.bytes = bytes
    }
}

/// The format of btsnoop files, version 1, as BlueZ (`monitor/btsnoop.c`) and Wireshark read it; packets are of the kind HCI
/// UART, which both know.
package enum SnoopFormat {
    /// 1970 in microseconds since the year 0, from which btsnoop counts (BlueZ, `monitor/btsnoop.c`: 2000 is
    /// 0x00E03AB44A676000).
    static let unixEpochMicroseconds: Int64 = 0x00DC_DDB3_0F2F_8000

    /// What a file begins with: its name, version 1, and datalink 1002.
    package static let header: [UInt8] = Array("btsnoop".utf8) + [0, 0, 0, 0, 1, 0, 0, 0x03, 0xEA]

    /// Appends the record of a packet.
    ///
    /// - Parameters:
    ///   - unixNanoseconds: UTC of the packet, in nanoseconds since 1970.
    ///   - dropped: how many packets were lost since the file began.
    package static func append(
        _ packet: CapturedPacket, unixNanoseconds: Int64, dropped: Int = 0, to file: inout [UInt8]
    ) {
        let length = UInt64(packet.bytes.count + 1)
        append(length, width: 4, to: &file)
        append(length, width: 4, to: &file)
        // Bit 0: received; bit 1: a command or an event.
        append((packet.isReceived ? 1 : 0) | (packet.kind == .event ? 2 : 0), width: 4, to: &file)
        append(UInt64(UInt32(clamping: dropped)), width: 4, to: &file)
        append(UInt64(bitPattern: Self.unixEpochMicroseconds + unixNanoseconds / 1000), width: 8, to: &file)
        file.append(packet.kind.rawValue)
        file += packet.bytes
    }

    /// Big-endian, as everything in the file.
    private static func append(_ value: UInt64, width: Int, to file: inout [UInt8]) {
        for shift in (0..<width).reversed() { file.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(shift)))) }
    }
}
