import Bluetooth
import Headsets
import Simulation
import Testing

/// Bytes from the air may be anything.
@Suite("Random bytes")
struct RandomBytesTests {
    private static let characteristics = [
        BufferedEEGService.control, BufferedEEGService.data, GanglionService.data, .softwareRevisionString, .serialPort,
        HermesService.eegData, HermesService.configuration, HermesService.motionData, HermesService.eventData, .batteryLevel,
        MindWaveService.raw, MindWaveService.esense, TGAMProfile.Radio.hm10.data, TGAMProfile.Radio.issc.data,
        MuseService.control, MuseService.telemetry, MuseService.eeg[0], MuseService.ppg[2],
        MuseService.accelerometer, MuseService.multiplexed, ExploreService.explorePro.data,
        RFduinoService.data,
    ]

    /// Those of the catalog, and what a profile becomes by a GATT database.
    private static let profiles: [any HeadsetProfile] =
        HeadsetCatalog.builtIn.profiles + [
            MindWaveProfile(format: .stream), MuseAthenaProfile(), TGAMProfile(radio: .issc),
        ]

    /// Decodes one piece and checks that every block owns the values that it claims.
    private static func feed(
        _ bytes: [UInt8], to decoder: inout any HeadsetDecoder, from characteristic: BluetoothUUID
    ) -> Bool {
        var decoded = Decoded()
        decoder.decode(bytes, from: characteristic, into: &decoded)
        return decoded.items.allSatisfy { item in
            guard case .samples(let block) = item else { return true }
            return block.values.count == block.channelCount * block.instantCount && block.channelCount > 0
                && block.values.upperBound <= decoded.values.count
                && block.firstChannel + block.channelCount <= StreamDescription.channelsPerBank
        }
    }

    @Test("of 20,000 seeds crash no decoder", arguments: profiles.indices)
    func randomBytes(index: Int) {
        var decoder = Self.profiles[index].makeDecoder()
        let name = Self.profiles[index].displayName
        var generator = SeededGenerator(seed: 1)
        // Bytes that begin messages, so that the search goes deeper than the first byte.
        let openings: [[UInt8]] = [
            [], [0x81, 1], [0x82], [0x83], [0x84], [0x91], [0x92], [0x93], [0xAA, 0xAA], [0xAA, 0xAA, 4],
            [0x33], [0], [48, 0, 0, 0, 0, 0, 0, 0, 0, 0x12], [60, 0, 0, 0, 0, 0, 0, 0, 0, 0x36], [7, 0x7B],
            [0xEA], [0xEB], [0xEC], [UInt8](repeating: 5, count: HermesService.packetLength - 32),
            [0xC0, 0, 1], [0xA0, 1], Array("16$$$".utf8), [0x97, 0, 32, 0], [0x13, 0, 13, 0], [0x62, 0, 30, 0],
        ]
        for seed in 0..<20_000 {
            let opening = openings[Int.random(in: 0..<openings.count, using: &generator)]
            let bytes = opening + generator.bytes(count: Int.random(in: 0...64, using: &generator))
            for characteristic in Self.characteristics {
                #expect(Self.feed(bytes, to: &decoder, from: characteristic), "string \(seed) of \(name)")
            }
        }
    }

    @Test("in 20,000 valid messages whose checksum is made right again crash no decoder")
    func mutatedMessages() {
        var decoder: any HeadsetDecoder = BufferedEEGDecoder()
        var generator = SeededGenerator(seed: 2)
        let messages = BufferedEEGCodecTests.messages.map { ($0.encoded(), $0.isData) }
        for seed in 0..<20_000 {
            var (bytes, isData) = messages[seed % messages.count]
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<min(bytes.count, 48), using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            if isData {
                bytes.removeLast(4)
                let checksum = CRC32C.checksum(of: bytes)
                bytes += (0..<4).map { UInt8(truncatingIfNeeded: checksum >> ($0 * 8)) }
            }
            let characteristic = isData ? BufferedEEGService.data : BufferedEEGService.control
            #expect(Self.feed(bytes, to: &decoder, from: characteristic), "mutation \(seed)")
        }
    }

    @Test("truncated from valid messages and frames crash no decoder")
    func truncations() {
        let whole = BufferedEEGCodecTests.messages.map { $0.encoded() } + [ThinkGearTests.documented]
        for bytes in whole {
            for count in 0...bytes.count {
                for profile in Self.profiles {
                    var decoder = profile.makeDecoder()
                    for characteristic in Self.characteristics {
                        #expect(Self.feed(Array(bytes.prefix(count)), to: &decoder, from: characteristic))
                    }
                }
            }
        }
    }

    @Test("are no command, or one that is encoded to the same bytes")
    func commands() {
        var generator = SeededGenerator(seed: 3)
        for seed in 0..<20_000 {
            let opening = UInt8(seed % 13)
            let bytes = [opening] + generator.bytes(count: Int.random(in: 0...13, using: &generator))
            if let command = try? BufferedEEGCommand(decoding: bytes) { #expect(command.encoded() == bytes) }
        }
    }
}
