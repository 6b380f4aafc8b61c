import Bluetooth
import Headsets
import Testing

/// The Ganglion's packets. The vectors of fields are those of OpenBCI's NodeJS library (MIT licence); those of firmware 3 are
/// made here by its packing rules, since nobody has published a recording.
@Suite("Ganglion")
struct GanglionTests {
    private static func bytes(_ text: String) -> [UInt8] {
        text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    private static func decode(_ packets: [[UInt8]], with decoder: inout GanglionDecoder) -> Decoded {
        var decoded = Decoded()
        for packet in packets { decoder.decode(packet, from: GanglionService.data, into: &decoded) }
        return decoded
    }

    /// A decoder of a headset whose version was read.
    private static func decoder(_ revision: String) -> GanglionDecoder {
        var decoder = GanglionDecoder()
        var decoded = Decoded()
        decoder.decode(Array(revision.utf8), from: .softwareRevisionString, into: &decoded)
        return decoder
    }

    private static func blocks(_ decoded: Decoded, stream: Int = GanglionProfile.eeg) -> [SampleBlock] {
        decoded.items.compactMap { item in
            if case .samples(let block) = item, block.stream == stream { block } else { nil }
        }
    }

    private static let zero = [UInt8](repeating: 0, count: GanglionService.packetLength)

    @Test(
        "of firmware 2 sends differences whose sign is the lowest bit",
        arguments: [
            (
                18, "00 00 00 00 20 00 28 00 04 80 00 bc 00 07 00 28 c0 0a",
                [0, 2, 10, 4, 131_074, 245_760, 114_698, 49_162] as [Int32]
            ),
            (
                18, "ff ff 7f ff bf ff e7 ff f5 00 01 4f 8e 30 00 1f f0 01",
                [-3, -5, -7, -11, -262_139, -198_429, -262_137, -4_095]
            ),
            (
                19, "00 00 00 00 08 00 05 00 00 48 00 09 f0 01 b0 00 30 00 08",
                [0, 2, 10, 4, 262_148, 507_910, 393_222, 8]
            ),
            (
                19, "ff ff bf ff ef ff fc ff ff 58 00 0b 3e 38 e0 00 3f f0 01",
                [-3, -5, -7, -11, -262_139, -198_429, -262_137, -4_095]
            ),
        ])
    func differences(width: Int, fields: String, expected: [Int32]) {
        var decoder = Self.decoder("2.0.1")
        let packet = [width == 18 ? 1 : 101] + Self.bytes(fields) + (width == 18 ? [0] : [])
        let decoded = Self.decode([Self.zero, packet], with: &decoder)
        let blocks = Self.blocks(decoded)
        #expect(blocks.map(\.counter) == [0, 1])
        #expect(blocks.map(\.instantCount) == [1, 2])
        // Each sample is the one before, less the field.
        let first = expected.prefix(4).map { -$0 }
        let second = zip(first, expected.suffix(4)).map { $0 - $1 }
        #expect(blocks.last.map { Array(decoded.values[$0.values]) } == first + second)
    }

    @Test("of firmware 2 begins a cycle with a raw sample of 24 bits")
    func raw() {
        var decoder = Self.decoder("2.0.1")
        let packet = Self.bytes("00 7f ff ff 80 00 00 ff ff ff 00 00 01 aa bb cc dd ee ff 11")
        #expect(Self.decode([packet], with: &decoder).values == [8_388_607, -8_388_608, -1, 1])
    }

    @Test("of firmware 2 gives nothing between a lost packet and the next raw sample, but accelerations")
    func lostPacket() {
        var decoder = Self.decoder("2.0.1")
        let packets = [0, 1, 2, 4, 5, 11].map { [UInt8($0)] + Self.zero.dropFirst() }
        let decoded = Self.decode(packets, with: &decoder)
        #expect(Self.blocks(decoded).map(\.counter) == [0, 1, 3])
        #expect(decoded.items.filter { $0 == .discarded(byteCount: 20) }.count == 3)
        let accelerations = Self.blocks(decoded, stream: GanglionProfile.accelerometer)
        #expect(accelerations.map(\.counter) == [0, 0, 1])
        #expect(accelerations.map(\.firstChannel) == [0, 1, 0])
        #expect(Self.blocks(Self.decode([Self.zero, packets[1]], with: &decoder)).map(\.counter) == [0, 1])
    }

    @Test("of firmware 2 is not disturbed by a packet that comes twice")
    func repeated() {
        var decoder = Self.decoder("2.0.1")
        let packets = [0, 1, 1, 2].map { [UInt8($0)] + Self.zero.dropFirst() }
        #expect(Self.blocks(Self.decode(packets, with: &decoder)).map(\.counter) == [0, 1, 3])
    }

    @Test(
        "of firmware 3 sends the highest bits of each sample (synthetic)",
        arguments: [
            (18, 6, 18), (19, 5, 19),
        ])
    func truncated(width: Int, shift: Int32, byteCount: Int) {
        let samples: [Int32] = [8_388_607, -8_388_608, -1, 1, 64, -65, 1_000_000, -1_000_000]
        let fields = samples.map { GanglionField.field(ofSample: $0, width: width) }
        #expect(fields.map { $0 & 1 } == [0, 1, 1, 0, 0, 1, 0, 1])
        let packed = GanglionField.packed(fields, width: width)
        #expect(packed.count == byteCount)
        var decoder = Self.decoder("3.0.2")
        let packet = [width == 18 ? 7 : 107] + packed + (width == 18 ? [0] : [])
        let decoded = Self.decode([packet], with: &decoder)
        #expect(Self.blocks(decoded).map(\.counter) == [14])
        // The lowest bit that was kept is the sign's, and is cleared.
        #expect(decoded.values.suffix(8).elementsEqual(samples.map { ($0 >> (shift + 1)) << (shift + 1) }))
    }

    @Test("of firmware 3 never sends the 201st sample of a cycle, which is not a lost packet")
    func unsent() {
        let sample = DecodedItem.unsent(stream: GanglionProfile.eeg, counter: 200, count: 1)
        for lost in [nil, 99, 50] as [UInt8?] {
            var decoder = Self.decoder("3.0.2")
            let packets = (Array(UInt8(0)...99) + [0, 1]).filter { $0 != lost }.map { [$0] + Self.zero.dropFirst() }
            let decoded = Self.decode(packets, with: &decoder)
            #expect(decoded.items.filter { $0 == sample }.count == 1, "\(String(describing: lost)) lost")
            #expect(Self.blocks(decoded).last?.counter == 2)
        }
        var decoder = Self.decoder("2.0.1")
        let packets = (Array(UInt8(0)...100) + [0, 1]).map { [$0] + Self.zero.dropFirst() }
        #expect(!Self.decode(packets, with: &decoder).items.contains(sample))
    }

    @Test("sends one axis of the acceleration in three packets of ten; in the others it repeats a stale one")
    func acceleration() {
        for (revision, identifiers) in [("2.0.1", 1...100), ("3.0.2", 0...99)] {
            var decoder = Self.decoder(revision)
            let packets = identifiers.map { [UInt8($0)] + Self.zero.dropFirst(2) + [UInt8(bitPattern: Int8($0 - 60))] }
            let decoded = Self.decode((revision == "2.0.1" ? [Self.zero] : []) + packets, with: &decoder)
            let blocks = Self.blocks(decoded, stream: GanglionProfile.accelerometer)
            #expect(blocks.map(\.counter) == (0..<10).flatMap { [UInt32](repeating: $0, count: 3) })
            #expect(blocks.prefix(4).map(\.firstChannel) == [0, 1, 2, 0])
            #expect(blocks.prefix(4).map { decoded.values[$0.values.lowerBound] } == [-59, -58, -57, -49])
        }
    }

    @Test("tells impedances and text; a text may come in pieces")
    func text() {
        var decoder = Self.decoder("3.0.2")
        let texts: [(UInt8, String)] = [
            (203, "1234Z"), (205, "7Z"), (201, "12"), (206, "Acceler"), (207, "ometer on"),
        ]
        let packets = texts.map { [$0.0] + Array($0.1.utf8) }
        #expect(
            Self.decode(packets, with: &decoder).items == [
                .impedance(electrode: 2, kilohms: 1234), .impedance(electrode: 4, kilohms: 7), .discarded(byteCount: 3),
                .message("Accelerometer on"),
            ])
    }

    @Test("tells every impedance; one without digits is 0 or less")
    func impedances() {
        var decoder = Self.decoder("3.0.2")
        let packets = [(201, "100Z"), (201, "100Z"), (202, "0Z"), (203, "Z"), (204, "123456789Z"), (205, "12")]
        #expect(
            Self.decode(packets.map { [UInt8($0.0)] + Array($0.1.utf8) }, with: &decoder).items == [
                .impedance(electrode: 0, kilohms: 100), .impedance(electrode: 0, kilohms: 100),
                .impedance(electrode: 1, kilohms: 0), .impedance(electrode: 2, kilohms: 0), .discarded(byteCount: 11),
                .discarded(byteCount: 3),
            ])
    }

    @Test("believes no packet that is longer than the headset's are, whatever it begins with", arguments: [203, 206, 207])
    func tooLong(identifier: UInt8) {
        var decoder = Self.decoder("3.0.2")
        let packet = [identifier] + Array("Z".utf8) + [UInt8](repeating: 0x5A, count: GanglionService.packetLength - 1)
        #expect(Self.decode([packet], with: &decoder).items == [.discarded(byteCount: packet.count)])
    }

    @Test("begins a cycle anew after impedances: no difference, and no sample that was not sent, reaches over them")
    func samplesAfterImpedances() {
        let impedance = [201] + Array("5Z".utf8)
        var newer = Self.decoder("3.0.2")
        func newerPacket(_ number: UInt8) -> [UInt8] { [number] + [UInt8](repeating: 0, count: 19) }
        let truncated = Self.decode([newerPacket(80), impedance, newerPacket(0)], with: &newer).items
        #expect(!truncated.contains { if case .unsent = $0 { true } else { false } }, "\(truncated)")
        #expect(
            Self.decode([newerPacket(80), newerPacket(0)], with: &newer).items.contains {
                if case .unsent = $0 { true } else { false }
            })
        var older = Self.decoder("2.0.1")
        let differences = Self.decode([newerPacket(0), impedance, newerPacket(1)], with: &older).items
        #expect(differences.last == .discarded(byteCount: 20))
    }

    @Test("keeps at most 1,024 characters of a text that never ends")
    func endlessText() {
        var decoder = Self.decoder("3.0.2")
        _ = Self.decode((0..<1000).map { _ in [206] + [UInt8](repeating: 65, count: 19) }, with: &decoder)
        let decoded = Self.decode([[207, 66]], with: &decoder)
        #expect(decoded.items == [.message(String(repeating: "A", count: 1024))])
    }

    @Test("is idle on each new link, is told by its service or its name, and is stopped before it is configured")
    func profile() {
        let profile = GanglionProfile()
        var decoder = profile.makeDecoder()
        var decoded = Decoded()
        decoder.decode(Array("3.0.2".utf8), from: .softwareRevisionString, into: &decoded)
        #expect(decoded.items == [.status(HeadsetStatus(condition: .idle))])
        let filter = profile.recognition.scanFilter
        #expect(filter.matches(Advertisement(localName: "Ganglion-a001")))
        #expect(filter.matches(Advertisement(serviceUUIDs: [GanglionService.service])))
        #expect(GanglionService.data.description == "2d30c082-f39f-4ce6-923f-3484ea480596")
        let written = profile.commands(for: .initialise, status: HeadsetStatus(condition: .idle)).compactMap { step in
            if case .write(let bytes, GanglionService.command, .withResponse) = step { bytes } else { nil }
        }
        #expect(written == [Array("s".utf8), Array("n".utf8)])
        #expect(abs(GanglionProfile.microvoltsPerCount - 0.00186995) < 1e-8)
        #expect(GanglionProfile(isAccelerometerOn: false).streams.map(\.name) == ["eeg"])
    }

    @Test("is not decoded before its version is known: the same bytes mean other samples in each firmware")
    func unknownFirmware() {
        var decoder = GanglionDecoder()
        #expect(Self.decode([Self.zero], with: &decoder).items == [.discarded(byteCount: 20)])
        let profile = GanglionProfile()
        #expect(profile.commands(for: .initialise, status: nil).first == .read(.softwareRevisionString))
        #expect(profile.commands(for: .initialise, status: HeadsetStatus(condition: .idle)).count == 4)
    }

    @Test(
        "is not decoded where its version cannot be read, whatever was read before",
        arguments: [[], [0], Array("v".utf8), [0xFF, 0xFE], Array("4.0.0".utf8)])
    func unreadableFirmware(_ revision: [UInt8]) {
        var decoder = Self.decoder("3.0.2")
        var decoded = Decoded()
        decoder.decode(revision, from: .softwareRevisionString, into: &decoded)
        #expect(decoded.items == [.discarded(byteCount: revision.count)], "no status: the question counts as unanswered")
        #expect(Self.decode([Self.zero], with: &decoder).items == [.discarded(byteCount: 20)])
    }

    @Test("tells its version by the first digit", arguments: [("1.0", 2), ("2.0.1", 2), ("v3.0.2", 3)] as [(String, UInt8)])
    func firmware(revision: String, version: UInt8) {
        #expect(GanglionFirmware(softwareRevision: revision.utf8)?.rawValue == version)
    }

    @Test("with the accelerometer off has no packet 99; what a start may send so is dropped")
    func beforeFirst() {
        var decoder = GanglionDecoder(firmware: .version3, isAccelerometerOn: false)
        let decoded = Self.decode([99, 100, 255].map { [$0] + Self.zero.dropFirst() }, with: &decoder)
        #expect(Self.blocks(decoded).map(\.counter) == [0])
        #expect(decoded.items.filter { $0 == .discarded(byteCount: 20) }.count == 2)
    }

    @Test("with the accelerometer off gives no acceleration, also where the headset sends one because it has not heard of it")
    func unheardCommand() {
        for firmware in [GanglionFirmware.version2, .version3] {
            var decoder = GanglionDecoder(firmware: firmware, isAccelerometerOn: false)
            let decoded = Self.decode([0, 1, 2, 3].map { [$0] + Self.zero.dropFirst() }, with: &decoder)
            #expect(!Self.blocks(decoded).isEmpty)
            #expect(Self.blocks(decoded, stream: GanglionProfile.accelerometer).isEmpty)
        }
    }

    @Test("of firmware 2 has samples of 24 bits, however far its differences go")
    func endlessDifferences() {
        var decoder = GanglionDecoder(firmware: .version2)
        let fields = GanglionField.packed(Array(repeating: 0x1_FFFE, count: 8), width: 18)
        let packets = (1...100).map { [UInt8($0)] + fields + [0] }
        let decoded = Self.decode([[0] + Self.zero.dropFirst()] + packets, with: &decoder)
        let values = Self.blocks(decoded).flatMap { decoded.values[$0.values] }
        #expect(values.count == 201 * 4)
        #expect(values.allSatisfy { (-0x80_0000...0x7F_FFFF).contains($0) })
        // 200 differences of 131,070 lead down to -26,214,000, which is this number modulo 2^24.
        #expect(values.last == Int32(7_340_432))
    }
}
