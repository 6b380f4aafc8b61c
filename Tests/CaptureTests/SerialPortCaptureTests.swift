import Bluetooth
import Capture
import Testing

/// Serial ports in btsnoop files of other programs: RFCOMM frames with credits, long lengths and several channels.
struct SerialPortCaptureTests {
    private static let peer = PeripheralIdentifier(address: 0xA4_DA_32_00_00_01, type: .classic)

    private func packet(_ channel: UInt16, _ payload: [UInt8], isReceived: Bool, at milliseconds: Int64) -> CapturedPacket {
        func word(_ value: Int) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }
        return CapturedPacket(
            peripheral: Self.peer, time: .boot + .milliseconds(milliseconds), kind: .data, isReceived: isReceived,
            bytes: [0x0B, isReceived ? 0x20 : 0] + word(payload.count + 4) + word(payload.count) + word(Int(channel)) + payload)
    }

    private func capture(_ packets: [CapturedPacket]) throws -> [(peripheral: CapturedPeripheral, capture: Capture)] {
        let connected = CapturedPacket(
            peripheral: Self.peer, time: .boot, kind: .event, isReceived: true,
            bytes: [0x03, 11, 0, 0x0B, 0, 1, 0, 0, 0x32, 0xDA, 0xA4, 1, 0])
        return try Capture.peripherals(btsnoop: CapturedLink.file([connected] + packets))
    }

    /// The peripheral opens a channel, as some headsets do: the roles of the identifiers are exchanged.
    private var opening: [CapturedPacket] {
        [
            packet(1, [0x02, 9, 4, 0, 3, 0, 0x41, 0], isReceived: true, at: 0),
            packet(1, [0x03, 9, 8, 0, 0x50, 0, 0x41, 0, 1, 0, 0, 0], isReceived: false, at: 0),
            packet(1, [0x03, 9, 8, 0, 0x50, 0, 0x41, 0, 0, 0, 0, 0], isReceived: false, at: 1),
        ]
    }

    @Test("Frames with and without credits give their bytes, control frames and other channels none")
    func frames() throws {
        let long = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let found = try capture(
            opening + [
                packet(0x50, [0x03, 0xEF, 0x09, 0xE3, 0x05, 0x0B, 0x8D, 0xAA], isReceived: true, at: 2),
                packet(0x50, [0x09, 0xFF, 0x07, 33, 1, 2, 3, 0x55], isReceived: true, at: 3),
                packet(0x50, [0x09, 0xEF, UInt8(300 << 1 & 0xFF), UInt8(300 >> 7)] + long + [0x55], isReceived: true, at: 4),
                packet(0x50, [0x09, 0xFF, 0x01, 33, 0x55], isReceived: true, at: 5),
                packet(0x51, [0x09, 0xEF, 0x03, 9, 0x55], isReceived: true, at: 6),
                packet(0x41, [0x09, 0xEF, 0x03, 8, 0x55], isReceived: false, at: 7),
            ])
        #expect(found.map { $0.peripheral.identifier } == [Self.peer])
        let pieces = found[0].capture.pieces
        #expect(pieces.map(\.value) == [[1, 2, 3], long])
        #expect(pieces.allSatisfy { $0.characteristic == .serialPort })
        #expect(pieces.map(\.time) == [.zero, .milliseconds(1)])
    }

    @Test("A channel that was closed, or refused, carries no serial port")
    func closed() throws {
        let data = packet(0x50, [0x09, 0xEF, 0x03, 7, 0x55], isReceived: true, at: 9)
        #expect(try capture(opening + [data]).count == 1)
        let closing = packet(1, [0x06, 4, 4, 0, 0x50, 0, 0x41, 0], isReceived: true, at: 8)
        #expect(try capture(opening + [closing, data]).isEmpty)
        let refused = packet(1, [0x03, 9, 8, 0, 0x50, 0, 0x41, 0, 2, 0, 0, 0], isReceived: false, at: 1)
        #expect(try capture([opening[0], refused, data]).isEmpty)
    }
}
