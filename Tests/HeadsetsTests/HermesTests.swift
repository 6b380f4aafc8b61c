import Bluetooth
import Headsets
import Testing

/// The packets of the Nucleus-Kit headset. Nobody has published a recording of its notifications: the vectors are made by hand
/// after the firmware's source.
@Suite("Hermes")
struct HermesTests {
    private static func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID) -> Decoded {
        var decoder = HermesProfile().makeDecoder()
        var decoded = Decoded()
        decoder.decode(bytes, from: characteristic, into: &decoded)
        return decoded
    }

    /// A packet whose first instant has these bytes, and all other instants zeros.
    private static func packet(counter: UInt8, first: [UInt8]) -> [UInt8] {
        [counter] + first + [UInt8](repeating: 0, count: HermesService.packetLength - 1 - first.count)
    }

    @Test("sends 10 instants of 8 channels of 24 bits behind the counter, most significant byte first")
    func samples() {
        let first: [UInt8] = [
            0x7F, 0xFF, 0xFF, 0x80, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x01,
            0x00, 0x57, 0x63, 0xFF, 0xA8, 0x9D, 0x12, 0x34, 0x56, 0xED, 0xCB, 0xAA,
        ]
        let decoded = Self.decode(Self.packet(counter: 127, first: first), from: HermesService.eegData)
        #expect(
            decoded.items == [
                .samples(
                    SampleBlock(
                        stream: HermesProfile.eeg, counter: 127, channelCount: 8, instantCount: 10, values: 0..<80))
            ])
        // 22371 counts of 0.0447 uV are 1 mV.
        #expect(
            Array(decoded.values.prefix(9)) == [
                8_388_607, -8_388_608, -1, 1, 22_371, -22_371, 1_193_046, -1_193_046, 0,
            ])
    }

    @Test("keeps the channels of an instant together")
    func instants() {
        let bytes: [UInt8] = [3] + (0..<240).map { $0 % 3 == 2 ? UInt8($0 / 3) : 0 }
        #expect(Self.decode(bytes, from: HermesService.eegData).values == (0..<80).map { Int32($0) })
    }

    @Test(
        "gives nothing of a packet of another length or with a counter of more than 7 bits",
        arguments: [
            (0, 241), (1, 240), (1, 242), (0x80, 241), (0xFF, 241),
        ])
    func malformed(counter: Int, length: Int) {
        let bytes = length == 241 && counter == 0 ? [] : [UInt8(counter)] + [UInt8](repeating: 0, count: length - 1)
        #expect(Self.decode(bytes, from: HermesService.eegData).items == [.discarded(byteCount: bytes.count)])
    }

    @Test("sends acceleration, rotation and magnetic field in one notification, least significant byte first")
    func motion() {
        let bytes: [UInt8] = [
            0x00, 0x40, 0xFF, 0xFF, 0x00, 0x80, 0x01, 0x00, 0x02, 0x00, 0x03, 0x00, 0xFF, 0x7F, 0xBA, 0x1A, 0x46, 0xE5,
        ]
        let decoded = Self.decode(bytes, from: HermesService.motionData)
        #expect(decoded.values == [16_384, -1, -32_768, 1, 2, 3, 32_767, 6_842, -6_842])
        let blocks = decoded.items.compactMap { if case .samples(let block) = $0 { block } else { nil } }
        #expect(blocks.map(\.stream) == [HermesProfile.accelerometer, HermesProfile.gyroscope, HermesProfile.magnetometer])
        #expect(blocks.map(\.values) == [0..<3, 3..<6, 6..<9])
        #expect(blocks.allSatisfy { $0.counter == nil && $0.instantCount == 1 && $0.channelCount == 3 })
        // 1 g, 0.026 degrees per second, 1 gauss.
        let scales = HermesProfile().streams.map(\.channels[0].scale)
        #expect(abs(scales[1] * 16_384 - 1) < 0.001)
        #expect(abs(scales[2] * 3 - 0.02625) < 1e-9)
        #expect(abs(scales[3] * 6_842 - 100) < 1e-9)
        #expect(Self.decode(Array(bytes.dropLast()), from: HermesService.motionData).items == [.discarded(byteCount: 17)])
    }

    @Test(
        "tells what happens to its buttons, and in which packet",
        arguments: [
            ([1, 1, 57], "Button A pressed (EEG packet 57)"), ([3, 2, 0], "Button B pressed for long (EEG packet 0)"),
            ([4, 1, 127], "Button A pressed twice (EEG packet 127)"), ([2, 2, 5], "Button B released (EEG packet 5)"),
            // No packet has such a number.
            ([1, 1, 128], "Button A pressed (EEG packet 128)"),
        ])
    func buttons(bytes: [UInt8], description: String) {
        let sample = HeadsetEvent.Sample(stream: HermesProfile.eeg, counter: UInt32(bytes[2]))
        #expect(
            Self.decode(bytes, from: HermesService.eventData).items == [
                .event(
                    HeadsetEvent(
                        description, of: bytes[2] < 128 ? sample : nil, code: Int64(bytes[0]) * 256 + Int64(bytes[1])))
            ])
    }

    @Test("makes no annotation of an unknown event, an unknown button or another length")
    func unknownEvents() {
        for bytes: [UInt8] in [[0, 1, 5], [5, 1, 5], [1, 0, 5], [1, 3, 5], [1, 1], [1, 1, 5, 0]] {
            #expect(Self.decode(bytes, from: HermesService.eventData).items == [.discarded(byteCount: bytes.count)])
        }
    }

    @Test("is found by its name or its service, and by no other maker's UUID with the same end")
    func recognition() {
        let filter = HermesProfile().recognition.scanFilter
        #expect(filter.matches(Advertisement(localName: "Hermes V1")))
        #expect(filter.matches(Advertisement(serviceUUIDs: [HermesService.eeg])))
        #expect(!filter.matches(Advertisement(localName: "Hermes", serviceUUIDs: [HermesService.motion])))
        #expect(HermesService.eeg.description == "9fa480e0-4967-11e5-a151-0002a5d5c51b")
        #expect(HermesService.eegData.description == "9fa480e1-4967-11e5-a151-0002a5d5c51b")
        #expect(HermesService.configuration.description == "9fa480e2-4967-11e5-a151-0002a5d5c51b")
        #expect(HermesService.motionData.description == "9fa48201-4967-11e5-a151-0002a5d5c51b")
        #expect(HermesService.eventData.description == "9fa48301-4967-11e5-a151-0002a5d5c51b")
    }

    @Test("counts packets of 10 samples, of which 128 are a turn of 5.12 s; less than that is waited for")
    func counter() {
        let profile = HermesProfile()
        let eeg = profile.streams[HermesProfile.eeg]
        #expect(eeg.samplingFrequency == 250)
        #expect(eeg.samplesPerCount == 10)
        #expect(eeg.counterModulus == 128)
        #expect(eeg.channels.map(\.name) == HermesProfile.montage)
        #expect(abs(eeg.channels[0].scale - 0.0447035) < 1e-7)
        #expect(profile.timing.silenceLimit < .milliseconds(5120))
    }

    /// The bytes of the writes of a profile's configuration.
    private static func written(_ profile: HermesProfile) -> [[UInt8]] {
        profile.commands(for: .initialise, status: nil).compactMap { step in
            if case .write(let bytes, HermesService.configuration, .withoutResponse) = step { bytes } else { nil }
        }
    }

    private static func condition(_ held: [UInt8], _ profile: HermesProfile = HermesProfile()) -> HeadsetStatus.Condition? {
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        decoder.decode(held, from: HermesService.configuration, into: &decoded)
        guard case .status(let status)? = decoded.items.first else { return nil }
        return status.condition
    }

    @Test("is configured again when it holds another command than ours: after a restart it holds none")
    func status() {
        #expect(HermesProfile().commands(for: .queryStatus, status: nil) == [.read(HermesService.configuration)])
        #expect(Self.written(HermesProfile()) == [[3, 2, 0, 0]])
        #expect(Self.condition([3, 2, 0, 0]) == .streaming)
        for held: [UInt8] in [[], [0, 0, 0, 0], [3, 1, 0, 0], [1, 0, 0, 0], [3, 2]] {
            #expect(Self.condition(held) == .idle)
        }
    }

    @Test("has its registers written one by one and is started again, and other registers make another last command")
    func registers() {
        let profile = HermesProfile(registers: [
            HermesRegister(address: HermesRegister.config1, value: 0x95), HermesRegister(address: 0x06, value: 0x60),
        ])
        let written = Self.written(profile)
        #expect(written.dropLast() == [[3, 2, 0, 0], [2, 1, 0x01, 0x95], [2, 1, 0x06, 0x60]])
        #expect(written.last?.prefix(2) == [1, 1])
        let other = HermesProfile(registers: [HermesRegister(address: HermesRegister.config1, value: 0x95)])
        #expect(Self.written(other).last != written.last)
        #expect(Self.condition(written.last ?? [], profile) == .streaming)
        #expect(Self.condition(written.last ?? [], other) == .idle)
        // What the registers mean stands in the streams: 500 Hz, and gain 24 of channel 2.
        let eeg = profile.streams[HermesProfile.eeg]
        #expect(eeg.samplingFrequency == 500)
        #expect(abs(eeg.channels[0].scale / eeg.channels[1].scale - 2) < 1e-9)
        #expect(HermesRegister.gain(channelSetting: 0x70) == nil)
        #expect(HermesRegister.samplingFrequency(config1: 0x97) == nil)
    }

    @Test("is listened to before it begins to sample")
    func order() {
        let profile = HermesProfile()
        #expect(profile.controlCharacteristics == [HermesService.eventData])
        #expect(profile.dataCharacteristics.last == HermesService.eegData)
        #expect(profile.vitalCharacteristics == [HermesService.eegData])
        for purpose in [CommandPurpose.start, .stop, .wake, .keepAlive] {
            #expect(profile.commands(for: purpose, status: nil).isEmpty)
        }
    }
}
