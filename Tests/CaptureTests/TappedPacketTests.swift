import Bluetooth
import Capture
import Testing

/// Where a central tells of the packets themselves, these are captured and nothing else.
@Suite struct TappedPacketTests {
    private let peripheral = PeripheralIdentifier(address: 0xC055_DAB0_1324, type: .random)
    private let eeg = BluetoothUUID(UInt16(0x2A19))
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    /// The payload of a packet of data: behind four bytes of HCI and four of L2CAP.
    private func payload(_ packet: CapturedPacket) -> [UInt8] { Array(packet.bytes.dropFirst(8)) }

    private func text(_ packet: CapturedPacket) -> String? {
        packet.bytes.first == 0xFF ? String(decoding: packet.bytes.dropFirst(2), as: UTF8.self) : nil
    }

    /// A link on which packets are told of, and then notified.
    private func link(discovers: Bool, isCapturing: Bool) -> PacketReconstruction {
        var reconstruction = PacketReconstruction()
        reconstruction.isCapturing = isCapturing
        reconstruction.note(.didConnect(peripheral, attempt: .none), at: start)
        func tap(_ bytes: [UInt8], isReceived: Bool) {
            reconstruction.note(.didTransferPacket(bytes, with: peripheral, isReceived: isReceived, at: start), at: start)
        }
        tap([0x02, 185, 0], isReceived: false)
        tap([0x03, 100, 0], isReceived: true)
        tap([discovers ? 0x10 : 0x08, 1, 0, 0xFF, 0xFF, 0, 0x28], isReceived: false)
        let database = GATTDatabase(characteristics: [
            Characteristic(
                service: BluetoothUUID(UInt16(0x180F)), uuid: eeg, properties: [.notify],
                handles: .init(service: 1, declaration: 7, value: 8, clientConfiguration: 9))
        ])
        reconstruction.note(.didDiscoverServices(peripheral, result: .success(database), attempt: .none), at: start)
        reconstruction.note(.setNotifyValue(true, for: eeg, on: peripheral, attempt: .none))
        tap([0x12, 9, 0, 1, 0], isReceived: false)
        tap([0x13], isReceived: true)
        reconstruction.note(.didUpdateNotificationState(eeg, on: peripheral, error: nil, attempt: .none), at: start)
        tap([0x1B, 8, 0, 42], isReceived: true)
        reconstruction.note(.didUpdateValue(eeg, on: peripheral, value: [42], at: start), at: start)
        return reconstruction
    }

    @Test func whatWentOverTheSocketIsWrittenAndNothingElse() {
        var reconstruction = link(discovers: true, isCapturing: true)
        let packets = reconstruction.takePackets()
        #expect(
            packets.filter { $0.kind == .data }.map(payload) == [
                [0x02, 185, 0], [0x03, 100, 0], [0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x12, 9, 0, 1, 0], [0x13],
                [0x1B, 8, 0, 42],
            ])
        #expect(packets.filter { $0.kind == .data }.map(\.isReceived) == [false, true, false, false, true, true])
        #expect(packets.compactMap(text) == ["eegsync: attribute packets from here on as the socket gave and took them"])
    }

    @Test func whatAnEarlierLinkHasDiscoveredIsSaidToBeReconstructed() throws {
        var reconstruction = link(discovers: false, isCapturing: true)
        let packets = reconstruction.takePackets()
        let remarks = packets.indices.filter { text(packets[$0]) != nil }
        try #require(remarks.count == 3)
        #expect(text(packets[remarks[1]])?.contains("reconstructed") == true)
        #expect(packets[remarks[1]..<remarks[2]].contains { payload($0).first == 0x10 })
        #expect(packets[remarks[2]...].dropFirst().map { payload($0).first } == [0x12, 0x13, 0x1B])
    }

    @Test func aCaptureThatBeginsLaterSaysWhereItsOwnPacketsBegin() throws {
        var reconstruction = link(discovers: true, isCapturing: false)
        reconstruction.isCapturing = true
        let preamble = reconstruction.preamble(of: peripheral)
        #expect(preamble.first?.beginsLink == true)
        #expect(preamble.last.flatMap(text)?.contains("as the socket") == true)
        reconstruction.note(
            .didTransferPacket([0x1B, 8, 0, 43], with: peripheral, isReceived: true, at: start), at: start)
        reconstruction.note(.didUpdateValue(eeg, on: peripheral, value: [43], at: start), at: start)
        let packets = reconstruction.takePackets()
        #expect(packets.map(payload) == [[0x1B, 8, 0, 43]])
        // Readers skip the remarks.
        let capture = try Capture(btsnoop: CapturedLink.file(preamble + packets))
        #expect(capture.pieces.map(\.characteristic) == [eeg] && capture.pieces.map(\.value) == [[43]])
    }
}
