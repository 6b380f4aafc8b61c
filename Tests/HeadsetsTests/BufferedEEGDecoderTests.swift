import Bluetooth
import Headsets
import Testing

@Suite("Buffered EEG decoder")
struct BufferedEEGDecoderTests {
    private static func stream(_ name: String, channels: Int, bank: Int = 0) -> StreamDescription {
        StreamDescription(
            name: name, bank: bank, samplingFrequency: 250, counterModulus: 1 << 32,
            channels: (0..<channels).map {
                ChannelDescription(name: "Channel \($0)", scale: 0.5, rawMinimum: -2048, rawMaximum: 2047)
            })
    }

    private static func header(streams: Int) -> BufferedEEGStatusHeader {
        BufferedEEGStatusHeader(
            condition: .streaming, bootIdentifier: 7,
            ranges: (0..<streams).map { BufferedEEGStatusHeader.StreamRange(oldest: UInt32($0), end: 100) })
    }

    private static func decode(_ messages: [BufferedEEGMessage]) -> Decoded {
        var decoder = BufferedEEGDecoder()
        var decoded = Decoded()
        for message in messages {
            decoder.decode(
                message.encoded(), from: message.isData ? BufferedEEGService.data : BufferedEEGService.control,
                into: &decoded)
        }
        return decoded
    }

    private static func statuses(_ messages: [BufferedEEGMessage]) -> [HeadsetStatus] {
        decode(messages).items.compactMap { if case .status(let status) = $0 { status } else { nil } }
    }

    @Test("assembles a report of several banks, split at the smallest MTU")
    func splitReport() throws {
        let streams = [
            Self.stream("eeg", channels: 8), Self.stream("eeg", channels: 5, bank: 1), Self.stream("gyroscope", channels: 3),
        ]
        let messages = BufferedEEGMessage.statusReport(
            Self.header(streams: 3), streams: streams, length: BufferedEEGService.mtuMinimum - 3)
        #expect(messages.count > 5)
        let status = try #require(Self.statuses(messages).first)
        #expect(status.streams == streams)
        #expect(status.buffered.map(\.oldest) == [0, 1, 2])
        #expect(status.batteryPercent == nil)
        #expect(status.deviceTicks == nil)
    }

    @Test("gives no status where any message of the report is missing, doubled or out of order")
    func incompleteReport() {
        let streams = [Self.stream("eeg", channels: 8), Self.stream("ppg", channels: 2)]
        let messages = BufferedEEGMessage.statusReport(Self.header(streams: 2), streams: streams, length: 125)
        #expect(Self.statuses(messages).count == 1)
        for index in messages.indices {
            var changed = messages
            changed.remove(at: index)
            #expect(Self.statuses(changed).isEmpty)
        }
        for index in 1..<messages.count - 2 {
            var changed = messages
            changed.swapAt(index, index + 1)
            #expect(Self.statuses(changed).isEmpty)
            changed = messages
            changed.insert(messages[index], at: index)
            #expect(Self.statuses(changed).isEmpty)
        }
    }

    @Test("begins anew with each header, and understands a whole report after a broken one")
    func repeatedHeader() {
        let streams = [Self.stream("eeg", channels: 2)]
        let report = BufferedEEGMessage.statusReport(Self.header(streams: 1), streams: streams)
        #expect(Self.statuses(Array(report.prefix(2)) + report).count == 1)
        #expect(Self.statuses(Array(report.dropFirst()) + report).count == 1)
    }

    @Test("refuses streams or channels of the same name")
    func doubledNames() {
        var doubled = Self.stream("eeg", channels: 2)
        doubled.channels[1].name = doubled.channels[0].name
        #expect(Self.statuses(BufferedEEGMessage.statusReport(Self.header(streams: 1), streams: [doubled])).isEmpty)
        let same = [Self.stream("eeg", channels: 1), Self.stream("eeg", channels: 1)]
        #expect(Self.statuses(BufferedEEGMessage.statusReport(Self.header(streams: 2), streams: same)).isEmpty)
    }

    @Test("says that a protocol version is not supported instead of being silent")
    func otherVersion() {
        var bytes = Self.header(streams: 0).encoded()
        bytes[1] = 2
        var decoder = BufferedEEGDecoder()
        var decoded = Decoded()
        decoder.decode(bytes, from: BufferedEEGService.control, into: &decoded)
        #expect(decoded.items == [.refused(command: 1, code: 0xFF)])
    }

    @Test("reports refused commands, and keeps quiet about successful ones")
    func results() {
        let decoded = Self.decode([.result(command: 6, code: 0), .result(command: 6, code: 4), .result(command: 99, code: 200)])
        #expect(decoded.items == [.refused(command: 6, code: 4), .refused(command: 99, code: 200)])
    }

    @Test("discards messages on the wrong characteristic and those with a bad CRC")
    func discarded() {
        var decoder = BufferedEEGDecoder()
        var decoded = Decoded()
        var bytes = BufferedEEGCodecTests.block.encoded()
        decoder.decode(bytes, from: BufferedEEGService.control, into: &decoded)
        decoder.decode(bytes, from: .batteryLevel, into: &decoded)
        decoder.decode(Self.header(streams: 0).encoded(), from: BufferedEEGService.data, into: &decoded)
        bytes[20] ^= 1
        decoder.decode(bytes, from: BufferedEEGService.data, into: &decoded)
        #expect(
            decoded.items == [
                .discarded(byteCount: 210), .discarded(byteCount: 210), .discarded(byteCount: 21),
                .discarded(byteCount: 210),
            ])
        #expect(decoded.values.isEmpty)
    }

    @Test("hands over a block of some channels as what it is")
    func partialChannels() {
        let header = BufferedEEGBlock.Header(
            isFromMemory: false, bootIdentifier: 9, stream: 2, firstChannel: 4, channelCount: 2, instantCount: 2,
            firstIndex: .max)
        let decoded = Self.decode([.block(BufferedEEGBlock(header: header, values: [1, 2, 3, 4]))])
        #expect(
            decoded.items == [
                .samples(
                    SampleBlock(
                        stream: 2, counter: .max, bootIdentifier: 9, firstChannel: 4, channelCount: 2, instantCount: 2,
                        values: 0..<4))
            ])
    }
}
