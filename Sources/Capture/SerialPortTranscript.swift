import Bluetooth

/// What a classic serial port looks like on the air: RFCOMM on an L2CAP channel.
///
/// A ``Central`` reports only the bytes. Channel identifiers, the server channel and the size of frames are the usual ones;
/// what a host and a headset negotiate beyond that is left out.
struct SerialPortTranscript {
    /// An L2CAP frame and its direction.
    struct Frame {
        var isReceived: Bool
        var channel: UInt16
        var payload: [UInt8]
    }

    /// The first dynamically assigned channel (Core Specification, Vol 3, Part A, 2.1); both ends use it.
    private static let channel: UInt16 = 0x0040
    /// The data link connection of server channel 1, opened by the host (RFCOMM 1.1, 5.4).
    private static let link: UInt8 = 1 << 1
    /// A length of fifteen bits, less room for anybody's buffers.
    private static let payloadLimit = 32_000

    /// The beginning of a connection: the L2CAP channel to RFCOMM (PSM 3), its multiplexer, and the data link connection.
    static var preamble: [Frame] {
        let cid = AttributeTable.littleEndian(channel)
        func signal(_ isReceived: Bool, _ code: UInt8, _ identifier: UInt8, _ data: [UInt8]) -> Frame {
            Frame(
                isReceived: isReceived, channel: 1,
                payload: [code, identifier] + AttributeTable.littleEndian(UInt16(data.count)) + data)
        }
        return [
            signal(false, 0x02, 1, [0x03, 0x00] + cid),
            signal(true, 0x03, 1, cid + cid + [0, 0, 0, 0]),
            signal(false, 0x04, 2, cid + [0, 0]),
            signal(true, 0x05, 2, cid + [0, 0, 0, 0]),
            signal(true, 0x04, 3, cid + [0, 0]),
            signal(false, 0x05, 3, cid + [0, 0, 0, 0]),
            // Set Asynchronous Balanced Mode, and its acknowledgement; first the multiplexer, then the link.
            frame(0, 0x3F, isReceived: false, isCommand: true),
            frame(0, 0x73, isReceived: true, isCommand: false),
            frame(link, 0x3F, isReceived: false, isCommand: true),
            frame(link, 0x73, isReceived: true, isCommand: false),
        ]
    }

    /// Bytes of the serial port, as frames of unnumbered information.
    static func data(_ bytes: [UInt8], isReceived: Bool) -> [Frame] {
        stride(from: 0, to: bytes.count, by: payloadLimit).map { start in
            frame(
                link, 0xEF, Array(bytes[start..<min(bytes.count, start + payloadLimit)]), isReceived: isReceived,
                isCommand: true)
        }
    }

    /// A frame of RFCOMM (3GPP TS 07.10, 5.2): address, control, length, information, check sequence.
    private static func frame(
        _ link: UInt8, _ control: UInt8, _ information: [UInt8] = [], isReceived: Bool, isCommand: Bool
    ) -> Frame {
        // Commands of the host, which began, and answers to them have the bit set.
        let isFromHost = !isReceived
        let address = link << 2 | (isCommand == isFromHost ? 2 : 0) | 1
        let count = information.count
        let length: [UInt8] =
            count < 128 ? [UInt8(count) << 1 | 1] : [UInt8(truncatingIfNeeded: count << 1), UInt8(count >> 7)]
        // The check sequence of information frames covers address and control alone.
        let checked = [address, control] + (control == 0xEF ? [] : length)
        return Frame(
            isReceived: isReceived, channel: channel,
            payload: [address, control] + length + information + [checkSequence(checked)])
    }

    /// The check sequence of TS 07.10 (Annex B): polynomial x⁸ + x² + x + 1, bits reversed.
    static func checkSequence(_ bytes: [UInt8]) -> UInt8 {
        var remainder: UInt8 = 0xFF
        for byte in bytes {
            remainder ^= byte
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xE0 : remainder >> 1 }
        }
        return 0xFF - remainder
    }
}
