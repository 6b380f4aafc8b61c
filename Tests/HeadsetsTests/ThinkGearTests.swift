import Bluetooth
import Headsets
import Testing

/// Decodes the pieces of one link's byte stream.
func decodeThinkGear(_ pieces: [UInt8]...) -> Decoded {
    var decoder = ThinkGearDecoder()
    var decoded = Decoded()
    for piece in pieces { decoder.decode(piece, from: .serialPort, into: &decoded) }
    return decoded
}

/// The items of one instant of a ThinkGear stream.
private func samples(_ stream: Int, _ values: Range<Int>, channels: Int, firstChannel: Int = 0) -> DecodedItem {
    .samples(
        SampleBlock(
            stream: stream, counter: nil, firstChannel: firstChannel, channelCount: channels,
            instantCount: values.count / channels, values: values))
}

/// What a set of powers says of the raw samples.
private let mark = DecodedItem.periodMark(stream: ThinkGearProfile.eeg, sampleCount: 512, blockLength: 1)

extension DecodedItem {
    fileprivate var isAnnotation: Bool { if case .event = self { true } else { false } }

    fileprivate var isLoss: Bool {
        switch self {
        case .damaged, .discarded: true
        default: false
        }
    }

    fileprivate func isSamples(of stream: Int) -> Bool {
        if case .samples(let block) = self { block.stream == stream } else { false }
    }
}

@Suite("ThinkGear")
struct ThinkGearTests {
    /// The example of NeuroSky's protocol document: signal quality 0, eight powers, attention 13, meditation 61.
    static let documented: [UInt8] = [
        0xAA, 0xAA, 0x20, 0x02, 0x00, 0x83, 0x18, 0x00, 0x00, 0x94, 0x00, 0x00, 0x42, 0x00, 0x00, 0x0B, 0x00, 0x00, 0x64,
        0x00, 0x00, 0x4D, 0x00, 0x00, 0x3D, 0x00, 0x00, 0x07, 0x00, 0x00, 0x05, 0x04, 0x0D, 0x05, 0x3D, 0x34,
    ]

    @Test("decodes the example of NeuroSky's document")
    func documentedExample() {
        let decoded = decodeThinkGear(Self.documented)
        #expect(decoded.items == [mark, samples(1, 0..<8, channels: 8), samples(2, 8..<11, channels: 3)])
        #expect(decoded.values == [0x94, 0x42, 0x0B, 0x64, 0x4D, 0x3D, 7, 5, 0, 13, 61])
    }

    @Test("decodes a raw frame: AA AA 04 80 02 0018 65 is 24")
    func rawExample() {
        let bytes: [UInt8] = [0xAA, 0xAA, 0x04, 0x80, 0x02, 0x00, 0x18, 0x65]
        #expect(decodeThinkGear(bytes).values == [24])
        #expect(ThinkGearFrame.raw(24).encoded() == bytes)
    }

    @Test("encodes the frames that it decodes")
    func encoding() {
        let frame = ThinkGearFrame.power(
            poorSignal: 0, power: [0x94, 0x42, 0x0B, 0x64, 0x4D, 0x3D, 7, 5], attention: 13, meditation: 61)
        #expect(frame.encoded() == Self.documented)
    }

    @Test(
        "keeps the sign of raw samples",
        arguments: [
            ([0xFF, 0xFF], -1), ([0x00, 0xFF], 255), ([0x01, 0x00], 256), ([0x80, 0x01], -32767), ([0x80, 0x00], -32768),
            ([0x7F, 0xFF], 32767),
        ] as [([UInt8], Int32)])
    func rawValues(bytes: [UInt8], value: Int32) {
        #expect(decodeThinkGear(ThinkGearFrame(payload: [0x80, 2] + bytes).encoded()).values == [value])
    }

    @Test("makes one block of raw samples that come together")
    func coalescing() {
        let raw = (0..<5).flatMap { ThinkGearFrame.raw(Int16($0)).encoded() }
        let decoded = decodeThinkGear(raw + Self.documented + raw)
        #expect(
            decoded.items == [
                samples(0, 0..<5, channels: 1), mark, samples(1, 5..<13, channels: 8), samples(2, 13..<16, channels: 3),
                samples(0, 16..<21, channels: 1),
            ])
    }

    @Test("does not mind where a stream is cut")
    func cuts() {
        let stream = Self.documented + ThinkGearFrame.raw(-2).encoded() + ThinkGearFrame.blink(strength: 9).encoded()
        let whole = decodeThinkGear(stream)
        for cut in 0...stream.count {
            let decoded = decodeThinkGear(Array(stream[..<cut]), Array(stream[cut...]))
            #expect(decoded.values == whole.values)
            #expect(decoded.items.filter(\.isAnnotation) == whole.items.filter(\.isAnnotation))
            #expect(decoded.items.filter(\.isLoss).isEmpty)
        }
        let sample = HeadsetEvent.Sample(stream: ThinkGearProfile.eeg)
        #expect(whole.items.last == .event(HeadsetEvent("Blink (strength 9)", of: sample, code: 9)))
    }

    @Test(
        "skips rows that it does not know and reads those behind them",
        arguments: [
            [0x01, 0x7F], [0x03, 60], [0x06, 1], [0x07, 0], [0x86, 2, 1, 2], [0x81, 32] + [UInt8](repeating: 7, count: 32),
            [0xBA, 0x80], [0xBC, 0x02], [0x55, 0x80, 2, 1, 1], [0x55, 0x55, 0x02, 9], [0x55, 0xBA, 1, 0x02], [0xC3, 0],
            [0x80, 3, 1, 2, 3], [0x83, 2, 1, 2],
        ] as [[UInt8]])
    func otherRows(row: [UInt8]) {
        let frame = ThinkGearFrame(payload: row + [0x80, 2, 0x12, 0x34])
        #expect(decodeThinkGear(frame.encoded()).values == [0x1234])
    }

    @Test(
        "takes a frame whose rows do not fill it for damage",
        arguments: [[0x80, 2, 0, 1, 0x80, 200, 1], [0x55, 0x55], [0x80], [0xAA, 1, 5], [0x02]] as [[UInt8]])
    func lyingRow(payload: [UInt8]) {
        let raw = ThinkGearFrame.raw(3).encoded()
        let decoded = decodeThinkGear(raw + ThinkGearFrame(payload: payload).encoded() + raw)
        #expect(decoded.values == [3, 3])
        #expect(decoded.items.filter(\.isLoss).count == 1)
    }

    @Test("is not fooled by a damaged length whose checksum happens to match")
    func swallowingLength() {
        let good = ThinkGearFrame.raw(1).encoded()
        var fooledCount = 0
        for delta in UInt32(0)...255 {
            // With a length of 36 the raw frame swallows most of the power frame; the byte behind is taken for its checksum.
            var stream = ThinkGearFrame.raw(24).encoded()
            stream[2] = 36
            stream += ThinkGearFrame.power(poorSignal: 0, power: [delta], attention: 1, meditation: 2).encoded()
            var sum: UInt8 = 0
            for byte in stream[3..<39] { sum &+= byte }
            guard stream[39] == ~sum else { continue }
            fooledCount += 1
            let decoded = decodeThinkGear(good + stream + good)
            #expect(decoded.values == [1, Int32(delta), 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1])
            #expect(decoded.items.filter(\.isLoss) == [.damaged(stream: 0, count: 1)])
        }
        #expect(fooledCount == 1)
    }

    @Test("tells signal quality alone, as old modules send it")
    func partialEsense() {
        let poorOnly = decodeThinkGear(ThinkGearFrame(payload: [0x02, 200]).encoded())
        #expect(poorOnly.items == [samples(2, 0..<1, channels: 1)])
        let meditationOnly = decodeThinkGear(ThinkGearFrame(payload: [0x05, 40]).encoded())
        #expect(meditationOnly.items == [samples(2, 0..<1, channels: 1, firstChannel: 2)])
        #expect(decodeThinkGear(ThinkGearFrame(payload: [0x05, 40, 0x02, 1]).encoded()).values == [1, 0, 40])
    }

    @Test("marks each 512 raw samples by the powers, whole or as floating-point numbers, and by nothing else")
    func marks() {
        let raw = ThinkGearFrame.raw(1).encoded()
        let floating = ThinkGearFrame(payload: [0x81, 32] + [UInt8](repeating: 7, count: 32)).encoded()
        let decoded = decodeThinkGear(raw + floating + raw + ThinkGearFrame(payload: [0x02, 200]).encoded() + raw)
        #expect(
            decoded.items == [
                samples(0, 0..<1, channels: 1), mark, samples(0, 1..<2, channels: 1), samples(2, 2..<3, channels: 1),
                samples(0, 3..<4, channels: 1),
            ])
    }

    @Test("refuses bytes of other characteristics")
    func otherCharacteristic() {
        var decoder = ThinkGearDecoder()
        var decoded = Decoded()
        decoder.decode(Self.documented, from: .batteryLevel, into: &decoded)
        #expect(decoded.items == [.discarded(byteCount: 36)])
    }
}

@Suite("ThinkGear damage")
struct ThinkGearDamageTests {
    private static func raw(_ values: Range<Int16>) -> [UInt8] {
        values.flatMap { ThinkGearFrame.raw($0).encoded() }
    }

    @Test("loses only the damaged frame, whichever of its bits flips", arguments: 0..<64)
    func oneFlippedBit(bit: Int) {
        var stream = Self.raw(0..<40)
        stream[10 * 8 + bit / 8] ^= 1 << (bit % 8)
        let decoded = decodeThinkGear(stream)
        #expect(decoded.values == Array(0..<10) + Array(11..<40))
        #expect(
            decoded.items == [
                samples(0, 0..<10, channels: 1), .damaged(stream: 0, count: 1), samples(0, 10..<39, channels: 1),
            ])
    }

    /// Four sets of powers, each behind 512 raw samples.
    private static let fourSets = (0..<4).flatMap { _ in raw(0..<512) + ThinkGearTests.documented }
    private static let setLength = 512 * 8 + 36

    @Test("tells a damaged power frame from damaged raw frames, the first one by the next", arguments: 0..<36, 0..<4)
    func powerFrame(offset: Int, set: Int) {
        var stream = Self.fourSets + Self.raw(0..<5)
        stream[set * Self.setLength + 512 * 8 + offset] ^= 0x10
        let decoded = decodeThinkGear(stream)
        let losses = decoded.items.indices.filter { decoded.items[$0].isLoss }
        #expect(losses.map { decoded.items[$0] } == [.damaged(stream: 1, count: 1), .damaged(stream: 2, count: 1)])
        #expect(decoded.items.filter { $0 == mark }.count == 3)
        // Among the sets it stands where it was.
        let before = decoded.items[..<(losses.first ?? 0)].filter { $0.isSamples(of: 1) }.count
        #expect(before == set)
    }

    @Test("takes damage where no set can have been for none that was lost, whatever its length", arguments: 1..<80)
    func suspected(count: Int) {
        // Amid the first second, and not 512 samples before a set.
        var stream = Self.raw(0..<600) + ThinkGearTests.documented + Self.raw(0..<512) + ThinkGearTests.documented
        for offset in 30 * 8..<(30 * 8 + count) { stream[offset] = 0x11 }
        let lost = decodeThinkGear(stream).items.filter(\.isLoss)
        #expect(lost.allSatisfy { if case .damaged(stream: 0, _) = $0 { true } else { false } })
    }

    @Test("takes what is left of raw frames for no set of powers, however many bytes never came", arguments: 0..<64)
    func remains(count: Int) {
        // Of some frames amid the second set so many bytes arrive, the last one of which is cut.
        var stream = Self.fourSets
        let begin = Self.setLength + 100 * 8
        stream.removeSubrange(begin + 3..<begin + 3 + count)
        let lost = decodeThinkGear(stream).items.filter(\.isLoss)
        #expect(!lost.contains { if case .damaged(stream: 1, _) = $0 { true } else { false } })
        #expect(!lost.contains { if case .damaged(stream: 2, _) = $0 { true } else { false } })
    }

    @Test("takes a module that began anew for no loss, and three periods without damage for two", arguments: [300, 511, 1024])
    func beganAnew(between: Int) {
        let set = ThinkGearTests.documented
        let stream = Self.raw(0..<512) + set + Self.raw(0..<Int16(between)) + Self.raw(0..<512) + set
        let lost = decodeThinkGear(stream).items.filter(\.isLoss)
        #expect(lost.isEmpty == (between != 1024) && (lost.isEmpty || lost.contains(.damaged(stream: 1, count: 2))))
    }

    @Test("counts damaged sets of a module that sends no raw samples by their bytes")
    func withoutRaw() {
        var stream = ThinkGearTests.documented + ThinkGearTests.documented + ThinkGearTests.documented
        stream[36 + 10] ^= 0x10
        #expect(
            decodeThinkGear(stream).items.filter(\.isLoss) == [.damaged(stream: 1, count: 1), .damaged(stream: 2, count: 1)])
    }

    @Test("counts sets that were lost with all that lay around them by the raw samples", arguments: 1...3)
    func lostSets(count: Int) {
        var stream = (0..<6).flatMap { _ in Self.raw(0..<512) + ThinkGearTests.documented }
        for set in 2..<(2 + count) {
            // Damaged from before the powers until behind them.
            for offset in (Self.setLength * (set + 1) - 200)..<(Self.setLength * (set + 1) + 160) { stream[offset] = 0x11 }
        }
        var lost: [Int: Int] = [:]
        for case .damaged(let stream, let number) in decodeThinkGear(stream).items { lost[stream, default: 0] += number }
        #expect(lost[1] == count && lost[2] == count)
    }

    @Test(
        "counts the frames in damaged bytes",
        arguments: [(0, 0), (1, 0), (7, 0), (8, 0), (0, 1), (3, 1), (512, 1), (1024, 2), (5120, 10)])
    func lostFrames(raw: Int, power: Int) {
        let lost = ThinkGearDecoder.lostFrames(inBytes: raw * 8 + power * 36)
        #expect(lost.raw == raw)
        #expect(lost.power == power)
    }

    @Test("counts no more frames in bytes of something else than seem to begin there: what is lost besides, the marks show")
    func foreignBytes() {
        func damage(_ bytes: [UInt8]) -> [Int] {
            decodeThinkGear(Array(Self.raw(0..<20)) + bytes + Array(Self.raw(20..<40))).items.compactMap { item in
                if case .damaged(ThinkGearProfile.eeg, let count) = item { count } else { nil }
            }
        }
        #expect(damage([UInt8](repeating: 0, count: 512)) == [2])
        #expect(damage([UInt8](repeating: 0x5A, count: 9)) == [2])
        // Frames of which a byte each is wrong, but none of their first ones.
        var frames = Array(Self.raw(100..<110))
        for frame in 0..<10 { frames[frame * 8 + 5] ^= 0x40 }
        #expect(damage(frames) == [10])
        // A first byte is wrong in two of them as well.
        frames[0] ^= 1
        frames[32] ^= 1
        #expect(damage(frames) == [10])
    }

    @Test("counts a frame that lost bytes as one", arguments: 1..<8)
    func missingBytes(count: Int) {
        #expect(ThinkGearDecoder.lostFrames(inBytes: count) == (1, 0))
    }

    @Test("takes a partial frame at the start of a link for no damage")
    func partialStart() {
        let decoded = decodeThinkGear(Array(Self.raw(0..<20).dropFirst(3)))
        #expect(decoded.items == [.discarded(byteCount: 5), samples(0, 0..<19, channels: 1)])
    }

    @Test("takes sync bytes between frames for idle time")
    func idleSyncs() {
        let idle = [UInt8](repeating: 0xAA, count: 500)
        let decoded = decodeThinkGear(idle + Self.raw(0..<2) + idle + Self.raw(2..<4))
        #expect(decoded.items == [samples(0, 0..<4, channels: 1)])
    }

    @Test("keeps no more than one frame of garbage")
    func garbage() {
        var parser = ThinkGearParser()
        for _ in 0..<100 { parser.append([UInt8](repeating: 0x00, count: 1000)) }
        parser.append(ThinkGearFrame.raw(5).encoded())
        let frame = parser.next()
        #expect(frame?.isFirst == true)
        #expect(frame?.skippedByteCount == 100_000)
        #expect(parser.frameCount == 1)
    }
}
