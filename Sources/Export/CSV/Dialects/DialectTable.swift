import Headsets
import Storage

/// One file of a dialect: what its header says, and what each of its columns holds.
struct DialectTable {
    /// What stands where a row lacks the value of a channel.
    enum MissingValue: Hashable {
        /// This text, which the tool's readers take for no number.
        case text(String)
        /// The value before, as the tool does; its readers know no text for a missing number.
        case valueBefore
    }

    /// Where annotations stand.
    enum Events: Hashable {
        /// As numbers in the marker column.
        case numbered
        /// As rows of their own, which hold nothing but a time and, in the last column, the text behind this prefix.
        case rows(prefix: String)
    }

    /// Behind the name of the file, where there are several.
    var suffix: String
    /// What the tool calls this layout, for the sidecar.
    var layout: String
    /// Whole lines above the rows.
    var header: [String] = []
    /// Rows without a sample that the tool begins with: the text of the last column.
    var openingEvents: [String] = []
    var separator: String
    var missing: MissingValue
    /// The text of a value that nobody knows, and of a slower stream's before its first sample.
    var unknown: String
    var events: Events = .numbered
    /// Each of its samples is a row.
    var stream: JoinedStream
    /// Slower or parallel streams, whose latest value stands in each row.
    var held: [JoinedStream] = []
    var columns: [TableColumn] = []
    /// What somebody should know of this table, for the report.
    var notes: [String] = []

    /// The numbers that stand for raw values, in the order of their columns.
    var numbers: [CSVNumber] { columns.compactMap(\.number) }

    /// A column of a channel of one of the table's streams; ``unknown`` where it was not chosen or the headset has none.
    ///
    /// - Parameters:
    ///   - label: the column's name.
    ///   - leastDecimals: the tool writes so many; more are written where they are needed to give the raw count back.
    ///   - shownDecimals: so many stand there even where they are zeros.
    ///   - unitsPerUnit: the tool's units in one of the recording's; negative where the tool turns the axis.
    mutating func addChannel(
        _ channel: String, of name: String, as label: String, leastDecimals: Int, shownDecimals: Int, unitsPerUnit: Double = 1
    ) throws {
        guard let source = source(of: channel, in: name) else { return addConstant(unknown, as: label) }
        let number = try CSVNumber(
            channel: source.description, scale: source.description.scale * unitsPerUnit,
            offset: source.description.offset * unitsPerUnit, leastDecimals: leastDecimals, shownDecimals: shownDecimals)
        columns.append(TableColumn(name: label, content: source.content(number)))
    }

    mutating func addConstant(_ text: String, as label: String) {
        columns.append(TableColumn(name: label, content: .constant(Array(text.utf8))))
    }

    /// Where a channel comes from; nil where it was not chosen.
    func source(of channel: String, in name: String) -> ChannelSource? {
        for (index, joined) in ([stream] + held).enumerated() where joined.name == name {
            guard let channel = joined.channels.firstIndex(where: { $0.name == channel }) else { return nil }
            return ChannelSource(held: index == 0 ? nil : index - 1, channel: channel, description: joined.channels[channel])
        }
        return nil
    }

    /// A channel of one of a table's streams.
    struct ChannelSource {
        /// Which of the held streams; nil for that of the rows.
        var held: Int?
        var channel: Int
        var description: ChannelDescription

        func content(_ number: CSVNumber) -> TableColumn.Content {
            held.map { .held($0, channel: channel, number) } ?? .channel(channel, number)
        }
    }
}

/// One column of a table.
struct TableColumn {
    enum Content {
        /// The same in each row.
        case constant([UInt8])
        /// Counts samples.
        case index(SampleIndex, decimals: Int)
        /// A channel of the stream of the rows.
        case channel(Int, CSVNumber)
        /// The latest value of a channel of another stream.
        case held(Int, channel: Int, CSVNumber)
        /// Seconds since 1970, six decimals.
        case unixSeconds
        /// `yyyy-MM-dd HH:mm:ss.SSS` in UTC.
        case dateTime
        /// The number of an annotation, or 0.
        case marker(decimals: Int)
        /// Not there at all in rows of samples: the column of the rows of annotations.
        case event
    }

    var name: String
    var content: Content

    /// How a raw value is written in it; nil where it holds none.
    var number: CSVNumber? {
        switch content {
        case .channel(_, let number), .held(_, _, let number): number
        case .constant, .index, .unixSeconds, .dateTime, .marker, .event: nil
        }
    }
}

/// A number that counts samples as a tool does: it begins anew, and a jump of it shows that samples are missing.
struct SampleIndex: Hashable {
    /// Samples that have the same number.
    var samplesPerNumber: Int64 = 1
    /// After so many numbers it begins anew.
    var cycle: Int64
    /// The n of a sample that begins the cycle.
    var phase: Int64 = 0
    /// The numbers of a cycle; empty for 0, 1, 2 and so on.
    var numbers: [Int64] = []

    func callAsFunction(_ n: Int64) -> Int64 {
        let position = (n - phase).floorDivided(by: samplesPerNumber)
        let inCycle = position - position.floorDivided(by: cycle) * cycle
        return numbers.isEmpty ? inCycle : numbers[Int(inCycle)]
    }
}
