import Headsets
import Storage

/// The JSON file beside a table of another tool's layout.
struct DialectSidecar: SidecarDocument, Hashable {
    /// What a column holds.
    struct Column: Codable, Hashable {
        var name: String
        /// `channel`, `held channel`, `index`, `time`, `marker`, `event`, or `constant`: nobody knows the value.
        var holds: String
        var stream: String?
        var channel: String?
        /// Of the number in the column: scale × raw + offset.
        var scale: Double?
        var offset: Double?
    }

    /// A stream of which the table holds samples.
    struct Stream: Codable, Hashable {
        var name: String
        var samplingFrequency: Double
        var firstN: Int64
        var lastN: Int64
        var rowCount: Int64
        /// Within what all its times are right, but for the headset's constant delay; absent where that is not known.
        var timeUncertaintyMilliseconds: Double?
        var lossDetection: String
        /// What is missing: the table has no rows of it.
        var gaps: [GapDocument]
        var timeMap: [CSVSidecar.Segment]
        var chainHeads: [String: String]
    }

    /// The word behind `--dialect`.
    var dialect: String
    /// What the tool calls the layout.
    var layout: String
    var recording: Int64
    var headset: String
    var model: String
    var serialNumber: String?
    var label: String?
    var subject: String?
    var task: String?
    /// Of the times that are written as date and time.
    var timeZone = "UTC"
    var rowCount: Int64
    /// Values of single channels that rows lack.
    var missingValueCount: Int64
    var columns: [Column]
    /// That of the rows first.
    var streams: [Stream]
    /// The number of each annotation's text in the marker column; absent where annotations are rows.
    var markers: [String: Int64]?
    var annotations: [AnnotationDocument]
    var provenance: ProvenanceDocument

    init(contents: RecordingContents, dialect: TableDialect, table: DialectTable, written: DialectWriter.Written) {
        self.dialect = dialect.rawValue
        layout = table.layout
        recording = contents.id.rawValue
        headset = contents.headsetName
        model = contents.model
        serialNumber = contents.serialNumber
        label = contents.label
        subject = contents.subject
        task = contents.task
        rowCount = written.rowCount
        missingValueCount = written.missingCount
        columns = table.columns.map { Column($0, of: table) }
        streams = zip([table.stream] + table.held, [written.rowCount] + written.heldRowCounts).map { Stream($0, rowCount: $1) }
        markers = table.events == .numbered ? written.eventNumbers : nil
        annotations = contents.annotations.map { AnnotationDocument($0, of: contents) }
        provenance = ProvenanceDocument(contents.provenance)
    }
}

extension DialectSidecar.Column {
    fileprivate init(_ column: TableColumn, of table: DialectTable) {
        name = column.name
        var origin: (stream: JoinedStream, channel: Int)?
        switch column.content {
        case .constant: holds = "constant"
        case .index: holds = "index"
        case .unixSeconds, .dateTime: holds = "time"
        case .marker: holds = "marker"
        case .event: holds = "event"
        case .channel(let channel, _):
            holds = "channel"
            origin = (table.stream, channel)
        case .held(let index, let channel, _):
            holds = "held channel"
            origin = (table.held[index], channel)
        }
        stream = origin?.stream.name
        channel = origin.map { $0.stream.channels[$0.channel].name }
        scale = column.number?.scale
        offset = column.number?.offset
    }
}

extension DialectSidecar.Stream {
    fileprivate init(_ joined: JoinedStream, rowCount: Int64) {
        let clock = joined.clock
        name = joined.name
        samplingFrequency = joined.samplingFrequency
        firstN = joined.range.lowerBound
        lastN = joined.range.upperBound
        self.rowCount = rowCount
        timeUncertaintyMilliseconds = clock.timeUncertaintyNanoseconds(in: joined.range).map { $0 / 1e6 }
        lossDetection = clock.lossDetection
        gaps = joined.banks.flatMap { bank in bank.stream.gaps.map { GapDocument($0, of: bank.stream) } }
        timeMap = clock.segments.map(CSVSidecar.Segment.init)
        chainHeads = clock.chainHeads
    }
}
