import Headsets
import Testing

@Suite("Buffered EEG codec")
struct BufferedEEGCodecTests {
    static let commands: [BufferedEEGCommand] = [
        .status, .wake, .configure, .start, .stop, .read(stream: 0, from: 0xFFFF_FFF8, credit: 32),
        .credit(stream: 1, blocks: 16), .acknowledge(stream: 7, upTo: 0x0102_0304), .abort(stream: 2),
        .setTime(microsecondsSince1970: 1_790_000_000_000_000, uncertaintyMicroseconds: 5000),
    ]

    static let stream = StreamDescription(
        name: "eeg", samplingFrequency: 250, counterModulus: 1 << 32,
        channels: ["Fp1", "Fp2", "C3", "C4", "P7", "P8", "O1", "O2"].map {
            ChannelDescription(name: $0, scale: 0.0223517444553071, rawMinimum: -0x80_0000, rawMaximum: 0x7F_FFFF)
        })

    static let header = BufferedEEGStatusHeader(
        condition: .sampling, batteryPercent: 87, bootIdentifier: 0x1234_5678, deviceTicks: 1_000_000, tickFrequency: 32_768,
        ranges: [BufferedEEGStatusHeader.StreamRange(oldest: 0xFFFF_FF00, end: 0x10, lost: 3)])

    static let block = BufferedEEGBlock(
        header: BufferedEEGBlock.Header(
            isFromMemory: true, bootIdentifier: 0x1234_5678, stream: 0, channelCount: 8, instantCount: 8,
            firstIndex: 0xFFFF_FFFC),
        values: (0..<64).map { Int32($0) * 262_144 - 8_388_608 })

    static var messages: [BufferedEEGMessage] {
        BufferedEEGMessage.statusReport(header, streams: [stream]) + [
            .result(command: 6, code: 4), .block(block),
            .gap(stream: 0, from: 0xFFFF_FFF0, end: 0xFFFF_FFFC, reason: .overwritten),
            .end(stream: 0, next: 0x10, reason: .complete),
        ]
    }

    @Test("returns each command from its bytes", arguments: commands)
    func commandRoundTrip(command: BufferedEEGCommand) throws {
        #expect(try BufferedEEGCommand(decoding: command.encoded()) == command)
    }

    @Test("returns each message from its bytes, which fit into one notification", arguments: messages)
    func messageRoundTrip(message: BufferedEEGMessage) throws {
        #expect(try BufferedEEGMessage(decoding: message.encoded()) == message)
        #expect(message.encoded().count <= BufferedEEGService.notificationLengthMaximum)
    }

    @Test("refuses every truncation and every extension of a command", arguments: commands)
    func commandLengths(command: BufferedEEGCommand) {
        let bytes = command.encoded()
        for count in 0..<bytes.count {
            #expect(throws: BufferedEEGError.self) { try BufferedEEGCommand(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: BufferedEEGError.trailingBytes(count: 1)) { try BufferedEEGCommand(decoding: bytes + [0]) }
    }

    @Test("refuses every truncation and every extension of a message", arguments: messages)
    func messageLengths(message: BufferedEEGMessage) {
        let bytes = message.encoded()
        for count in 0..<bytes.count {
            #expect(throws: BufferedEEGError.self) { try BufferedEEGMessage(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: BufferedEEGError.self) { try BufferedEEGMessage(decoding: bytes + [0]) }
    }

    @Test("notices every single flipped bit in data messages", arguments: messages.filter(\.isData))
    func flippedBits(message: BufferedEEGMessage) {
        let bytes = message.encoded()
        for bit in 0..<bytes.count * 8 {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: BufferedEEGError.self) { try BufferedEEGMessage(decoding: damaged) }
        }
    }

    @Test("clamps samples to 24 bits and keeps their sign")
    func extremes() throws {
        var block = Self.block
        block.header.channelCount = 4
        block.header.instantCount = 1
        block.values = [.max, .min, -1, 0x7F_FFFF]
        #expect(try BufferedEEGBlock(decoding: block.encoded()).values == [0x7F_FFFF, -0x80_0000, -1, 0x7F_FFFF])
    }

    @Test("fits 8 channels of 8 instants into 210 bytes, and 4 instants at the smallest MTU")
    func sizes() {
        #expect(Self.block.encoded().count == 210)
        #expect(BufferedEEGBlock.instantCountMaximum(channelCount: 8) == 9)
        #expect(BufferedEEGBlock.instantCountMaximum(channelCount: 8, length: BufferedEEGService.mtuMinimum - 3) == 4)
        let ranges = [BufferedEEGStatusHeader.StreamRange](repeating: .init(oldest: 0, end: 0), count: 8)
        let header = BufferedEEGStatusHeader(condition: .idle, bootIdentifier: 1, ranges: ranges)
        #expect(header.encoded().count == 117)
        for part in BufferedEEGStreamPart.parts(of: Self.stream, stream: 0, length: BufferedEEGService.mtuMinimum - 3) {
            #expect(part.encoded().count <= BufferedEEGService.mtuMinimum - 3)
        }
    }

    @Test("refuses values that no headset can mean")
    func absurdValues() {
        let absurd: [(BufferedEEGError, (inout BufferedEEGStreamPart) -> Void)] = [
            (.invalidField("stream"), { $0.stream = 8 }),
            (.invalidField("channel count"), { $0.channelTotal = 7 }),
            (.invalidField("channel count"), { $0.channelTotal = 9 }),
            (.invalidField("channel name"), { $0.channels[0].name = "" }),
            (.invalidField("stream name"), { $0.name = "\u{7}" }),
        ]
        let part = BufferedEEGStreamPart.parts(of: Self.stream, stream: 0)[0]
        for (error, change) in absurd {
            var changed = part
            change(&changed)
            #expect(throws: error) { try BufferedEEGMessage(decoding: changed.encoded()) }
        }
    }
}
