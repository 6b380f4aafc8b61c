import Bluetooth
import Headsets
import Testing

/// NeuroSky's headsets over Bluetooth Low Energy. The vectors follow the parsers of NeuroSky's SDKs; nobody has published a
/// recording.
@Suite("MindWave over Low Energy")
struct MindWaveTests {
    private static func decode(_ packets: [[UInt8]], from characteristic: BluetoothUUID) -> Decoded {
        var decoder = MindWaveProfile().makeDecoder()
        var decoded = Decoded()
        for packet in packets { decoder.decode(packet, from: characteristic, into: &decoded) }
        return decoded
    }

    private static func block(
        _ stream: Int, _ values: Range<Int>, first: Int = 0, channels: Int, instants: Int = 1
    ) -> DecodedItem {
        .samples(
            SampleBlock(
                stream: stream, counter: nil, firstChannel: first, channelCount: channels, instantCount: instants,
                values: values))
    }

    @Test(
        "has commands of 20 bytes whose last is the complement of the sum of the others but the first",
        arguments: [
            (MindWaveCommand.startRaw, 0x15, 0xE9), (.stopRaw, 0x16, 0xE8), (.startESense, 0x17, 0xE7),
            (.stopESense, 0x18, 0xE6), (.notch50Hz, 0x1B, 0xE3), (.notch60Hz, 0x1C, 0xE2),
        ] as [(MindWaveCommand, UInt8, UInt8)])
    func commands(command: MindWaveCommand, code: UInt8, checksum: UInt8) {
        let bytes = [0x77, 0x01, code] + [UInt8](repeating: 0, count: 16) + [checksum]
        #expect(command.encoded == bytes)
        #expect(MindWaveCommand(decoding: bytes) == command)
        #expect(MindWaveCommand(decoding: Array(bytes.dropLast()) + [checksum ^ 1]) == nil)
        #expect(MindWaveCommand(decoding: Array(bytes.dropLast())) == nil)
        #expect(MindWaveCommand(decoding: [0x78] + bytes.dropFirst()) == nil)
    }

    @Test("sends ten raw samples a notification, most significant byte first")
    func raw() {
        let packet: [UInt8] = [
            0xFF, 0xFF, 0x00, 0xFF, 0x01, 0x00, 0x80, 0x01, 0x80, 0x00, 0x7F, 0xFF, 0x00, 0x00, 0x07, 0xFF, 0xF8, 0x00, 0xAA,
            0xAA,
        ]
        let decoded = Self.decode([packet], from: MindWaveService.raw)
        #expect(decoded.items == [Self.block(ThinkGearProfile.eeg, 0..<10, channels: 1, instants: 10)])
        #expect(decoded.values == [-1, 255, 256, -32_767, -32_768, 32_767, 0, 2047, -2048, -21_846])
        #expect(MindWavePacket.raw(decoded.values.map { Int16($0) }) == packet)
    }

    @Test("sends signal quality, attention and meditation in one packet, and the powers in two, between bytes of no meaning")
    func esense() {
        let packets: [[UInt8]] = [
            [0xEA, 9, 9, 9, 9, 9, 200, 9, 57, 9, 77] + [UInt8](repeating: 9, count: 9),
            [0xEB, 9, 9, 9, 9, 0x00, 0x1E, 0xD7, 9, 0x00, 0x29, 0x12, 9, 0x00, 0x08, 0xFB, 9, 0x00, 0x6B, 0x02],
            [0xEC, 9, 9, 9, 9, 0x00, 0x25, 0x0B, 9, 0x00, 0x34, 0x21, 9, 0x00, 0x1D, 0x13, 9, 0xFF, 0xFF, 0xFF],
        ]
        let decoded = Self.decode(packets, from: MindWaveService.esense)
        #expect(
            decoded.items == [
                Self.mark, Self.block(ThinkGearProfile.esense, 0..<3, channels: 3),
                Self.block(ThinkGearProfile.power, 3..<7, channels: 4),
                Self.block(ThinkGearProfile.power, 7..<11, first: 4, channels: 4),
            ])
        #expect(decoded.values == [200, 57, 77, 7895, 10_514, 2299, 27_394, 9483, 13_345, 7443, 0xFF_FFFF])
        #expect(MindWavePacket.esense(poorSignal: 200, attention: 57, meditation: 77).encoded(stale: 9) == packets[0])
        #expect(MindWavePacket.lowPowers([7895, 10_514, 2299, 27_394]).encoded(stale: 9) == packets[1])
        #expect(MindWavePacket.highPowers([9483, 13_345, 7443, 0xFF_FFFF]).encoded(stale: 9) == packets[2])
    }

    private static let mark = DecodedItem.periodMark(
        stream: ThinkGearProfile.eeg, sampleCount: 512, blockLength: MindWaveService.samplesPerPacket)

    @Test(
        "marks each 512 raw samples once, by whichever notification of a set arrives first",
        arguments: [("ABC ABC ABC", 3), ("ABC BC C ABC", 4), ("AB AB C C", 3), ("A A", 2), ("C B A", 3), ("B BC", 2)])
    func marks(sets: String, expected: Int) {
        let packets = sets.filter { $0 != " " }.map { letter in
            [0xEA + ((letter.asciiValue ?? 0x41) - 0x41)] + [UInt8](repeating: 0, count: 19)
        }
        let items = Self.decode(packets, from: MindWaveService.esense).items
        #expect(items.filter { $0 == Self.mark }.count == expected)
        #expect(Self.decode(packets, from: MindWaveService.raw).items.allSatisfy { $0 != Self.mark })
    }

    @Test("gives nothing of packets of another length or of an unknown kind")
    func malformed() {
        for packet: [UInt8] in [[], [0xEA, 0], [UInt8](repeating: 0xED, count: 20), [UInt8](repeating: 0xEA, count: 21)] {
            #expect(Self.decode([packet], from: MindWaveService.esense).items == [.discarded(byteCount: packet.count)])
        }
        #expect(Self.decode([[1, 2]], from: MindWaveService.raw).items == [.discarded(byteCount: 2)])
    }

    /// The bytes of the writes for a purpose.
    private static func written(_ profile: any HeadsetProfile, _ purpose: CommandPurpose) -> [[UInt8]] {
        profile.commands(for: purpose, status: nil).compactMap { step in
            if case .write(let bytes, MindWaveService.handshake, .withResponse) = step { bytes } else { nil }
        }
    }

    @Test("is started with eSense first, then raw samples, and is stopped in the opposite order")
    func flow() {
        let profile = MindWaveProfile()
        #expect(profile.dataCharacteristics == [MindWaveService.esense, MindWaveService.raw])
        #expect(Self.written(profile, .start).map { $0[2] } == [0x17, 0x15])
        #expect(Self.written(profile, .stop).map { $0[2] } == [0x16, 0x18])
        #expect(!profile.answersStatusQuery)
        #expect(Self.written(profile, .initialise).isEmpty)
        #expect(Self.written(MindWaveProfile(notch: .notch50Hz), .initialise).map { $0[2] } == [0x1B])
        #expect(profile.streams == ThinkGearProfile().streams)
    }

    @Test("of 2013 has no eSense characteristic, which tells it apart: its raw characteristic carries the ThinkGear stream")
    func headsetOf2013() {
        let profile = MindWaveProfile().adapted(to: GATTDatabase(characteristics: MindWaveService.characteristics2013))
        #expect(profile.dataCharacteristics == [MindWaveService.raw])
        #expect(Self.written(profile, .start) == [[0x77, 0x00, 0x01, 0xFE]])
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        for piece in [ThinkGearTests.documented.prefix(20), ThinkGearTests.documented.dropFirst(20)] {
            decoder.decode(Array(piece), from: MindWaveService.raw, into: &decoded)
        }
        #expect(decoded.values == [0x94, 0x42, 0x0B, 0x64, 0x4D, 0x3D, 7, 5, 0, 13, 61])
        let newer = profile.adapted(to: GATTDatabase(characteristics: MindWaveService.characteristics))
        #expect(newer.dataCharacteristics.count == 2)
    }

    @Test("is found by its service or its name, and by no other maker's UUID with the same end")
    func recognition() {
        let filter = MindWaveProfile().recognition.scanFilter
        #expect(filter.matches(Advertisement(localName: "MindWave Mobile")))
        #expect(filter.matches(Advertisement(serviceUUIDs: [MindWaveService.service])))
        #expect(!filter.matches(Advertisement(serviceUUIDs: [HermesService.eeg])))
        #expect(MindWaveService.service.description == "039afff0-2c94-11e3-9e06-0002a5d5c51b")
        #expect(MindWaveService.handshake.description == "039affa0-2c94-11e3-9e06-0002a5d5c51b")
        #expect(MindWaveService.raw.description == "039afff4-2c94-11e3-9e06-0002a5d5c51b")
        #expect(MindWaveService.esense.description == "039afff8-2c94-11e3-9e06-0002a5d5c51b")
    }
}

/// Boards whose radio passes the ThinkGear module's serial port through.
@Suite("TGAM board")
struct TGAMTests {
    private static let streaming = DecodedItem.status(HeadsetStatus(condition: .streaming))

    @Test("is decoded from either radio's characteristic, whichever the link has", arguments: TGAMProfile.Radio.allCases)
    func radios(_ radio: TGAMProfile.Radio) {
        let database = GATTDatabase(characteristics: [
            Characteristic(service: radio.service, uuid: radio.data, properties: [.notify])
        ])
        let profile = TGAMProfile().adapted(to: database)
        #expect(profile.controlCharacteristics == [radio.data])
        #expect(profile.requiredCharacteristics == [radio.data])
        #expect(profile.recognition.scanFilter.matches(Advertisement(serviceUUIDs: [radio.service])))
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        decoder.decode(ThinkGearFrame.raw(24).encoded(), from: radio.data, into: &decoded)
        #expect(decoded.values == [24])
        #expect(decoded.items.last == Self.streaming)
        #expect(TGAMProfile.Radio.issc.data.description == "49535343-1e4d-4bd9-ba61-23c647249616")
        #expect(TGAMProfile.Radio.issc.service.description == "49535343-fe7d-4ae5-8fa9-9fafd205e455")
    }

    @Test("tells by its frames that it is one: often at first, then never again")
    func status() {
        var decoder = TGAMProfile().makeDecoder()
        var counts: [Int] = []
        for frame in 1...10_000 {
            var decoded = Decoded()
            decoder.decode(ThinkGearFrame.raw(0).encoded(), from: TGAMProfile.Radio.hm10.data, into: &decoded)
            if decoded.items.contains(Self.streaming) { counts.append(frame) }
        }
        #expect(counts == (0...11).map { 1 << $0 })
    }

    @Test("that sends no frames is something else, and its link is given up")
    func stranger() {
        let profile = TGAMProfile()
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        decoder.decode(Array("23.5 C\r\n".utf8), from: TGAMProfile.Radio.hm10.data, into: &decoded)
        #expect(!decoded.items.contains(Self.streaming))
        #expect(profile.answersStatusQuery)
        #expect(profile.commands(for: .initialise, status: nil) == [.abandonLink(reason: "it sends no ThinkGear frames")])
        #expect(profile.commands(for: .initialise, status: HeadsetStatus(condition: .streaming)).isEmpty)
    }

    @Test("tells the battery of an old module once for each value, in percent of 127")
    func battery() {
        var decoder = ThinkGearDecoder()
        var decoded = Decoded()
        for level: UInt8 in [127, 127, 64, 64, 200] {
            decoder.decode(ThinkGearFrame(payload: [0x01, level]).encoded(), from: .serialPort, into: &decoded)
        }
        let percents = decoded.items.compactMap { if case .status(let status) = $0 { status.batteryPercent } else { nil } }
        #expect(percents.map { Int($0.rounded()) } == [100, 50, 100])
    }
}
