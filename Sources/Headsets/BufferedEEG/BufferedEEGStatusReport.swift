/// A status report of the Buffered EEG service, as far as its messages have come.
struct BufferedEEGStatusReport {
    private let header: BufferedEEGStatusHeader
    private var streams: [StreamDescription] = []
    /// Channels of the last stream that were not described yet.
    private var missingChannelCount = 0

    /// Begins a report.
    init(header: BufferedEEGStatusHeader) {
        self.header = header
    }

    /// Adds the next description, or the rest of one. Streams and their channels come in order.
    mutating func append(_ part: BufferedEEGStreamPart) throws(BufferedEEGError) {
        if missingChannelCount == 0 {
            guard part.stream == streams.count, part.firstChannel == 0,
                !streams.contains(where: { $0.name == part.name && $0.bank == part.bank })
            else { throw .invalidField("stream") }
            streams.append(
                StreamDescription(
                    name: part.name, bank: part.bank, samplingFrequency: part.samplingFrequency, counterModulus: 1 << 32,
                    channels: []))
            missingChannelCount = part.channelTotal
        }
        let last = streams.count - 1
        guard part.stream == last, part.firstChannel == streams[last].channels.count,
            part.channels.count <= missingChannelCount
        else { throw .invalidField("stream") }
        for channel in part.channels {
            guard !streams[last].channels.contains(where: { $0.name == channel.name }) else {
                throw .invalidField("channel name")
            }
            streams[last].channels.append(channel)
        }
        missingChannelCount -= part.channels.count
    }

    /// The whole report, once its end has come.
    func status(streamCount: Int) throws(BufferedEEGError) -> HeadsetStatus {
        guard missingChannelCount == 0, streams.count == streamCount, header.ranges.count == streamCount else {
            throw .invalidField("stream count")
        }
        return HeadsetStatus(
            condition: header.condition, bootIdentifier: header.bootIdentifier, streams: streams,
            buffered: header.ranges.enumerated().map { index, range in
                HeadsetStatus.BufferedRange(stream: index, oldest: range.oldest, end: range.end)
            },
            batteryPercent: header.batteryPercent.map(Double.init),
            deviceTicks: header.tickFrequency == 0 ? nil : header.deviceTicks,
            tickFrequency: header.tickFrequency == 0 ? nil : Double(header.tickFrequency))
    }
}
