import Bluetooth
import Glibc
import Testing

@testable import BlueZ

/// The socket of AcquireWrite, with the test as bluetoothd at its other end.
@Suite struct WriteSocketTests {
    private typealias Script = BluetoothdScript

    @Test("A full socket loses a value; one whose other end is closed is at its end")
    func send() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, BlueZPeripheral.socketType, 0, &ends) == 0)
        defer { close(ends[0]) }
        for _ in 0..<2000 { #expect(WriteSocket.send([UInt8](repeating: 1, count: 512), over: ends[0])) }
        close(ends[1])
        #expect(!WriteSocket.send([1], over: ends[0]))
    }

    @Test("After its end the socket is closed, once, and the next write asks for another")
    func ended() {
        let up: [String: BusValue] = ["Connected": .boolean(true), "ServicesResolved": .boolean(true)]
        var script = Script.ready(device: up, resolved: true)
        script.ask { $0.take(.restoreState(identifiers: [Script.headset], services: [], attempt: .none)) }
        let flags = BusValue.array([.string("write-without-response")], of: "s")
        script.changed(BlueZInterface.characteristic, at: Script.controlPath, ["Flags": flags])
        func write(_ byte: UInt8) {
            script.ask {
                $0.take(.writeValue([byte], to: Script.control, type: .withoutResponse, on: Script.headset, attempt: .none))
            }
        }
        write(1)
        script.reply("AcquireWrite", [.descriptor(79), .uint16(247)])
        script.others.removeAll()
        for _ in 0..<2 { script.ask { $0.socketEnded(79) } }
        #expect(script.others == [.close(79)])
        write(2)
        #expect(script.waiting == ["AcquireWrite"])
        script.reply("AcquireWrite", [.descriptor(80), .uint16(247)])
        #expect(script.others.last == .send([2], socket: 80))
    }
}
