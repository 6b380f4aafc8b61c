import Bluetooth
import Headsets
import Simulation
import Testing

/// The Cyton's serial stream. The frames are those of OpenBCI's NodeJS library (MIT licence).
@Suite("Cyton")
struct CytonTests {
    /// `samplePacket`: channels 1 ... 8 hold 1 ... 8, accelerations 0, 1, 2.
    static func sample(_ number: UInt8, kind: UInt8 = 0, auxiliary: [UInt8] = [0, 0, 0, 1, 0, 2]) -> [UInt8] {
        [0xA0, number] + (1...8).flatMap { [0, 0, UInt8($0)] } + auxiliary + [0xC0 | kind]
    }

    private static func decode(_ pieces: [[UInt8]], with decoder: inout CytonDecoder) -> Decoded {
        var decoded = Decoded()
        for piece in pieces { decoder.decode(piece, from: .serialPort, into: &decoded) }
        return decoded
    }

    private static func blocks(_ decoded: Decoded, stream: Int = CytonProfile.eeg) -> [SampleBlock] {
        decoded.items.compactMap { item in
            if case .samples(let block) = item, block.stream == stream { block } else { nil }
        }
    }

    private static func discarded(_ decoded: Decoded) -> Int {
        decoded.items.reduce(0) { if case .discarded(let count) = $1 { $0 + count } else { $0 } }
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("sends eight channels of 24 bits and three accelerations, or zeros, in each frame")
    func goldenFrame() {
        var decoder = CytonDecoder()
        let decoded = Self.decode(
            [Self.sample(254), Self.sample(255, auxiliary: [0, 0, 0, 0, 0, 0]), Self.sample(0)], with: &decoder)
        #expect(Self.blocks(decoded).map(\.counter) == [254, 255, 0])
        #expect(Self.blocks(decoded).map { Array(decoded.values[$0.values]) } == Array(repeating: Array(1...8), count: 3))
        let accelerations = Self.blocks(decoded, stream: CytonProfile.auxiliary)
        #expect(accelerations.map { Array(decoded.values[$0.values]) } == [[0, 1, 2], [0, 1, 2]])
        #expect(accelerations.allSatisfy { $0.counter == nil })
        let negative = CytonFrame(number: 1, eeg: [-1, 8_388_607, -8_388_608], auxiliary: CytonFrame.bytes(of: [-2]))
        #expect(
            negative.encoded() == [0xA0, 1, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0x80, 0, 0] + [UInt8](repeating: 0, count: 15)
                + [0xFF, 0xFE, 0, 0, 0, 0, 0xC0])
        #expect(Self.decode([negative.encoded()], with: &decoder).values.prefix(3) == [-1, 8_388_607, -8_388_608])
        #expect(abs(CytonSettings.Gain.x24.microvoltsPerCount - 0.0223517) < 1e-7)
    }

    @Test("bears the board's time in frames that hold it")
    func boardTime() {
        var decoder = CytonDecoder()
        let frames: [(UInt8, UInt8)] = [(1, 3), (2, 4), (3, 0), (4, 5), (5, 6), (6, 1)]
        let pieces = frames.map { Self.sample($0.0, kind: $0.1, auxiliary: [0, 0, 0xFE, 0xDC, 0xBA, $0.0]) }
        let blocks = Self.blocks(Self.decode(pieces, with: &decoder))
        #expect(blocks.map(\.deviceTicks) == [0xFEDC_BA01, 0xFEDC_BA02, nil, 0xFEDC_BA04, 0xFEDC_BA05, nil])
        #expect(CytonProfile().sampleStamps == SampleStamps(tickFrequency: 1000, modulus: 1 << 32, isExact: false))
    }

    @Test("says its firmware in the text that it begins with")
    func banner() {
        var decoder = CytonDecoder()
        let text = "OpenBCI V3 8-16 channel\nADS1299 Device ID: 0x3E\nFirmware: v3.1.2\n"
        #expect(
            Self.decode([Array((text + "$$$").utf8)], with: &decoder).items == [
                .deviceInformation(DeviceInformation(firmwareRevision: "v3.1.2")), .message(text),
            ])
    }

    @Test("tells its channels when asked for a Daisy, behind frames of before and in pieces", arguments: 1...40)
    func statusQuery(pieceLength: Int) {
        for (answer, channelCount) in [("no daisy to attach!$$$8$$$", 8), ("16$$$", 16)] {
            var decoder = CytonDecoder()
            // A sample that looks like the beginning of a frame must not hide the answer behind it.
            var last = Self.sample(5)
            last[20] = 0xA0
            let stream: [UInt8] = Array(Self.sample(3)[9...]) + Self.sample(4) + last + Self.text(answer)
            let pieces = stride(from: 0, to: stream.count, by: pieceLength).map {
                Array(stream[$0..<min(stream.count, $0 + pieceLength)])
            }
            let statuses = Self.decode(pieces, with: &decoder).items.compactMap { item in
                if case .status(let status) = item { status } else { nil }
            }
            #expect(statuses.map(\.condition) == [.idle])
            let eeg = statuses.first?.streams?.filter { $0.name == "eeg" } ?? []
            #expect(eeg.reduce(0) { $0 + $1.channels.count } == channelCount)
            #expect(eeg.first?.samplingFrequency == (channelCount == 8 ? 250 : 125))
        }
    }

    @Test("with a Daisy sends its channels in even frames, and an odd frame and the next are one instant")
    func daisy() {
        var decoder = CytonDecoder()
        let pieces = [Self.text("16$$$")] + (0...520).map { Self.sample(UInt8(truncatingIfNeeded: $0)) }
        let decoded = Self.decode(pieces, with: &decoder)
        let board = Self.blocks(decoded)
        let daisy = Self.blocks(decoded, stream: CytonProfile.daisy)
        #expect(board.map(\.counter) == (1...260).map { UInt32($0 % 128) })
        #expect(daisy.map(\.counter) == board.map(\.counter))
        #expect(Self.blocks(decoded, stream: CytonProfile.auxiliaryWithDaisy).count == 520)
        let streams = CytonProfile(hasDaisy: true).streams
        #expect(streams.map(\.bank) == [0, 1, 0])
        #expect(streams[1].channels.map(\.name).first == "Ch9")
        #expect(streams.prefix(2).allSatisfy { $0.counterModulus == 128 && $0.samplingFrequency == 125 })
    }

    @Test("may lose any bytes of its stream: frames that are whole are found again, and nothing else is believed")
    func resynchronisation() {
        var generator = SeededGenerator(seed: 4)
        let frames = (0..<12).map { number in
            CytonFrame(
                number: UInt8(number), eeg: (0..<8).map { _ in Int32.random(in: -0x80_0000...0x7F_FFFF, using: &generator) }
            ).encoded()
        }
        for lost in 1...98 where !lost.isMultiple(of: CytonFrame.length) {
            var stream = Array(frames.joined())
            stream.removeSubrange(80..<(80 + lost))
            var decoder = CytonDecoder()
            let decoded = Self.decode([stream, Self.text("x")], with: &decoder)
            let counters = Self.blocks(decoded).compactMap(\.counter)
            let rest = UInt32((80 + lost - 1) / CytonFrame.length) + 1
            #expect(counters == [0, 1] + Array(rest..<12), "\(lost) bytes lost")
            #expect(Self.discarded(decoded) == stream.count - counters.count * CytonFrame.length)
        }
    }

    @Test("whose frames are lost has lost one acceleration in ten of them")
    func lostAccelerations() {
        var decoder = CytonDecoder()
        let pieces = [0, 1, 7, 13, 18, 19, 19, 60].map { Self.sample($0) }
        let damage = Self.decode(pieces, with: &decoder).items.filter { if case .damaged = $0 { true } else { false } }
        // 5, 5 and 4 frames before 18 are 14: one acceleration; 4 and 40 more make 44: four.
        #expect(
            damage == [.damaged(stream: CytonProfile.auxiliary, count: 1), .damaged(stream: CytonProfile.auxiliary, count: 4)])
    }

    @Test("with time stamps sends one axis in each of three frames of ten, and the board's clock")
    func timeStamps() {
        var decoder = CytonDecoder(settings: CytonSettings(stampsTime: true))
        let pieces = (0..<20).map { Self.sample(UInt8($0), kind: $0 == 0 ? 3 : 4, auxiliary: [0, UInt8($0), 0, 0, 1, 0x2C]) }
        let decoded = Self.decode(pieces, with: &decoder)
        let axes = Self.blocks(decoded, stream: CytonProfile.auxiliary)
        #expect(axes.map(\.firstChannel) == [0, 1, 2, 0, 1, 2])
        #expect(axes.map { decoded.values[$0.values.lowerBound] } == [7, 8, 9, 17, 18, 19])
        #expect(
            decoded.items.contains(
                .status(HeadsetStatus(condition: .streaming, deviceTicks: 300, tickFrequency: 1000))))
        let analog = CytonSettings(auxiliary: .analog, stampsTime: true)
        decoder = CytonDecoder(settings: analog)
        let readings = Self.decode([5, 6].map { Self.sample($0, kind: $0, auxiliary: [1, 2, 0, 0, 0, 9]) }, with: &decoder)
        #expect(readings.values.filter { $0 > 8 } == [258, 258])
        #expect(CytonProfile(settings: analog).streams.last?.channels.count == 1)
    }

    @Test("sends readings of pins, bytes of its owner, and impedances in frames of other kinds", arguments: 0...15)
    func kinds(kind: UInt8) {
        for auxiliary in CytonSettings.Auxiliary.allCases {
            var decoder = CytonDecoder(settings: CytonSettings(auxiliary: auxiliary))
            let decoded = Self.decode([Self.sample(7, kind: kind), Self.sample(8, kind: kind)], with: &decoder)
            let others = Self.blocks(decoded, stream: CytonProfile.auxiliary).count
            #expect(Self.blocks(decoded).count == (kind < 7 ? 2 : 0))
            switch (kind, auxiliary) {
            case (0, .accelerometer), (3, .accelerometer), (4, .accelerometer), (1, .analog), (1, .digital):
                #expect(others == 2)
            default: #expect(others == 0)
            }
        }
    }

    private static func events(_ decoded: Decoded) -> [HeadsetEvent] {
        decoded.items.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    @Test("says which digital pins are high where that changes, of the frame in which it does")
    func pins() {
        var decoder = CytonDecoder(settings: CytonSettings(auxiliary: .digital))
        let frames: [[UInt8]] = [
            [0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 1], [1, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0],
            [0, 0, 1, 1, 0, 0],
        ]
        let decoded = Self.decode(
            frames.enumerated().map { Self.sample(UInt8($0.offset + 7), kind: 1, auxiliary: $0.element) }, with: &decoder)
        func sample(_ counter: UInt32) -> HeadsetEvent.Sample {
            HeadsetEvent.Sample(stream: CytonProfile.eeg, counter: counter)
        }
        #expect(
            Self.events(decoded) == [
                HeadsetEvent("High: D11, D12, D18", of: sample(9), code: 0b1_0011),
                HeadsetEvent("All pins low", of: sample(11), code: 0),
                HeadsetEvent("High: D13, D17", of: sample(12), code: 0b0_1100),
            ])
        // The board's clock, where it is sent; the first two bytes are pins then, and the others none.
        var stamped = CytonDecoder(settings: CytonSettings(auxiliary: .digital, stampsTime: true))
        let pieces: [[UInt8]] = [[0, 0, 0, 0, 16, 0], [0, 1, 0, 0, 16, 4]]
        let late = Self.decode(
            pieces.enumerated().map { Self.sample(UInt8($0.offset), kind: 6, auxiliary: $0.element) }, with: &stamped)
        #expect(Self.events(late) == [HeadsetEvent("High: D12", of: sample(1), deviceTicks: 4100, code: 0b10)])
    }

    @Test("keeps bytes of its owner where they change, within a bound; what is beyond is counted")
    func userBytes() {
        var decoder = CytonDecoder()
        func frames(_ values: Range<Int>) -> [[UInt8]] {
            values.map {
                Self.sample(UInt8(truncatingIfNeeded: $0), kind: 2, auxiliary: [0, 0, 0, 0, UInt8($0 >> 8), UInt8($0 & 0xFF)])
            }
        }
        let quiet = Self.decode(
            [Self.sample(0, kind: 2, auxiliary: [0, 0, 0, 0, 0, 0])] + frames(1..<2) + frames(1..<2), with: &decoder)
        let sample = HeadsetEvent.Sample(stream: CytonProfile.eeg, counter: 1)
        #expect(Self.events(quiet) == [HeadsetEvent("User bytes 00 00 00 00 00 01", of: sample, code: 1)])
        let busy = Self.decode(frames(2..<1002), with: &decoder)
        // 64 at once, 10 a second.
        let events = Self.events(busy).count
        #expect((100...104).contains(events), "\(events)")
        #expect(Self.discarded(busy) == 6 * (1000 - events))
    }

    @Test("is set by data: commands and scales follow from it")
    func settings() {
        var settings = CytonSettings(channels: [.init(), .init(gain: .x8, isInBias: false)], auxiliary: .digital)
        settings.channels += Array(repeating: .init(), count: 6) + [.init(isOn: false)]
        #expect(settings.commands(channelCount: 8) == ["d", "/3", ">", "x2040010X"])
        #expect(settings.commands(channelCount: 16) == ["d", "/3", ">", "x2040010X", "xQ160110X"])
        let profile = CytonProfile(settings: settings)
        #expect(abs(profile.streams[0].channels[1].scale - 0.0670552) < 1e-7)
        #expect(profile.streams[1].name == "auxiliary")
        #expect(CytonSettings(stampsTime: true).commands(channelCount: 8) == ["d", "/0", "<"])
    }

    @Test("is stopped before it is asked, and uses eight channels where it does not answer")
    func commands() {
        func texts(_ steps: [CommandStep]) -> [String] {
            steps.compactMap { step in
                if case .write(let bytes, .serialPort, _) = step { String(decoding: bytes, as: UTF8.self) } else { nil }
            }
        }
        let profile = CytonProfile()
        #expect(texts(profile.commands(for: .queryStatus, status: nil)) == ["s", "C"])
        #expect(texts(profile.commands(for: .initialise, status: nil)) == ["s", "c", "d", "/0", ">"])
        let status = HeadsetStatus(condition: .idle, streams: CytonProfile(hasDaisy: true).streams)
        #expect(texts(profile.commands(for: .initialise, status: status)) == ["d", "/0", ">"])
        // While it streams, a question would stop it.
        #expect(!profile.isAskedWhileStreaming)
        #expect(texts(profile.commands(for: .start, status: status)) == ["b"])
        #expect(!CytonProfile(settings: CytonSettings(usesDaisy: false)).answersStatusQuery)
    }

    @Test("drops a text that never ends")
    func endlessText() {
        var decoder = CytonDecoder()
        let decoded = Self.decode([[UInt8](repeating: 65, count: 100_000), Self.text("$$$")], with: &decoder)
        #expect(Self.discarded(decoded) > 95_000)
        #expect(decoded.items.contains { if case .message = $0 { true } else { false } })
    }
}
