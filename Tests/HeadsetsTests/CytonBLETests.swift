import Bluetooth
import Headsets
import Testing

/// The packets of a Cyton's own radio.
@Suite("Cyton BLE")
struct CytonBLETests {
    @Test("sends three instants of two channels in a packet, as in OpenBCI's NodeJS library (MIT licence)")
    func goldenPacket() {
        var decoder = CytonBLEDecoder()
        var decoded = Decoded()
        let packet: [UInt8] = [0xC0, 0xFF, 0, 0, 1, 0, 0, 2, 0, 0, 10, 0, 0, 20, 0, 0, 100, 0xFF, 0xFF, 0x38]
        decoder.decode(packet, from: RFduinoService.data, into: &decoded)
        #expect(
            decoded.items == [
                .samples(SampleBlock(stream: 0, counter: 255, channelCount: 2, instantCount: 3, values: 0..<6))
            ])
        #expect(decoded.values == [1, 2, 10, 20, 100, -200])
    }

    @Test("drops whatever is no packet", arguments: [[], [0xC0], Array("Firmware: v3.1.2\n$$$".utf8)])
    func others(bytes: [UInt8]) {
        var decoder = CytonBLEDecoder()
        var decoded = Decoded()
        decoder.decode(bytes, from: RFduinoService.data, into: &decoded)
        #expect(decoded.items == [.discarded(byteCount: bytes.count)])
    }

    @Test("is found by the radio's service, and set by data")
    func profile() {
        let profile = CytonBLEProfile(settings: CytonSettings(channels: [.init(), .init(gain: .x12), .init(isOn: false)]))
        #expect(profile.recognition.scanFilter.matches(Advertisement(serviceUUIDs: [BluetoothUUID(UInt16(0x2220))])))
        let written = profile.commands(for: .initialise, status: nil).compactMap { step in
            if case .write(let bytes, RFduinoService.command, _) = step { String(decoding: bytes, as: UTF8.self) } else { nil }
        }
        #expect(written == ["s", "d", "x2050110X"])
        #expect(profile.streams[0].samplingFrequency == 125)
        #expect(abs(profile.streams[0].channels[1].scale - 0.0447035) < 1e-7)
    }
}
