import Foundation
import Headsets
import Testing

/// The example exchange in the documentation of the Buffered EEG service, checked byte for byte.
@Suite("The documented example exchange of the Buffered EEG service")
struct BufferedEEGExampleTests {
    private static let packageRoot = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let streams = [
        StreamDescription(
            name: "eeg", samplingFrequency: 250, counterModulus: 1 << 32,
            channels: ["Fp1", "Fp2"].map {
                ChannelDescription(name: $0, scale: 0.0234375, rawMinimum: -0x80_0000, rawMaximum: 0x7F_FFFF)
            })
    ]

    private static let header = BufferedEEGStatusHeader(
        condition: .sampling, batteryPercent: 87, bootIdentifier: 0x5EED_C0DE, deviceTicks: 0x0123_4567,
        tickFrequency: 32_768,
        ranges: [BufferedEEGStatusHeader.StreamRange(oldest: 0xFFFF_FFFD, end: 5, lost: 12)])

    private static func block(_ first: UInt32, _ values: [Int32], isFromMemory: Bool) -> BufferedEEGMessage {
        .block(
            BufferedEEGBlock(
                header: BufferedEEGBlock.Header(
                    isFromMemory: isFromMemory, bootIdentifier: 0x5EED_C0DE, stream: 0, channelCount: 2,
                    instantCount: values.count / 2, firstIndex: first),
                values: values))
    }

    private enum Line {
        case command(BufferedEEGCommand)
        case message(BufferedEEGMessage)

        /// `> control 01` or `< data 91 ...`; the hexadecimal bytes in rows of 24.
        var text: String {
            let (lead, bytes) =
                switch self {
                case .command(let command): ("> control", command.encoded())
                case .message(let message): (message.isData ? "< data   " : "< control", message.encoded())
                }
            let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            let rows = stride(from: 0, to: hex.count, by: 24).map { hex[$0..<min($0 + 24, hex.count)].joined(separator: " ") }
            return lead + " " + rows.joined(separator: "\n" + String(repeating: " ", count: lead.count + 1))
        }
    }

    private static func command(_ command: BufferedEEGCommand) -> [Line] {
        [.command(command), .message(.result(command: command.opcode, code: 0))]
    }

    private static let exchange: [Line] =
        [.command(.status)]
        + BufferedEEGMessage.statusReport(header, streams: streams).map { .message($0) }
        + command(.start)
        + [.message(block(5, [1000, -1000, 1001, -1001], isFromMemory: false))]
        + command(.read(stream: 0, from: 0xFFFF_FFFB, credit: 2))
        + [
            .message(.gap(stream: 0, from: 0xFFFF_FFFB, end: 0xFFFF_FFFD, reason: .overwritten)),
            .message(block(0xFFFF_FFFD, [10, -1, 11, -2, 12, -3], isFromMemory: true)),
            .message(block(0, [13, -4, 14, -5, 15, -6], isFromMemory: true)),
        ]
        + command(.credit(stream: 0, blocks: 2))
        + [
            .message(block(3, [8_388_607, -8_388_608, 17, -8], isFromMemory: true)),
            .message(.end(stream: 0, next: 5, reason: .complete)),
        ]
        + command(.acknowledge(stream: 0, upTo: 7))
        + command(.stop)

    @Test("says what the codec sends")
    func documentedBytes() throws {
        let page = Self.packageRoot.appending(path: "Sources/eegsync/eegsync.docc/BufferedEEGService.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let blocks = text.components(separatedBy: "```")
        let example = try #require(blocks.first { $0.hasPrefix("text\n> control") }, "no example in the page")
        let documented = String(example.dropFirst(5)).trimmingCharacters(in: .whitespacesAndNewlines)
        let expected = Self.exchange.map(\.text).joined(separator: "\n")
        #expect(documented == expected, "the page must hold:\n\(expected)")
    }

    @Test("is understood by the decoder as the text explains it")
    func decodedExchange() throws {
        var decoder = BufferedEEGDecoder()
        var decoded = Decoded()
        for case .message(let message) in Self.exchange {
            let characteristic = message.isData ? BufferedEEGService.data : BufferedEEGService.control
            decoder.decode(message.encoded(), from: characteristic, into: &decoded)
        }
        func samples(_ counter: UInt32, _ count: Int, _ start: Int, _ origin: SampleBlock.Origin) -> DecodedItem {
            .samples(
                SampleBlock(
                    stream: 0, counter: counter, bootIdentifier: 0x5EED_C0DE, channelCount: 2, instantCount: count,
                    values: start..<start + count * 2, origin: origin))
        }
        #expect(
            decoded.items == [
                .status(
                    HeadsetStatus(
                        condition: .sampling, bootIdentifier: 0x5EED_C0DE, streams: Self.streams,
                        buffered: [HeadsetStatus.BufferedRange(stream: 0, oldest: 0xFFFF_FFFD, end: 5)],
                        batteryPercent: 87, deviceTicks: 0x0123_4567, tickFrequency: 32_768)),
                samples(5, 2, 0, .live),
                .overwritten(stream: 0, from: 0xFFFF_FFFB, end: 0xFFFF_FFFD),
                samples(0xFFFF_FFFD, 3, 4, .memory),
                samples(0, 3, 10, .memory),
                samples(3, 2, 16, .memory),
                .drainEnded(stream: 0, next: 5),
            ])
        #expect(decoded.values.suffix(4) == [8_388_607, -8_388_608, 17, -8])
    }
}
