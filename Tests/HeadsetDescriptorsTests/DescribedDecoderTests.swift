import Bluetooth
import HeadsetDescriptors
import Headsets
import Testing

private let data = BluetoothUUID(UInt16(0xFE01))

@Suite("Described decoder")
struct DescribedDecoderTests {
    private static func profile(_ text: String) throws -> DescribedProfile { DescribedProfile(try DescriptorReader.read(text)) }

    /// The values of one notification, for samples described in one line.
    private static func values(_ samples: String, _ bytes: [UInt8], channels: String = "[A, B]") throws -> [Int32] {
        let profile = try profile(smallDescriptor(stream: "", packet: "", samples: samples, channels: channels))
        return decode([bytes], from: data, profile).values
    }

    @Test("reads 12, 14, 20 and 24 bits in both bit orders as the vectors of real headsets have them")
    func widths() throws {
        // A Muse's 12 bits, highest bit first, and the same bytes as 24 bits (muse-js).
        let muse: [UInt8] = [
            0x57, 0x21, 0xC0, 0x52, 0x49, 0x06, 0x6A, 0xF2, 0x31, 0x40, 0x58, 0x99, 0x80, 0x42, 0xFE, 0x2C, 0x77, 0x9D,
        ]
        #expect(
            try Self.values("{stream: eeg, at: 0, type: u12be, instants: 12}", muse, channels: "[A]")
                == [1394, 448, 1316, 2310, 1711, 561, 1029, 2201, 2052, 766, 711, 1949])
        #expect(
            try Self.values("{stream: eeg, at: 0, type: u24be, instants: 6}", muse, channels: "[A]")
                == [5_710_272, 5_392_646, 7_008_817, 4_216_985, 8_405_758, 2_914_205])
        // A Muse S Athena's 14 bits, lowest bit first.
        let athena: [UInt8] = [0xFF, 0xFF, 0xFF, 0x0F, 0, 0, 0, 0x28, 0x1D, 0x18, 0xC8, 0xEB]
        #expect(
            try Self.values("{stream: eeg, at: 0, type: u14le, instants: 3}", athena) == [16_383, 16_383, 0, 0, 7464, 8288])
        #expect(try Self.values("{stream: eeg, at: 0, type: u20be}", [0x12, 0x34, 0x5F, 0xFF, 0xFE]) == [0x12345, 0xFFFFE])
        #expect(try Self.values("{stream: eeg, at: 0, type: i20le}", [0x45, 0x23, 0xE1, 0xFF, 0xFF]) == [0x12345, -2])
        #expect(try Self.values("{stream: eeg, at: 0, bit: 4, type: i12be}", [0xA8, 0x00, 0x07, 0xF0]) == [-2048, 127])
        #expect(try Self.values("{stream: eeg, at: 0, type: i24le}", [1, 0, 0x80, 0xFF, 0xFF, 0xFF]) == [-8_388_607, -1])
        #expect(try Self.values("{stream: eeg, at: -4, type: i16be}", [9, 9, 0xFF, 0xFE, 0, 3]) == [-2, 3])
        #expect(try Self.values("{stream: eeg, at: 0, type: i32le}", [0, 0, 0, 0x80, 255, 255, 255, 127]) == [.min, .max])
    }

    @Test("rounds floating-point numbers to a quantum, rails what is too large and refuses what is no number")
    func floats() throws {
        func bytes(_ values: Float...) -> [UInt8] {
            values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> ($0 * 8)) } }
        }
        let samples = "{stream: eeg, at: 0, type: f32le, quantum: 0.001}"
        #expect(try Self.values(samples, bytes(1.5, -0.0006)) == [1500, -1])
        #expect(try Self.values(samples, bytes(1e9, -1e9)) == [.max, .min])
        #expect(try Self.values(samples, bytes(.nan, 1)) == [])
        #expect(try Self.values(samples, bytes(1, .infinity)) == [])
    }

    @Test("keeps the channels of an instant together, however they were sent")
    func orders() throws {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6]
        #expect(try Self.values("{stream: eeg, at: 0, type: u8, instants: 3}", bytes) == [1, 2, 3, 4, 5, 6])
        #expect(try Self.values("{stream: eeg, at: 0, type: u8, instants: 3, order: channel}", bytes) == [1, 4, 2, 5, 3, 6])
        #expect(try Self.values("{stream: eeg, at: 0, type: u8, instants: rest, order: channel}", bytes) == [1, 4, 2, 5, 3, 6])
        #expect(try Self.values("{stream: eeg, at: 0, type: u8, instants: 3, channels: [B, A]}", bytes) == [2, 1, 4, 3, 6, 5])
        #expect(try Self.values("{stream: eeg, at: 0, type: u8, instants: 2, channels: [A, ~, B]}", bytes) == [1, 3, 4, 6])
        #expect(try Self.values("{stream: eeg, at: 0, type: u8, instants: 2, stride_bytes: 4}", bytes) == [1, 2, 5, 6])
        let runs = "[{stream: eeg, at: 0, type: u8, instants: 2}, {stream: eeg, at: 5, type: u8}]"
        #expect(try Self.values(runs, [1, 2, 3, 4, 9, 5, 6]) == [1, 2, 3, 4, 5, 6])
        #expect(
            try Self.values("{stream: eeg, at: 1, type: u8, instants: {at: 0, type: u8}}", [2, 1, 2, 3, 4]) == [1, 2, 3, 4])
        #expect(try Self.values("{stream: eeg, at: 1, type: u8, instants: {at: 0, type: u8}}", [3, 1, 2, 3, 4]) == [])
        #expect(
            try Self.values("{stream: eeg, at: 0, type: u8, instants: rest, except_bytes: 1}", [1, 2, 3, 4, 5]) == [1, 2, 3, 4])
    }

    @Test("splits a wide stream into banks of eight channels")
    func banks() throws {
        let names = "[" + (1...10).map { "C\($0)" }.joined(separator: ", ") + "]"
        let profile = try Self.profile(
            smallDescriptor(samples: "{stream: eeg, at: 1, type: u8, instants: 2}", channels: names))
        #expect(profile.streams.map(\.bank) == [0, 1])
        #expect(profile.streams.map(\.channels.count) == [8, 2])
        let decoded = decode([[5] + (0..<20).map { UInt8($0) }], from: data, profile)
        let found = blocks(decoded)
        #expect(found.map(\.stream) == [0, 1])
        #expect(found.map(\.counter) == [5, 5])
        #expect(Array(decoded.values[found[0].values]) == [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17])
        #expect(Array(decoded.values[found[1].values]) == [8, 9, 18, 19])
    }

    @Test("has the raw range and the counter's modulus of the types, unless a descriptor says otherwise")
    func ranges() throws {
        let stream = try Self.profile(smallDescriptor()).streams[0]
        #expect(stream.channels.map(\.rawMinimum) == [-32_768, -32_768] && stream.channels[0].rawMaximum == 32_767)
        #expect(stream.counterModulus == 256 && stream.samplesPerCount == 2)
        let described = try Self.profile(
            smallDescriptor(stream: "range: [-5, 5]\n    counter: {modulus: 7, samples_per_count: 2}"))
        #expect(described.streams[0].channels[0].rawMaximum == 5 && described.streams[0].counterModulus == 7)
        #expect(decode([[7, 0, 0, 0, 0, 0, 0, 0, 0]], from: data, described).items == [.discarded(byteCount: 9)])
    }

    /// Frames A5, number, two values, checksum.
    private static let stream = """
        framing: {kind: stream, sync: A5, length: 5, checksum: {kind: sum, at: -1, type: u8, from: 1}}
        """

    private static func frame(_ number: UInt8) -> [UInt8] { [0xA5, number, 1, 2, number &+ 3] }

    @Test("finds frames in a byte stream, however it is cut")
    func cuts() throws {
        let profile = try Self.profile(
            smallDescriptor(
                source: Self.stream, packet: "counter: {at: 1, type: u8}",
                samples: "{stream: eeg, at: 2, type: u8}"))
        let bytes = (0..<50).flatMap { Self.frame(UInt8($0)) }
        for length in [1, 2, 3, 4, 5, 7, 64, 250] {
            let pieces = stride(from: 0, to: bytes.count, by: length).map { Array(bytes[$0..<min(bytes.count, $0 + length)]) }
            let decoded = decode(pieces, from: data, profile)
            #expect(blocks(decoded).map(\.counter) == (0..<50).map { UInt32($0) }, "\(length)")
            #expect(decoded.items.count == 50)
        }
    }

    @Test("goes on after damage at the next byte, and counts what it passed over")
    func damage() throws {
        let text = smallDescriptor(
            source: Self.stream, packet: "counter: {at: 1, type: u8}", samples: "{stream: eeg, at: 2, type: u8}")
        var bytes = Self.frame(0) + Self.frame(1) + Self.frame(2)
        bytes[6] ^= 0xFF
        #expect(
            decode([[9, 9] + bytes], from: data, try Self.profile(text)).items.map(Self.summary)
                == ["discarded 2", "samples 0", "discarded 5", "samples 2"])
        // A look-alike of a sync before a good frame does not swallow it.
        let alike = Self.frame(0) + [0xA5, 0xA5] + Self.frame(1)
        #expect(
            decode([alike], from: data, try Self.profile(text)).items.map(Self.summary) == [
                "samples 0", "discarded 2", "samples 1",
            ])
        let skipping = text.replacing("length: 5,", with: "length: 5, after_damage: next_frame,")
        #expect(decode([alike], from: data, try Self.profile(skipping)).items.map(Self.summary) == ["samples 0"])
    }

    private static func summary(_ item: DecodedItem) -> String {
        switch item {
        case .samples(let block): "samples \(block.counter.map(String.init) ?? "-")"
        case .discarded(let count): "discarded \(count)"
        case .damaged(let stream, let count): "damaged \(stream) \(count)"
        case .event(let event): "annotation \(event.description)"
        case .message(let text): "message \(text)"
        case .status(let status): "status \(status.condition) \(status.batteryPercent ?? -1)"
        default: "other"
        }
    }

    @Test("says how many samples damaged frames cost a stream without counter")
    func cost() throws {
        let text = smallDescriptor(
            stream: "", source: Self.stream, packet: "", samples: "{stream: eeg, at: 1, type: u8, channels: [A, B]}")
        var bytes = Self.frame(0) + Self.frame(1) + Self.frame(2) + Self.frame(3)
        bytes[6] ^= 0xFF
        bytes[11] ^= 0xFF
        #expect(
            decode([bytes], from: data, try Self.profile(text)).items.map(Self.summary)
                == ["samples -", "discarded 10", "damaged 0 2", "samples -"])
    }

    @Test("takes lengths from a field, trailers with masks, and frames that end with their notification")
    func lengths() throws {
        let text = smallDescriptor(
            source:
                "framing: {kind: stream, spans_notifications: false, trailer: C0/F0, "
                + "length: {at: 0, type: u8, plus: 2, maximum: 40}}",
            packet: "counter: {at: 1, type: u8}",
            samples: "{stream: eeg, at: 2, type: u8, instants: rest}")
        let profile = try Self.profile(text)
        let frame: [UInt8] = [5, 9, 1, 2, 3, 4, 0xC7]
        let decoded = decode([frame + frame, Array(frame.prefix(4)), frame], from: data, profile)
        #expect(decoded.items.map(Self.summary) == ["samples 9", "samples 9", "discarded 4", "samples 9"])
        #expect(decoded.values == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4])
    }

    @Test("says events of the sample that a field counts, with code and clock, or of the packet's own")
    func events() throws {
        let text = smallDescriptor(
            packet: "when: {at: 0, type: u4be, is: [0, 1]}\n        counter: {at: 0, bit: 4, type: u4be}",
            samples: "{stream: eeg, at: 1, type: i16le, instants: 2}",
            more: """
                      - when: {at: 0, is: 0x81}
                        annotation:
                          text: Trigger
                          code: {at: 1, type: i16le}
                          ticks: {at: 3, type: u32le}
                          stream: eeg
                          counter: {at: 7, type: u8}
                      - when: {at: 0, is: 0x82}
                        annotation: {text: Latest, stream: eeg}
                """.split(separator: "\n").map { "    " + $0.dropFirst(4) }.joined(separator: "\n"))
        let profile = try Self.profile(text)
        let modulus = try #require(profile.streams[0].counterModulus)
        let decoded = decode(
            [[0x81, 0xFE, 0xFF, 1, 2, 0, 0, 3], [0x81, 1, 0, 0, 0, 0, 0, UInt8(modulus)], [0x82]], from: data, profile)
        #expect(
            decoded.items == [
                .event(HeadsetEvent("Trigger", of: HeadsetEvent.Sample(stream: 0, counter: 3), deviceTicks: 513, code: -2)),
                .event(HeadsetEvent("Trigger", deviceTicks: 0, code: 1)),
                .event(HeadsetEvent("Latest", of: HeadsetEvent.Sample(stream: 0))),
            ])
    }

    @Test("distinguishes kinds of packets, with status, annotations and texts")
    func kinds() throws {
        let text = smallDescriptor(
            packet: "when: {at: 0, type: u4be, is: [0, 1]}\n        counter: {at: 0, bit: 4, type: u4be}",
            samples: "{stream: eeg, at: 1, type: i16le, instants: 2}",
            more: """
                      - when: {at: 0, is: 0x80}
                        status:
                          condition: {at: 1, type: u8, values: {0: idle, 1: streaming, 2: low_power}}
                          battery_percent: {at: 2, type: u8, scale: 100 / 255}
                          serial_number: {at: 3, length: 4}
                          boot_identifier: {at: 7, type: u32le}
                          ticks: {at: 11, type: u16be, frequency_hertz: 32768}
                      - when: {at: 0, is: 0x81}
                        annotation: {text: "Button {which}", values: {which: {at: 1, type: u8, words: {1: A}}}}
                      - when: {at: 0, is: 0x82}
                        message: {at: 1}
                      - when: {at: 0, is: 0x83}
                        ignore: true
                """.split(separator: "\n").map { "    " + $0.dropFirst(4) }.joined(separator: "\n"))
        let profile = try Self.profile(text)
        #expect(profile.sendsIdentityInStatus)
        let status: [UInt8] = [0x80, 2, 255] + Array("AB\0\0".utf8) + [1, 2, 3, 4, 1, 0]
        let decoded = decode(
            [
                [0x1E, 1, 0, 2, 0, 3, 0, 4, 0], status, [0x81, 1], [0x81, 2], Array("\u{1}ok".utf8), [0x82, 0x6F, 0x6B], [0x83],
            ],
            from: data, profile)
        #expect(
            decoded.items.map(Self.summary) == [
                "samples 14", "status lowPower 100.0", "annotation Button A", "discarded 2", "discarded 3", "message ok",
            ])
        guard case .status(let status) = decoded.items[1] else { return #expect(Bool(false)) }
        #expect(status.serialNumber == "AB" && status.bootIdentifier == 0x0403_0201)
        #expect(status.deviceTicks == 256 && status.tickFrequency == 32_768)
    }

    @Test("knows the checks that catalogues list by their result for the digits 1 to 9")
    func checks() {
        let digits = Array("123456789".utf8)
        for (name, check, result) in CyclicRedundancyCheck.named {
            #expect(check.checksum(of: digits, digits.indices) == result, "\(name)")
        }
        #expect(CRC32C.checksum(of: digits) == 0xE306_9283)
    }

    @Test(
        "accepts a frame whose checksum holds, and no other",
        arguments: [
            ("{kind: sum, at: -1, type: u8}", [UInt8](arrayLiteral: 3)),
            ("{kind: inverted-sum, at: -1, type: u8}", [0xFC]), ("{kind: negated-sum, at: -1, type: u8}", [0xFD]),
            ("{kind: xor, at: -1, type: u8}", [3]), ("{kind: sum, at: -2, type: u16be}", [0, 3]),
            ("{kind: crc16-xmodem, at: -2, type: u16be}", [0x13, 0x73]),
            ("{kind: {width: 16, polynomial: 0x1021}, at: -2, type: u16le}", [0x73, 0x13]),
        ])
    func checksums(checksum: String, trailer: [UInt8]) throws {
        let text = smallDescriptor(
            stream: "", source: "framing: {kind: notification, checksum: \(checksum)}", packet: "",
            samples: "{stream: eeg, at: 0, type: u8}")
        let profile = try Self.profile(text)
        #expect(decode([[1, 2] + trailer], from: data, profile).values == [1, 2])
        #expect(
            decode([[1, 3] + trailer], from: data, profile).items.map(Self.summary)
                == ["discarded \(2 + trailer.count)", "damaged 0 1"])
    }

    @Test("accepts a checksum before what it is of")
    func leadingChecksum() throws {
        let text = smallDescriptor(
            stream: "", source: "framing: {kind: notification, checksum: {kind: sum, at: 0, type: u8, from: 1, to: 0}}",
            packet: "", samples: "{stream: eeg, at: 1, type: u8}")
        #expect(decode([[3, 1, 2], [3, 1, 3]], from: data, try Self.profile(text)).values == [1, 2])
    }
}

@Suite("Described profile")
struct DescribedProfileTests {
    private static func characteristic(_ number: UInt16) -> Characteristic {
        Characteristic(service: BluetoothUUID(UInt16(0xFE00)), uuid: BluetoothUUID(number), properties: [.notify])
    }

    private static func database(_ numbers: UInt16...) -> GATTDatabase {
        GATTDatabase(characteristics: numbers.map(characteristic))
    }

    @Test("gives the link up where the GATT database is that of another model")
    func discriminated() throws {
        let text = smallDescriptor().replacing("gatt: {", with: "gatt: {required: [data], excluded: [FE09], ")
        let profile = DescribedProfile(try DescriptorReader.read(text))
        #expect(profile.isDiscriminatedByDatabase)
        let right = profile.adapted(to: Self.database(0xFE01))
        #expect(right.dataCharacteristics == [data])
        for wrong in [Self.database(0xFE02), Self.database(0xFE01, 0xFE09)] {
            let adapted = profile.adapted(to: wrong)
            #expect(adapted.requiredCharacteristics.isEmpty)
            guard case .abandonLink? = adapted.commands(for: .initialise, status: nil).first else {
                return #expect(Bool(false), "it goes on")
            }
        }
        #expect(!DescribedProfile(try DescriptorReader.read(smallDescriptor())).isDiscriminatedByDatabase)
    }

    @Test("leaves out the streams of an optional characteristic that a headset lacks")
    func optional() throws {
        let text = smallDescriptor(
            source: "optional: true",
            more: """
                  - characteristic: FE03
                    packets:
                      - samples: {stream: motion, at: 0, type: u8}
                """
        ).replacing(
            "sources:", with: "  - {name: motion, sampling_frequency_hertz: 50, scale: 1, channels: [X]}\nsources:")
        let profile = DescribedProfile(try DescriptorReader.read(text))
        #expect(profile.streams.map(\.name) == ["eeg", "motion"])
        let adapted = profile.adapted(to: Self.database(0xFE03))
        #expect(adapted.streams.map(\.name) == ["motion"])
        #expect(adapted.dataCharacteristics == [BluetoothUUID(UInt16(0xFE03))])
        #expect(blocks(decode([[7]], from: BluetoothUUID(UInt16(0xFE03)), adapted)).map(\.stream) == [0])
        #expect(profile.adapted(to: Self.database(0xFE01, 0xFE03)).streams.count == 2)
    }

    @Test("has its memory drained by the Buffered EEG service, and keeps its own streams")
    func memory() throws {
        let text = smallDescriptor(
            stream: "counter: {samples_per_count: 1}", more: "memory: buffered-eeg")
        let profile = DescribedProfile(try DescriptorReader.read(text))
        #expect(profile.memory == .bufferedEEGService && profile.epochRule == .boot)
        #expect(profile.controlCharacteristics == [BufferedEEGService.control])
        #expect(profile.dataCharacteristics == [data, BufferedEEGService.data])
        #expect(profile.commands(for: .queryStatus, status: nil) == [BufferedEEGCommand.status.step])
        let header = BufferedEEGBlock.Header(
            isFromMemory: true, bootIdentifier: 7, stream: 0, channelCount: 2, instantCount: 2, firstIndex: 100)
        let block = BufferedEEGBlock(header: header, values: [1, 2, 3, 4])
        let decoded = decode([block.encoded()], from: BufferedEEGService.data, profile)
        #expect(blocks(decoded).map(\.origin) == [.memory])
        #expect(decoded.values == [1, 2, 3, 4])
    }

    @Test("sends commands as written: bytes, text, reads, pauses")
    func commands() throws {
        let text = smallDescriptor(
            more: """
                commands:
                  initialise:
                    - {write: 77 01 FF, to: command}
                    - {wait_milliseconds: 50}
                    - {read: software_revision}
                    - {text: "b\\n", to: command, response: false}
                  keep_alive: {write: 0a, to: command}
                """)
        let profile = DescribedProfile(try DescriptorReader.read(text))
        let command = BluetoothUUID(UInt16(0xFE02))
        #expect(
            profile.commands(for: .initialise, status: nil) == [
                .write([0x77, 1, 0xFF], to: command, type: .withResponse), .wait(.milliseconds(50)),
                .read(.softwareRevisionString), .write([0x62, 0x0A], to: command, type: .withoutResponse),
            ])
        #expect(profile.commands(for: .keepAlive, status: nil) == [.write([10], to: command, type: .withResponse)])
        #expect(profile.commands(for: .stop, status: nil).isEmpty)
    }
}
