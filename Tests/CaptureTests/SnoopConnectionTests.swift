import Bluetooth
import Capture
import Headsets
import Testing

/// btsnoop files with several peripherals: headsets of the same model, a mouse, and connections that come and go.
struct SnoopConnectionTests {
    private static let left = PeripheralIdentifier(address: 0xC0_55_DA_B0_13_24, type: .random)
    private static let right = PeripheralIdentifier(address: 0x00_55_DA_B0_13_25, type: .public)
    private static let data = BufferedEEGService.data

    private func values(_ capture: Capture) -> [[UInt8]] { capture.pieces.map(\.value) }

    /// Two headsets of one model, whose notifications alternate.
    private func twoHeadsets(datalink: UInt32, areNamed: Bool) -> SnoopFile {
        var file = SnoopFile(datalink: datalink)
        for (connection, peer) in [(UInt8(0x40), Self.left), (0x41, Self.right)] {
            file.connection = connection
            if areNamed { file.connected(peer, isEnhanced: peer == Self.left) }
            file.discovery(long: Self.data, handle: 0x31)
        }
        for number in UInt8(0)..<10 {
            file.connection = 0x40 + number % 2
            file.notification(handle: 0x31, [number], at: 1_000_000 + UInt64(number) * 1000)
        }
        return file
    }

    @Test("Two headsets are never one: the person chooses, by number", arguments: [1001, 1002, 2001])
    func several(datalink: UInt32) throws {
        for areNamed in [true, false] {
            let bytes = twoHeadsets(datalink: datalink, areNamed: areNamed).bytes
            let found = try Capture.peripherals(btsnoop: bytes).map { $0.peripheral }
            #expect(found.map(\.identifier) == (areNamed ? [Self.left, Self.right] : [nil, nil]))
            #expect(throws: CaptureError.severalConnections(found)) { try Capture(btsnoop: bytes, notifying: [Self.data]) }
            let message = CaptureError.severalConnections(found).description
            #expect(message.contains("1: ") && message.contains("5 of \(Self.data)"))
            if areNamed { #expect(message.contains("00:55:DA:B0:13:25/public")) }
            let second = try Capture(btsnoop: bytes, connection: 2)
            #expect(values(second) == [[1], [3], [5], [7], [9]])
            #expect(second.pieces.map(\.time) == [0, 2, 4, 6, 8].map { .milliseconds($0) })
            #expect(values(try Capture(btsnoop: bytes, connection: 1)) == [[0], [2], [4], [6], [8]])
            #expect(throws: CaptureError.noSuchConnection(3, found: found)) { try Capture(btsnoop: bytes, connection: 3) }
        }
    }

    @Test("The only one that sends what the model sends is taken, whatever else is connected")
    func onlyOne() throws {
        var file = SnoopFile(datalink: 1002)
        file.connected(Self.right)
        file.discovery(short: 0x2A4D, handle: 0x31)
        file.connection = 0x41
        file.connected(Self.left)
        file.discovery(long: Self.data, handle: 0x44)
        file.notification(handle: 0x44, [1], at: 10)
        file.connection = 0x40
        // A handle of the headset, but not the headset.
        for handle in [UInt16(0x31), 0x44] { file.notification(handle: handle, [9], at: 20) }
        let capture = try Capture(btsnoop: file.bytes, notifying: [Self.data])
        #expect(values(capture) == [[1]])
        #expect(capture.unmappedCount == 0)
        let mouse = try Capture(btsnoop: file.bytes, connection: 1)
        #expect(mouse.unmappedHandles == [0x44])
        let found = try Capture.peripherals(btsnoop: file.bytes).map { $0.peripheral }
        #expect(throws: CaptureError.nothingWanted(found: found)) { try Capture(btsnoop: file.bytes, notifying: [.serialPort]) }
        #expect(CaptureError.nothingWanted(found: found).description.contains("1 of handles"))
    }

    @Test("Where the control characteristic never notified, its discovery tells which peripheral is meant")
    func recognisedByDiscovery() throws {
        var file = SnoopFile(datalink: 1002)
        file.connected(Self.right)
        file.discovery(short: 0x2A4D, handle: 0x31)
        file.notification(handle: 0x31, [9], at: 5)
        file.connection = 0x41
        file.connected(Self.left)
        file.discovery(long: BufferedEEGService.control, handle: 0x42)
        file.discovery(long: Self.data, handle: 0x44)
        file.notification(handle: 0x44, [1], at: 10)
        #expect(values(try Capture(btsnoop: file.bytes, notifying: [BufferedEEGService.control])) == [[1]])
        #expect(throws: CaptureError.self) { try Capture(btsnoop: file.bytes, notifying: [.serialPort]) }
    }

    @Test("A headset that was connected twice is one, and another one that got its handle is not")
    func reconnected() throws {
        var file = SnoopFile(datalink: 2001)
        file.connected(Self.left)
        file.discovery(long: Self.data, handle: 0x31)
        file.notification(handle: 0x31, [1], at: 0)
        file.disconnected()
        file.connected(Self.right)
        // The host knows the handles of the model.
        file.notification(handle: 0x31, [2], at: 1_000_000)
        file.disconnected()
        file.connection = 0x47
        file.connected(Self.left)
        file.notification(handle: 0x31, [3], at: 2_000_000)
        let found = try Capture.peripherals(btsnoop: file.bytes)
        #expect(found.map { values($0.capture) } == [[[1], [3]], [[2]]])
        #expect(found.map { $0.peripheral.connection } == [0x47, 0x40])
        #expect(found[0].capture.duration == .seconds(2))
        #expect(found.map { $0.capture.pieces.map(\.beginsLink) } == [[false, true], [false]])
    }
}
