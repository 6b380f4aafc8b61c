import Bluetooth
import Headsets
import Testing

/// The packets of the Explore. Those given as text are from the test files of Mentalab's explorepy (MIT licence), with the
/// values that it expects.
@Suite("Explore")
struct ExploreTests {
    static let environment = "13020d00245b02001d8300b008afbeadde"
    static let orientation = "0d011a00da7b05001cff1af730c12600aaffb5ffbf001e014d00afbeadde"
    static let information = "62001e006b3301005043425f3330335f383031455f585800c20206ff0114afbeadde"
    static let eeg16 =
        "99003800e2410300d4a30ec8f1297fffffb025b54740e7fd08fe800000eacd82800000800000800000800000800000800000800000"
        + "800000afbeadde"
    static let eeg8 = "9700200076210300800000800000800000800000800000800000800000800000afbeadde"

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    private static func decode(_ pieces: [[UInt8]], with decoder: inout ExploreDecoder) -> Decoded {
        var decoded = Decoded()
        for piece in pieces { decoder.decode(piece, from: ExploreService.explorePro.data, into: &decoded) }
        return decoded
    }

    private static func blocks(_ decoded: Decoded, stream: Int = ExploreProfile.eeg) -> [SampleBlock] {
        decoded.items.compactMap { item in
            if case .samples(let block) = item, block.stream == stream { block } else { nil }
        }
    }

    private static func statuses(_ decoded: Decoded) -> [HeadsetStatus] {
        decoded.items.compactMap { if case .status(let status) = $0 { status } else { nil } }
    }

    private static func events(_ decoded: Decoded) -> [HeadsetEvent] {
        decoded.items.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    private static func discarded(_ decoded: Decoded) -> Int {
        decoded.items.reduce(0) { if case .discarded(let count) = $1 { $0 + count } else { $0 } }
    }

    private static func eeg(_ ticks: UInt64, channelCount: Int = 8) -> [UInt8] {
        let kind: ExplorePacket.Kind = channelCount == 8 ? .eeg8BLE : channelCount == 16 ? .eeg16BLE : .eeg32BLE
        let samples = (0..<channelCount).map { Int32(truncatingIfNeeded: ticks) &* 32 &+ Int32($0) }
        return ExplorePacket(kind: kind, ticks: ticks, content: ExplorePacket.content(ofInstant: samples)).encoded()
    }

    private static func motion(_ ticks: UInt64) -> [UInt8] {
        ExplorePacket(kind: .orientation, ticks: ticks, content: [UInt8](repeating: 1, count: 18)).encoded()
    }

    /// A decoder that knows what the headset is like: 250 Hz, by its information; the last packet was at 0.
    private static func decoder(channelCount: Int = 8, at ticks: UInt64 = 0) -> ExploreDecoder {
        var decoder = ExploreDecoder()
        let pieces = [
            bytes(information), motion(ticks &- 800), eeg(ticks &- 400, channelCount: channelCount),
            eeg(ticks, channelCount: channelCount),
        ]
        #expect(statuses(decode(pieces, with: &decoder)).count == 1)
        return decoder
    }

    @Test("sends 16 channels, each eight in reverse, as in Mentalab's test file")
    func sixteenChannels() {
        var decoder = ExploreDecoder()
        let packet = Self.bytes(Self.eeg16)
        let decoded = Self.decode(
            [Self.bytes(Self.information), Self.bytes(Self.orientation), packet, packet], with: &decoder)
        let banks = [Self.blocks(decoded), Self.blocks(decoded, stream: ExploreProfile.eeg + 1)]
        #expect(banks.map(\.count) == [1, 1])
        let values = banks.flatMap { $0.flatMap { decoded.values[$0.values] } }
        let scale = Self.statuses(decoded).first?.streams?[ExploreProfile.eeg].channels[0].scale ?? 0
        let expected = [
            -66241.37, -400000.05, -9265.23, 222667.29, -249539.74, 400000.0, -172056.17, -135509.6,
        ]
        for (value, microvolts) in zip(values, expected) { #expect(abs(Double(value) * scale - microvolts) < 0.006) }
        #expect(values.dropFirst(8).allSatisfy { $0 == -8_388_608 })
        #expect(Self.statuses(decoded).first?.streams?.map(\.name).suffix(2) == ["eeg", "eeg"])
    }

    @Test("sends motion, environment, markers, triggers and answers, as in Mentalab's test files")
    func otherPackets() {
        var decoder = Self.decoder(at: 359_000)
        let decoded = Self.decode(
            [
                Self.bytes(Self.orientation), Self.bytes(Self.environment), Self.bytes("c2ff0a008cbd07000000afbeadde"),
                Self.bytes("b20010006fb8be006fb8be00ff000000afbeadde"), Self.bytes("c05e0d0012665809a717440e01afbeadde"),
                Self.bytes("c1000e00d97b0500a317418d8c01afbeadde"), Self.bytes("c5000c0099052400cf5ace28afbeadde"),
            ], with: &decoder)
        let streams = ExploreProfile().streams
        func physical(_ stream: Int) -> [Double] {
            let values = Self.blocks(decoded, stream: stream).flatMap { decoded.values[$0.values] }
            return zip(values, streams[stream].channels).map { Double($0) * $1.scale }
        }
        func near(_ found: [Double], _ expected: [Double]) -> Bool {
            found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) < 1e-6 * max(1, abs($1)) }
        }
        #expect(near(physical(ExploreProfile.accelerometer), [-0.013908, -0.138958, -0.98088]))
        #expect(near(physical(ExploreProfile.gyroscope), [0.3325, -0.7525, -0.65625]))
        #expect(near(physical(ExploreProfile.magnetometer), [-29.032, 43.472, 11.704]))
        #expect(near(physical(ExploreProfile.environment), [29, 31.99023199, 4.025339366]))
        #expect(
            Self.events(decoded) == [
                HeadsetEvent(
                    "Button 0", of: HeadsetEvent.Sample(stream: ExploreProfile.eeg, counter: 1_269), deviceTicks: 507_276,
                    code: 0),
                // A minute and more from the last sample: of none near it.
                HeadsetEvent("Trigger in 255", deviceTicks: 12_499_055, code: 255),
            ])
        #expect(Self.discarded(decoded) == 0)
        // The answer to a command is answered by a status, with battery and clock.
        let status = Self.statuses(decoded).last
        #expect(status?.batteryPercent == 88)
        #expect(status?.condition == .streaming)
        #expect(status?.tickFrequency == 100_000)
    }

    @Test("says triggers of the sample that its clock was nearest to, also of ones that come later, and buttons of theirs")
    func events() throws {
        func trigger(_ ticks: UInt32, sent: UInt64, code: UInt16) -> [UInt8] {
            var content: [UInt8] = []
            content.append(littleEndian: ticks)
            content += [UInt8(truncatingIfNeeded: code), UInt8(code >> 8), 0, 0]
            return ExplorePacket(kind: .triggerIn, ticks: sent, content: content).encoded()
        }
        let button = ExplorePacket(kind: .pushMarker, ticks: 41_000, content: [2, 0]).encoded()
        // Before anything is known of the headset, only its clock says when.
        var fresh = ExploreDecoder()
        #expect(Self.events(Self.decode([button], with: &fresh)) == [HeadsetEvent("Button 2", deviceTicks: 41_000, code: 2)])
        var decoder = Self.decoder(at: 39_600)
        let pieces = [
            Self.eeg(40_000), trigger(39_190, sent: 40_010, code: 7), trigger(41_010, sent: 41_400, code: 513), button,
        ]
        let decoded = Self.decode(pieces, with: &decoder)
        let counter = try #require(Self.blocks(decoded).first?.counter)
        func sample(_ offset: Int) -> HeadsetEvent.Sample {
            HeadsetEvent.Sample(stream: ExploreProfile.eeg, counter: UInt32(Int(counter) + offset))
        }
        #expect(
            Self.events(decoded) == [
                HeadsetEvent("Trigger in 7", of: sample(-2), deviceTicks: 39_190, code: 7),
                HeadsetEvent("Trigger in 513", of: sample(3), deviceTicks: 41_010, code: 513),
                HeadsetEvent("Button 2", of: sample(3), deviceTicks: 41_000, code: 2),
            ])
    }

    @Test("names board, firmware, frequency and channels, as in Mentalab's test files")
    func information() {
        var decoder = ExploreDecoder()
        let decoded = Self.decode(
            [
                Self.bytes(Self.information),
                Self.bytes("61001d00475705005043425f3330335f3830315f585858002d0104ffc8afbeadde"),
                Self.bytes("63000c000a760800d70006ffafbeadde"),
            ], with: &decoder)
        #expect(
            decoded.items == [
                .deviceInformation(DeviceInformation(modelNumber: "PCB_303_801E_XX", firmwareRevision: "7.0.6")),
                .message("Firmware 7.0.6 on PCB_303_801E_XX, 250 Hz, channels 11111111"),
                .deviceInformation(DeviceInformation(modelNumber: "PCB_303_801_XXX", firmwareRevision: "3.0.1")),
                .message("Firmware 3.0.1 on PCB_303_801_XXX, 1000 Hz, channels 11111111"),
                .deviceInformation(DeviceInformation(firmwareRevision: "2.1.5")),
                .message("Firmware 2.1.5, 250 Hz, channels 11111111"),
            ])
    }

    @Test("may send several instants in a packet, each behind a word that names the frequency")
    func severalInstants() {
        for (kind, channels, count) in [(ExplorePacket.Kind.eeg4, 4, 33), (.eeg8, 8, 16), (.eeg8USBC, 8, 16), (.eeg32, 32, 4)] {
            var decoder = ExploreDecoder()
            let packets = (0..<10).map { number in
                let instants = (0..<count).map { instant in
                    (0..<channels).map { Int32((number * count + instant) * 100 + $0) - 300 }
                }
                return ExplorePacket(
                    kind: kind, ticks: UInt64(number * count) * 100,
                    content: ExplorePacket.content(ofInstants: instants, frequencyCode: 4)
                ).encoded()
            }
            let decoded = Self.decode([Self.motion(0)] + packets, with: &decoder)
            let status = Self.statuses(decoded).first?.streams?[ExploreProfile.eeg]
            #expect(status?.samplingFrequency == 1000)
            let blocks = Self.blocks(decoded)
            #expect(blocks.count == 9)
            #expect(blocks.map(\.counter) == (1..<10).map { UInt32($0 * count) })
            #expect(blocks.last.map { decoded.values[$0.values.lowerBound] } == Int32(9 * count * 100 - 300))
            #expect(blocks.first?.instantCount == count)
            // The headset's clock at the last instant of each; a packet bears that of the first.
            #expect(blocks.map(\.deviceTicks) == (1..<10).map { UInt64($0 * count + count - 1) * 100 })
            #expect(ExploreProfile().sampleStamps?.tickFrequency == 100_000)
        }
    }

    @Test("measures the frequency by the headset's clock where nothing names it", arguments: [250.0, 500, 1000])
    func measuredFrequency(frequency: Double) {
        var decoder = ExploreDecoder()
        let packets = (0..<400).map { Self.eeg(UInt64(Double($0) * 100_000 / frequency)) }
        let decoded = Self.decode([Self.motion(0)] + packets, with: &decoder)
        #expect(Self.statuses(decoded).first?.streams?[ExploreProfile.eeg].samplingFrequency == frequency)
        #expect(Self.statuses(decoded).count == 1)
    }

    @Test("sees what is missing by the headset's clock, over the turn of its 32 bits")
    func lostPackets() {
        let start = UInt64(UInt32.max) - 20_000
        var decoder = Self.decoder(at: start)
        let sent = (1...400).map { UInt64($0) }
        let lost: Set<UInt64> = [5, 6, 7, 100, 250, 251]
        // A clock that trembles by a millisecond, and is fast by a part in a thousand.
        let packets = sent.filter { !lost.contains($0) }.map { number in
            Self.eeg((start + number * 400 + number * 2 / 5 + number % 3 * 50) & 0xFFFF_FFFF)
        }
        let counters = Self.blocks(Self.decode(packets, with: &decoder)).compactMap(\.counter)
        let first = counters.first ?? 0
        #expect(counters.map { UInt64($0 - first) + 1 } == sent.filter { !lost.contains($0) })
    }

    @Test("is not disturbed by packets that come twice or late; a clock that was set far away loses nothing")
    func repeatedPackets() {
        var decoder = Self.decoder(at: 40_000)
        let decoded = Self.decode([400, 400, 1200, 800, 1200, 1600].map { Self.eeg(40_000 + $0) }, with: &decoder)
        #expect(Self.blocks(decoded).map(\.counter) == [101, 103, 102, 104])
        let set = Self.decode([100_000_000, 100_000_400].map { Self.eeg($0) }, with: &decoder)
        #expect(Self.blocks(set).map(\.counter) == [250_000, 250_001])
        let back = Self.decode([1000, 1400].map { Self.eeg($0) }, with: &decoder)
        #expect(Self.blocks(back).map(\.counter) == [250_002, 250_003])
    }

    @Test("may be cut anywhere, and loses no whole packet behind damage", arguments: [1, 7, 20, 36, 244])
    func framing(pieceLength: Int) {
        var decoder = Self.decoder()
        var stream: [UInt8] = []
        for number in 1...40 { stream += Self.eeg(UInt64(number) * 400) }
        stream.removeSubrange(100..<140)
        let pieces = stride(from: 0, to: stream.count, by: pieceLength).map {
            Array(stream[$0..<min(stream.count, $0 + pieceLength)])
        }
        let decoded = Self.decode(pieces, with: &decoder)
        #expect(Self.blocks(decoded).map(\.counter) == [1, 2] + Array(5...40))
        #expect(Self.discarded(decoded) == stream.count - 38 * 36)
    }

    @Test("of another kind has times of 64 bits in all packets")
    func longTimes() {
        var decoder = ExploreDecoder()
        let base: UInt64 = 0x12_3456_7800
        let packets = (0..<100).map { number in
            ExplorePacket(
                kind: .eeg8BLE, ticks: base + UInt64(number) * 400,
                content: ExplorePacket.content(ofInstant: [Int32](repeating: 7, count: 8))
            ).encoded(timeLength: 8)
        }
        let motion = ExplorePacket(kind: .orientation, ticks: base, content: [UInt8](repeating: 1, count: 18))
        let decoded = Self.decode([motion.encoded(timeLength: 8)] + packets, with: &decoder)
        #expect(Self.statuses(decoded).first?.deviceTicks == base + 51 * 400 - 400)
        #expect(Self.discarded(decoded) == 0)
        #expect(Self.blocks(decoded).count > 40)
    }

    @Test("is asked by a command that changes nothing, has its frequency set where one is wanted, and has two sets of UUIDs")
    func profile() {
        #expect(
            ExploreCommand.impedanceOff.bytes == [0xA0, 0, 10, 0, 0, 0, 0, 0, 0xA6, 0, 0xAF, 0xBE, 0xAD, 0xDE])
        #expect(ExploreCommand.samplingFrequency(doublings: 2).bytes[9] == 3)
        #expect(ExploreService.explorePro.data.description == "fffe0003-b5a3-f393-e0a9-e50e24dcca9e")
        #expect(ExploreService.nordicUART.service.description == "6e400001-b5a3-f393-e0a9-e50e24dcca9e")
        let database = GATTDatabase(characteristics: ExploreService.nordicUART.characteristics)
        #expect(ExploreProfile().adapted(to: database).controlCharacteristics == [ExploreService.nordicUART.data])
        #expect(ExploreProfile().commands(for: .initialise, status: nil).isEmpty)
        #expect(ExploreProfile(samplingFrequency: 1000).commands(for: .initialise, status: nil).count == 2)
        var decoder = ExploreDecoder(wantedFrequency: 500)
        let packets = (0..<100).map { Self.eeg(UInt64($0) * 400) }
        let decoded = Self.decode([Self.motion(0)] + packets, with: &decoder)
        #expect(Self.statuses(decoded).first?.condition == .wrongConfiguration)
    }
}
