import Bluetooth
import Headsets
import Simulation
import Testing

@testable import Capture

/// The handles in a capture: those that the central tells, or else numbers in order.
struct HandlesTests {
    /// As on a headset whose characteristics have descriptors that a central does not speak of.
    private static func database(_ handles: [(service: UInt16, declaration: UInt16)?]) -> GATTDatabase {
        GATTDatabase(
            characteristics: handles.enumerated().map { index, known in
                Characteristic(
                    service: BluetoothUUID(UInt16(0xFE00) + (known?.service ?? 0)), uuid: BluetoothUUID(UInt16(0xFE80 + index)),
                    properties: [.notify],
                    handles: known.map {
                        Characteristic.Handles(
                            service: $0.service, declaration: $0.declaration, value: $0.declaration + 1,
                            clientConfiguration: $0.declaration + 3)
                    })
            })
    }

    @Test("Those that the central tells are written, with their gaps")
    func known() {
        let table = AttributeTable(Self.database([(0x10, 0x12), (0x10, 0x20), (0x40, 0x41)]))
        #expect(table.entries.map(\.declaration) == [0x12, 0x20, 0x41])
        #expect(table.entries.map(\.value) == [0x13, 0x21, 0x42])
        #expect(table.entries.map(\.configuration) == [0x15, 0x23, 0x44])
        #expect(table.services.map(\.first) == [0x10, 0x40])
        #expect(table.services.map(\.last) == [0x23, 0x44])
    }

    @Test("Where some are missing, or are such as no headset can have, all are numbered")
    func numbered() {
        let wrong: [[(UInt16, UInt16)?]] = [
            [(0x10, 0x12), nil], [(0x10, 0x12), (0x10, 0x12)], [(0x10, 0x12), (0x10, 0x14)], [(0x10, 0x20), (0x15, 0x30)],
            [(0x10, 0x10)], [(0, 0x12)],
        ]
        for handles in wrong {
            let table = AttributeTable(Self.database(handles))
            #expect(table.entries.first?.declaration == 2 && table.services.first?.first == 1, "\(handles)")
            #expect(table.entries.count == handles.count)
        }
    }

    @Test("The last handle that there is can be one of them")
    func lastHandle() {
        let table = AttributeTable(
            GATTDatabase(characteristics: [
                Characteristic(
                    service: BluetoothUUID(UInt16(0xFE00)), uuid: BluetoothUUID(UInt16(0xFE80)), properties: [.notify],
                    handles: Characteristic.Handles(service: 0xFFFD, declaration: 0xFFFE, value: 0xFFFF))
            ]))
        #expect(table.services.map(\.last) == [0xFFFF])
        #expect(table.discovery.count == 8)
    }

    @Test("A capture with the headset's own handles is read back as one without")
    func readBack() throws {
        var specification = HeadsetSpecification.muse(number: 1)
        var next: UInt16 = 0x0030
        for index in specification.database.characteristics.indices {
            specification.database.characteristics[index].handles = Characteristic.Handles(
                service: 0x0021, declaration: next, value: next + 1, clientConfiguration: next + 2)
            next += 5
        }
        let services = Set(specification.database.characteristics.map(\.service))
        try #require(services.count == 1)
        let link = CapturedLink(specification, profile: MuseProfile())
        link.start()
        link.run(seconds: 2)
        let first = try #require(link.packets.first { $0.kind == .data && $0.bytes.count > 11 && $0.bytes[8] == 0x1B })
        #expect(first.bytes[9] >= 0x31)
        let notified = Set(link.notifications.map(\.characteristic))
        let pieces = try Capture(btsnoop: link.file, notifying: link.profile.dataCharacteristics).pieces
            .filter { notified.contains($0.characteristic) }
        #expect(pieces.count > 100 && pieces.map(\.value) == link.notifications.map(\.value))
    }
}
