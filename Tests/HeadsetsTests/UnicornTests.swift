import Bluetooth
import Headsets
import Testing

/// The frames of the Unicorn Hybrid Black. No recording is public: they are made here by the places that the readers in
/// circulation agree on.
@Suite("Unicorn")
struct UnicornTests {
    /// Battery 10 of 15; EEG 1, -1, highest, lowest, 0, 0, 0, 256; accelerations 4096, -1, 0; angular velocities 328, -328, 2;
    /// frame 0x01020304.
    static let frame: [UInt8] = [
        0xC0, 0x00, 0x0A,
        0x00, 0x00, 0x01, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0x80, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00,
        0x00, 0x10, 0xFF, 0xFF, 0x00, 0x00,
        0x48, 0x01, 0xB8, 0xFE, 0x02, 0x00,
        0x04, 0x03, 0x02, 0x01, 0x0D, 0x0A,
    ]

    private static func decode(_ pieces: [[UInt8]], with decoder: inout UnicornDecoder) -> Decoded {
        var decoded = Decoded()
        for piece in pieces { decoder.decode(piece, from: .serialPort, into: &decoded) }
        return decoded
    }

    private static func blocks(_ decoded: Decoded, stream: Int = UnicornProfile.eeg) -> [SampleBlock] {
        decoded.items.compactMap { item in
            if case .samples(let block) = item, block.stream == stream { block } else { nil }
        }
    }

    private static func frames(_ counters: Range<UInt32>) -> [UInt8] {
        counters.flatMap { UnicornFrame(battery: 15, eeg: [Int32($0)], motion: [], counter: $0).encoded() }
    }

    private static func discarded(_ decoded: Decoded) -> Int {
        decoded.items.reduce(0) { if case .discarded(let count) = $1 { $0 + count } else { $0 } }
    }

    @Test("sends eight channels, motion, battery and a counter in each frame")
    func goldenFrame() {
        var decoder = UnicornDecoder()
        let decoded = Self.decode([Self.frame], with: &decoder)
        #expect(
            decoded.items == [
                .samples(SampleBlock(stream: 0, counter: 0x0102_0304, channelCount: 8, instantCount: 1, values: 0..<8)),
                .samples(SampleBlock(stream: 1, counter: 0x0102_0304, channelCount: 3, instantCount: 1, values: 8..<11)),
                .samples(SampleBlock(stream: 2, counter: 0x0102_0304, channelCount: 3, instantCount: 1, values: 11..<14)),
                .status(HeadsetStatus(condition: .streaming, batteryPercent: 1000.0 / 15)),
            ])
        #expect(
            decoded.values == [
                1, -1, 8_388_607, -8_388_608, 0, 0, 0, 256, 4096, -1, 0, 328, -328, 2,
            ])
        let frame = UnicornFrame(
            battery: 10, eeg: [1, -1, 8_388_607, -8_388_608, 0, 0, 0, 256], motion: [4096, -1, 0, 328, -328, 2],
            counter: 0x0102_0304)
        #expect(frame.encoded() == Self.frame)
        let streams = UnicornProfile().streams
        #expect(abs(streams[0].channels[0].scale - 0.0894070) < 1e-6)
        #expect(streams[1].channels[0].scale * 4096 == 1)
        #expect(abs(streams[2].channels[0].scale * 328 - 10) < 1e-9)
    }

    @Test("is started and stopped by a byte and its checksum")
    func commands() {
        #expect(UnicornCommand.start.bytes == [0x61, 0x7C, 0x87])
        #expect(UnicornCommand.stop.bytes == [0x63, 0x5C, 0xC5])
        let profile = UnicornProfile()
        #expect(!profile.answersStatusQuery)
        #expect(
            profile.commands(for: .start, status: nil)
                == [.write([0x61, 0x7C, 0x87], to: .serialPort, type: .withoutResponse)])
        #expect(profile.recognition.scanFilter.matches(Advertisement(localName: "UN-2019.05.12")))
        #expect(!profile.recognition.scanFilter.matches(Advertisement(localName: "UNO", serviceUUIDs: [.serialPort])))
    }

    @Test("acknowledges a command before the first frame, and behind the last", arguments: 1...50)
    func acknowledgements(pieceLength: Int) {
        var decoder = UnicornDecoder()
        let stream = [0, 0, 0] + Self.frames(0..<20) + [0, 0, 0] + [0, 0, 0] + Self.frames(0..<2)
        let pieces = stride(from: 0, to: stream.count, by: pieceLength).map {
            Array(stream[$0..<min(stream.count, $0 + pieceLength)])
        }
        let decoded = Self.decode(pieces, with: &decoder)
        #expect(Self.blocks(decoded).map(\.counter) == Array(0..<20) + [0, 1])
        #expect(decoded.items.filter { $0 == .message("Command acknowledged") }.count == 3)
        #expect(Self.discarded(decoded) == 0)
    }

    @Test("may lose any bytes of its stream: frames that are whole are found again, and nothing else is believed")
    func resynchronisation() {
        let whole = Self.frames(0..<10)
        for lost in 1...90 {
            var stream = whole
            stream.removeSubrange(100..<(100 + lost))
            var decoder = UnicornDecoder()
            let decoded = Self.decode([stream], with: &decoder)
            let counters = Self.blocks(decoded).compactMap(\.counter)
            // Bytes 100 ... 100 + lost hit frames 2 ... ; a loss of whole frames joins two of them, which no reader can see.
            let last = (100 + lost - 1) / 45
            let joined: [UInt32] = lost.isMultiple(of: 45) ? [UInt32((100 + lost) / 45)] : []
            let rest = (100 + lost).isMultiple(of: 45) ? UInt32(last) + 1 : UInt32(last) + 1
            #expect(counters == [0, 1] + joined + Array(rest..<10).filter { !joined.contains($0) }, "\(lost) bytes lost")
            #expect(Self.discarded(decoded) == stream.count - counters.count * 45)
        }
    }

    @Test("reports its battery when that has changed, at most once a minute")
    func battery() {
        var decoder = UnicornDecoder()
        var reports = 0
        for number in 0..<UInt32(30_001) {
            let frame = UnicornFrame(battery: UInt8(number % 2) + 7, eeg: [], motion: [], counter: number).encoded()
            reports += Self.decode([frame], with: &decoder).items.filter { if case .status = $0 { true } else { false } }.count
        }
        #expect(reports == 2)
    }
}
