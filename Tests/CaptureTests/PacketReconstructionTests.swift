import Bluetooth
import Capture
import Foundation
import Headsets
import Simulation
import Testing

/// What was reconstructed can be read back: each notification, its characteristic and its time.
struct PacketReconstructionTests {
    private func expectSame(_ capture: Capture, _ link: CapturedLink, since start: MonotonicTime = .boot) throws {
        let sent = link.notifications.filter { MonotonicTime.boot + $0.time >= start }
        let first = try #require(sent.first)
        #expect(sent.count > 50)
        let notified = Set(sent.map(\.characteristic))
        let pieces = capture.pieces.filter { notified.contains($0.characteristic) }
        #expect(pieces.map(\.characteristic) == sent.map(\.characteristic))
        #expect(pieces.map(\.value) == sent.map(\.value))
        let origin = try #require(pieces.first).time
        for (piece, original) in zip(pieces, sent) {
            let difference = (piece.time - origin) - (original.time - first.time)
            #expect(abs(difference.nanoseconds) <= 2_000)
        }
    }

    @Test(
        "Every notification of every model is read back with its characteristic and its time",
        arguments: HeadsetCatalog.builtIn.models)
    func readBack(model: String) throws {
        let link = try CapturedLink(ofModel: model)
        link.start()
        link.run(seconds: 5)
        let found = try Capture.peripherals(btsnoop: link.file)
        #expect(found.map { $0.peripheral.identifier } == [link.identifier])
        #expect(found.first?.capture.unmappedCount == 0)
        try expectSame(try Capture(btsnoop: link.file, notifying: link.profile.dataCharacteristics), link)
        if let directory = ProcessInfo.processInfo.environment["EEGSYNC_EXPORT_FIXTURES"] {
            let url = URL(fileURLWithPath: directory).appendingPathComponent("capture-\(link.profile.model)")
            try Data(link.file).write(to: url.appendingPathExtension("btsnoop"))
            let bytes = link.notifications.reduce(0) { $0 + $1.value.count }
            let facts = "{\"notifications\": \(link.notifications.count), \"bytes\": \(bytes)}\n"
            try Data(facts.utf8).write(to: url.appendingPathExtension("json"))
        }
    }

    @Test("A capture that begins in the middle of a link is read back as well", arguments: HeadsetCatalog.builtIn.models)
    func middle(model: String) throws {
        let link = try CapturedLink(ofModel: model, isCapturing: false)
        link.start()
        link.run(seconds: 2)
        #expect(link.packets.isEmpty)
        link.reconstruction.isCapturing = true
        let preamble = link.reconstruction.preamble(of: link.identifier)
        let start = link.world.now
        link.run(seconds: 5)
        let bytes = CapturedLink.file(preamble + link.packets)
        try expectSame(
            try Capture(btsnoop: bytes, notifying: link.profile.dataCharacteristics), link, since: start + .nanoseconds(1))
        // Without the preamble nothing tells the characteristics: the test would notice.
        let bare = try Capture.peripherals(btsnoop: CapturedLink.file(link.packets))
        #expect(bare.allSatisfy { $0.capture.pieces.isEmpty })
    }

    @Test("What was read is in the capture: a Ganglion's firmware is told by nothing else")
    func reads() throws {
        let link = CapturedLink(.ganglion(number: 1), profile: GanglionProfile())
        link.start()
        let capture = try Capture(btsnoop: link.file)
        #expect(capture.pieces.contains { $0.characteristic == .softwareRevisionString && !$0.value.isEmpty })
    }

    @Test("A lost link ends in the capture, and the next one is the same headset's")
    func links() throws {
        let link = CapturedLink(.muse(number: 1), profile: MuseProfile())
        link.start()
        link.run(seconds: 1)
        link.request(.cancelPeripheralConnection(link.identifier, attempt: link.attempt()))
        link.run(seconds: 2)
        link.start()
        link.run(seconds: 1)
        let events = link.packets.filter { $0.kind == .event }
        #expect(events.map { $0.bytes[0] } == [0x3E, 0x05, 0x3E])
        #expect(events[1].bytes.last == 0x16)
        let found = try Capture.peripherals(btsnoop: link.file)
        #expect(found.count == 1)
        try expectSame(found[0].capture, link)
    }

    @Test("Requests go out one at a time, each before its answer")
    func order() {
        let link = CapturedLink(.muse(number: 1), profile: MuseProfile())
        link.start()
        var isWaiting = false
        for packet in link.packets where packet.kind == .data && packet.bytes.count > 8 {
            switch packet.bytes[8] {
            case 0x02, 0x04, 0x08, 0x0A, 0x10, 0x12:
                #expect(!isWaiting && !packet.isReceived)
                isWaiting = true
            case 0x01, 0x03, 0x05, 0x09, 0x0B, 0x11, 0x13:
                #expect(isWaiting && packet.isReceived)
                isWaiting = false
            default: break
            }
        }
        #expect(!isWaiting)
    }

    @Test("What nobody takes is dropped and counted, and nothing is kept where nobody asked")
    func bounds() {
        let link = CapturedLink(.thinkGear(number: 1), profile: ThinkGearProfile())
        link.start()
        link.runUntaken(seconds: 1800)
        #expect(link.reconstruction.droppedCount > 0)
        #expect(link.reconstruction.takePackets().reduce(0) { $0 + $1.bytes.count } <= 4 << 20)
        link.reconstruction.isCapturing = false
        link.runUntaken(seconds: 1)
        #expect(link.reconstruction.takePackets().isEmpty)
    }
}
