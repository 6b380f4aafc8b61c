import Bluetooth
import Foundation
import HeadsetDescriptors
import Headsets
import ShippedHeadsets
import Simulation
import Testing
import YAMLReading

/// The shipped descriptor of a file.
func shipped(_ file: String) throws -> HeadsetDescriptor {
    let shipped = try #require(ShippedDescriptor.all.first { $0.file == file })
    return try DescriptorReader.read(shipped.text)
}

/// Decodes pieces of one characteristic.
func decode(_ pieces: [[UInt8]], from characteristic: BluetoothUUID, _ profile: any HeadsetProfile) -> Decoded {
    var decoder = profile.makeDecoder()
    var decoded = Decoded()
    for piece in pieces { decoder.decode(piece, from: characteristic, into: &decoded) }
    return decoded
}

/// The blocks of samples among the items.
func blocks(_ decoded: Decoded) -> [SampleBlock] {
    decoded.items.compactMap { if case .samples(let block) = $0 { block } else { nil } }
}

@Suite("Shipped descriptors")
struct ShippedDescriptorTests {
    @Test("are all files of Deploy/headsets")
    func complete() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Deploy/headsets")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".yaml") }
        #expect(files.sorted() == ShippedDescriptor.all.map(\.file))
    }

    @Test(
        "can be read, are named like their files, and describe streams that can be stored",
        arguments: ShippedDescriptor.all.map(\.file).filter { $0 != "cleio-template.yaml" })
    func readable(file: String) throws {
        let profile = DescribedProfile(try shipped(file))
        #expect(profile.model + ".yaml" == file)
        #expect(!profile.streams.isEmpty)
        for stream in profile.streams {
            #expect((1...StreamDescription.channelsPerBank).contains(stream.channels.count))
            for channel in stream.channels { #expect(channel.rawMinimum < channel.rawMaximum && channel.scale != 0) }
        }
        #expect(profile.timing.silenceLimit > profile.timing.packetPeriod)
        #expect(!profile.recognition.scanFilter.isEmpty)
        #expect(!profile.requiredCharacteristics.isEmpty)
    }

    @Test("of CLEIO asks for each fact that only its owner has, and says nothing else")
    func template() throws {
        let text = try #require(ShippedDescriptor.all.first { $0.file == "cleio-template.yaml" }).text
        let error = #expect(throws: YAMLDocumentError.self) { try DescriptorReader.read(text) }
        guard case .invalid(let problems)? = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(problems.filter { !$0.isOpenFact } == [])
        #expect(problems.count == text.components(separatedBy: "!fill-in \"").count - 1)
        #expect(problems.allSatisfy { $0.line != nil && $0.column != nil && !$0.hint.isEmpty })
        let keys = problems.map(\.key)
        for key in ["recognise.services[0]", "streams[0].scale", "sources[0].packets[0].samples.type", "epoch"] {
            #expect(keys.contains(key))
        }
    }

    @Test("of CLEIO is a descriptor once each question has an answer")
    func filledTemplate() throws {
        var text = try #require(ShippedDescriptor.all.first { $0.file == "cleio-template.yaml" }).text
        let answers = [
            "FE8D", "FE8E", "CLEIO", "FE8F", "FE90", "serial_number", "connection", "none", "40", "250", "256", "10",
            "[Fp1, Fp2]", "4.5e6 / 24 / (2^23 - 1)", "61", "0", "u8", "1", "i24be", "10", "sample", "01 02", "03",
        ]
        for answer in answers {
            let range = try #require(text.range(of: "!fill-in \"[^\"]*\"", options: .regularExpression))
            text.replaceSubrange(range, with: answer)
        }
        #expect(!text.contains("!fill-in \""))
        let profile = DescribedProfile(try DescriptorReader.read(text))
        #expect(profile.streams[0].channels.map(\.name) == ["Fp1", "Fp2"])
        #expect(
            profile.commands(for: .start, status: nil)
                == [.write([1, 2], to: BluetoothUUID(UInt16(0xFE90)), type: .withResponse)])
        let decoded = decode([[7] + [UInt8](repeating: 0xFF, count: 60)], from: BluetoothUUID(UInt16(0xFE8F)), profile)
        #expect(blocks(decoded).map(\.counter) == [7])
        #expect(decoded.values == [Int32](repeating: -1, count: 20))
    }
}

@Suite("The described Hermes")
struct DescribedHermesTests {
    private static let characteristics = [
        HermesService.eegData, HermesService.motionData, HermesService.eventData, HermesService.configuration, .serialPort,
    ]

    @Test("says the same as the built-in one about everything but its name")
    func profile() throws {
        let (described, builtIn) = (DescribedProfile(try shipped("hermes-described.yaml")), HermesProfile())
        #expect(described.streams == builtIn.streams)
        #expect(described.recognition == builtIn.recognition)
        #expect(described.services == builtIn.services)
        #expect(described.controlCharacteristics == builtIn.controlCharacteristics)
        #expect(described.dataCharacteristics == builtIn.dataCharacteristics)
        #expect(described.vitalCharacteristics == builtIn.vitalCharacteristics)
        #expect(described.timing == builtIn.timing)
        #expect(described.epochRule == builtIn.epochRule)
        #expect(described.memory == builtIn.memory)
        #expect(described.identityCharacteristic == builtIn.identityCharacteristic)
        #expect(described.sendsIdentityInStatus == builtIn.sendsIdentityInStatus)
        for purpose in CommandPurpose.allCases {
            #expect(described.commands(for: purpose, status: nil) == builtIn.commands(for: purpose, status: nil))
        }
    }

    /// Both decoders' answers to the same bytes, one after the other.
    private static func compare(_ pieces: [(BluetoothUUID, [UInt8])], with described: DescribedProfile) -> Int? {
        var (first, second): (any HeadsetDecoder, any HeadsetDecoder) = (described.makeDecoder(), HermesProfile().makeDecoder())
        var (left, right) = (Decoded(), Decoded())
        for (index, piece) in pieces.enumerated() {
            left.removeAll()
            right.removeAll()
            first.decode(piece.1, from: piece.0, into: &left)
            second.decode(piece.1, from: piece.0, into: &right)
            if left.items != right.items || left.values != right.values { return index }
        }
        return nil
    }

    @Test("decodes packets made by hand to the same items")
    func golden() throws {
        let described = DescribedProfile(try shipped("hermes-described.yaml"))
        var pieces: [(BluetoothUUID, [UInt8])] = []
        for counter in [0, 1, 127, 128, 255] {
            pieces.append((HermesService.eegData, [UInt8(counter)] + (0..<240).map { UInt8($0 * 37 & 0xFF) }))
        }
        for event in 0...5 {
            for button in 0...3 { pieces.append((HermesService.eventData, [UInt8(event), UInt8(button), 57])) }
        }
        pieces.append((HermesService.motionData, (0..<18).map { UInt8($0 * 29 & 0xFF) }))
        for value: [UInt8] in [[3, 2, 0, 0], [], [3, 2], [3, 1, 0, 0], [3, 2, 0, 0, 0]] {
            pieces.append((HermesService.configuration, value))
        }
        #expect(Self.compare(pieces, with: described) == nil)
    }

    @Test("decodes 20,000 random packets to the same items, whatever their length")
    func random() throws {
        let described = DescribedProfile(try shipped("hermes-described.yaml"))
        var generator = SeededGenerator(seed: 7)
        let lengths = [241, 18, 3, 4]
        let pieces: [(BluetoothUUID, [UInt8])] = (0..<20_000).map { _ in
            let index = Int.random(in: 0..<Self.characteristics.count, using: &generator)
            let isRight = index < lengths.count && generator.next() % 8 != 0
            let length = isRight ? lengths[index] : Int.random(in: 0...260, using: &generator)
            var bytes = generator.bytes(count: length)
            if isRight, index < 3, generator.next() % 4 != 0 { bytes[0] &= index == 2 ? 7 : 0x7F }
            return (Self.characteristics[index], bytes)
        }
        #expect(Self.compare(pieces, with: described) == nil)
    }

    @Test("is found to differ where one fact of it is wrong")
    func planted() throws {
        var wrong = try shipped("hermes-described.yaml")
        let source = try #require(wrong.sources.firstIndex { $0.characteristic == HermesService.eegData })
        wrong.sources[source].packets[0].samples[0].first.number.isBigEndian = false
        let packet: [UInt8] = [1] + (0..<240).map { UInt8($0) }
        #expect(Self.compare([(HermesService.eegData, packet)], with: DescribedProfile(wrong)) == 0)
    }
}
