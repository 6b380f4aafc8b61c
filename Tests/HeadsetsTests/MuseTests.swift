import Bluetooth
import Headsets
import Testing

/// The packets and answers of a Muse 2016, Muse 2 and Muse S. The vectors are those of muse-js (MIT licence).
@Suite("Muse")
struct MuseTests {
    private static func bytes(_ text: String) -> [UInt8] {
        text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    private static func decode(_ bytes: [UInt8], from characteristic: BluetoothUUID) -> Decoded {
        var decoder = MuseDecoder()
        var decoded = Decoded()
        decoder.decode(bytes, from: characteristic, into: &decoded)
        return decoded
    }

    private static func block(_ decoded: Decoded) -> SampleBlock? {
        guard case .samples(let block)? = decoded.items.first else { return nil }
        return block
    }

    /// A notification of the control characteristic, with what is left over from an older one behind it.
    private static func fragment(_ text: String, stale: Character = "x") -> [UInt8] {
        [UInt8(text.utf8.count)] + text.utf8 + String(repeating: stale, count: 19 - text.utf8.count).utf8
    }

    private static func control(_ fragments: [String]) -> [DecodedItem] {
        var decoder = MuseDecoder()
        var decoded = Decoded()
        for fragment in fragments { decoder.decode(Self.fragment(fragment), from: MuseService.control, into: &decoded) }
        return decoded.items
    }

    private static let packed = bytes("57 21 c0 52 49 06 6a f2 31 40 58 99 80 42 fe 2c 77 9d")

    @Test("packs two samples of the EEG into three bytes")
    func unsigned12() {
        let decoded = Self.decode([0, 7] + Self.packed, from: MuseService.eeg[2])
        #expect(decoded.values == [1394, 448, 1316, 2310, 1711, 561, 1029, 2201, 2052, 766, 711, 1949])
        let block = Self.block(decoded)
        #expect(block?.counter == 7)
        #expect(block?.firstChannel == 2)
        #expect(block?.channelCount == 1)
        #expect(block?.instantCount == 12)
    }

    @Test("measures ±1000 µV around the middle of 12 bits")
    func microvolts() throws {
        let packet = Self.bytes("00 01") + (0..<6).flatMap { _ in Self.bytes("28 03 80") }
        let decoded = Self.decode(packet, from: MuseService.eeg[0])
        let channel = try #require(MuseProfile().streams.first?.channels.first)
        let microvolts = decoded.values.map { Double($0) * channel.scale + channel.offset }
        #expect(microvolts == (0..<6).flatMap { _ in [-687.5, -562.5] })
        #expect(Self.block(decoded)?.counter == 1)
    }

    @Test("packs optical samples into 24 bits each")
    func unsigned24() {
        let decoded = Self.decode([0, 0] + Self.packed, from: MuseService.ppg[1])
        #expect(decoded.values == [5_710_272, 5_392_646, 7_008_817, 4_216_985, 8_405_758, 2_914_205])
        #expect(Self.block(decoded)?.firstChannel == 1)
        #expect(Self.block(decoded)?.stream == MuseProfile.ppg)
    }

    @Test("sends three instants of acceleration in one packet")
    func acceleration() {
        let decoded = Self.decode(
            Self.bytes("52 6d 0d b2 0d 9d 3c 73 12 05 0d 49 3c 35 11 b7 11 e3 3c 8f"), from: MuseService.accelerometer)
        #expect(Self.block(decoded)?.counter == 21_101)
        #expect(Self.block(decoded)?.instantCount == 3)
        let scale = MuseProfile().streams[MuseProfile.accelerometer].channels[0].scale
        let expected = [0.213989, 0.212708, 0.944520, 0.281555, 0.207581, 0.940736, 0.276795, 0.279480, 0.946229]
        #expect(zip(decoded.values, expected).allSatisfy { abs(Double($0) * scale - $1) < 1e-5 })
    }

    @Test("turns one count of the gyroscope into 0.0074768 degrees per second")
    func gyroscope() {
        let decoded = Self.decode(
            Self.bytes("01 6d 05 0c 00 9d 00 73 00 00 00 00 00 00 00 00 00 00 00 00"), from: MuseService.gyroscope)
        #expect(Self.block(decoded)?.counter == 365)
        let expected = [9.660026, 1.173858, 0.859832]
        #expect(zip(decoded.values, expected).allSatisfy { abs(Double($0) * MuseProfile.degreesPerSecondPerCount - $1) < 1e-5 })
    }

    @Test("tells its battery by itself")
    func telemetry() {
        let packet = Self.bytes("01 4a b5 b8 07 40 0f 7f 00 1b 00 00 00 00 00 00 00 00 00 00")
        #expect(
            Self.decode(packet, from: MuseService.telemetry).items
                == [.status(HeadsetStatus(condition: .streaming, batteryPercent: 90.859375, raw: packet))])
    }

    @Test("answers in JSON whose end and beginning may share a notification, before left-over characters")
    func replies() {
        let items = Self.control([
            "{\"rc\":0}", "{\"hn\":\"Muse-13", "24\",\"sn\":\"2031-TZR", "W-1324\",\"ma\":\"00-5", "5-da-b0-13-24\",",
            "\"bp\":82.5,", "\"ts\":0,\"ps\":32,", "\"rc\":0}{\"r", "c\":2}",
        ])
        let answer =
            "{\"hn\":\"Muse-1324\",\"sn\":\"2031-TZRW-1324\",\"ma\":\"00-55-da-b0-13-24\","
            + "\"bp\":82.5,\"ts\":0,\"ps\":32,\"rc\":0}"
        let status = HeadsetStatus(
            condition: .idle, batteryPercent: 82.5, serialNumber: "2031-TZRW-1324", raw: Array(answer.utf8))
        #expect(items == [.answered, .status(status), .refused(command: 0, code: 2)])
    }

    @Test("answers two commands alike, and both answers count")
    func equalReplies() {
        #expect(Self.control(["{\"rc\":0}", "{\"rc\":0}"]) == [.answered, .answered])
        // A piece of an answer that comes twice counts once.
        let items = Self.control(["{\"bp\":8,", "\"rc\":0}", "\"rc\":0}"])
        #expect(items.count == 2 && items.last == .discarded(byteCount: 7), "\(items)")
    }

    @Test("tells its bootloader in the answer about its versions")
    func bootloader() {
        let versions = Self.control(["{\"ap\":\"headset\",", "\"hw\":\"3.1\",", "\"fw\":\"1.2.13\"}"])
        #expect(
            versions == [
                .deviceInformation(DeviceInformation(firmwareRevision: "1.2.13", hardwareRevision: "3.1")), .answered,
            ])
        let items = Self.control(["{\"ap\":\"bootloader\"", ",\"sp\":\"RevE\"}"])
        let answer = Array("{\"ap\":\"bootloader\",\"sp\":\"RevE\"}".utf8)
        #expect(items == [.status(HeadsetStatus(condition: .bootloader, raw: answer))])
    }

    @Test("tells no status, and never another serial number, in an answer of which any notification was lost or came again")
    func spoiledReplies() {
        let answer =
            "{\"hn\":\"Muse-1324\",\"sn\":\"2031-TZRW-1324\",\"ma\":\"00-55-da-b0-13-24\","
            + "\"id\":\"07473435 32313630 004f003a\",\"bp\":82,\"ts\":0,\"ps\":32,\"rc\":0}"
        // Where the pieces begin depends on what was sent before.
        for start in 0..<19 {
            let text = Array(String(repeating: " ", count: start) + answer)
            let pieces = stride(from: 0, to: text.count, by: 19).map { String(text[$0..<min(text.count, $0 + 19)]) }
            var spoiled = pieces.indices.map { lost in pieces.enumerated().filter { $0.offset != lost }.map(\.element) }
            for first in pieces.indices.dropLast() {
                var swapped = pieces
                swapped.swapAt(first, first + 1)
                spoiled.append(swapped)
                spoiled.append(Array(pieces[...(first + 1)] + pieces[first...]))
            }
            for pieces in spoiled {
                for case .status(let status) in Self.control(pieces) {
                    #expect(status.serialNumber == nil || status.serialNumber == "2031-TZRW-1324", "\(pieces)")
                }
            }
        }
    }

    @Test("is not confused by texts like keys, by notifications that come twice or never, or by an endless answer")
    func oddReplies() {
        var found: [MuseReply] = []
        var assembler = MuseReplyAssembler()
        func append(_ text: String) -> Int { assembler.append(Self.fragment(text)) { found.append($0) } }
        for fragment in ["}x{\"hn\":\"sn\",", "\"bp\": 7", "\"bp\": 7", " }"] { _ = append(fragment) }
        #expect(found.count == 1)
        #expect(found.first?["sn"] == nil)
        #expect(found.first?.number("bp") == 7)
        // The end of the first object is lost.
        #expect(append("{\"sn\":\"12") == 0)
        #expect(append("{\"rc\":0}") == 9)
        #expect(found.last?.number("rc") == 0)
        _ = append("{")
        var dropped = 0
        for number in 0..<1000 { dropped += append("\(number % 10)aaaaaaaaaaaaaaaaaa") }
        #expect(dropped > 18_000)
        #expect(found.count == 2)
    }

    @Test("is not believed a serial number that nobody can type, nor a charge that cannot be")
    func implausibleReplies() {
        for (serial, charge) in [("2031-T\u{7F}RW", "nan"), ("2031-TÄRW", "-5"), ("", "1e9")] {
            let answer = "{\"sn\":\"\(serial)\",\"ma\":\"00-55-da-b0-13-24\",\"bp\":\(charge)}"
            let pieces = stride(from: 0, to: answer.unicodeScalars.count, by: 15).map {
                String(String.UnicodeScalarView(answer.unicodeScalars.dropFirst($0).prefix(15)))
            }
            #expect(Self.control(pieces) == [.status(HeadsetStatus(condition: .idle, raw: Array(answer.utf8)))], "\(answer)")
        }
    }

    @Test("drops no more characters than came, also where a notification lies about their number and comes twice")
    func lyingLength() {
        var assembler = MuseReplyAssembler()
        let lying = [0xFF, UInt8(ascii: "x"), UInt8(ascii: "y")]
        #expect(assembler.append(lying) { _ in } == 2)
        #expect(assembler.append(lying) { _ in } == 2)
    }

    @Test("counts what has the wrong length, and decodes nothing of it")
    func wrongLength() {
        for characteristic in MuseService.eeg + MuseService.ppg + [MuseService.accelerometer, MuseService.gyroscope] {
            #expect(Self.decode([1, 2, 3], from: characteristic).items == [.discarded(byteCount: 3)])
        }
        #expect(Self.decode([], from: MuseService.eeg[0]).items == [.discarded(byteCount: 0)])
    }

    @Test("is told what to do in text behind its length")
    func commands() {
        #expect(MuseCommand.halt == [0x02, 0x68, 0x0A])
        #expect(MuseCommand.version == [0x03, 0x76, 0x31, 0x0A])
        #expect(MuseCommand.preset("21") == [0x04, 0x70, 0x32, 0x31, 0x0A])
        #expect(MuseCommand.preset("1041") == [0x06, 0x70, 0x31, 0x30, 0x34, 0x31, 0x0A])
        #expect(MuseCommand.text(of: MuseCommand.reset) == "*1")
        #expect(MuseCommand.text(of: [9, 0x68, 0x0A]) == nil)
        #expect(MuseService.control.description == "273e0001-4c4d-454d-96be-f03bac821358")
    }

    private static func database(_ characteristics: [BluetoothUUID]) -> GATTDatabase {
        GATTDatabase(
            characteristics: characteristics.map {
                Characteristic(service: MuseService.service, uuid: $0, properties: [.notify])
            })
    }

    @Test("is told apart by its characteristics: with or without optical channels, or with nothing but its control")
    func variants() throws {
        let control = [MuseService.control]
        let cases: [([BluetoothUUID], MuseProfile.Variant, [String], Int)] = [
            (control, .controlOnly, ["eeg", "accelerometer", "gyroscope"], 0),
            (control + MuseService.eeg, .withoutPPG, ["eeg", "accelerometer", "gyroscope"], 7),
            (control + MuseService.eeg + MuseService.ppg, .withPPG, ["eeg", "accelerometer", "gyroscope", "ppg"], 10),
        ]
        for (characteristics, variant, streams, count) in cases {
            let profile = try #require(MuseProfile().adapted(to: Self.database(characteristics)) as? MuseProfile)
            #expect(profile.variant == variant)
            #expect(profile.streams.map(\.name) == streams)
            #expect(profile.dataCharacteristics.count == count)
            let steps = profile.commands(for: .initialise, status: nil)
            #expect(steps.first == MuseCommand.step(MuseCommand.halt))
            let isAbandoned = steps.contains { if case .abandonLink = $0 { true } else { false } }
            #expect(isAbandoned == (variant == .controlOnly))
        }
        #expect(MuseProfile(preset: "p20").streams.first?.channels.map(\.name) == ["TP9", "AF7", "AF8", "TP10", "AUX"])
    }
}
