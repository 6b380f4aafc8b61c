import Headsets
import Storage

/// The JSON file beside a table: what a person or a script must know to use the table.
struct CSVSidecar: SidecarDocument, Hashable {
    struct Channel: Codable, Hashable {
        var name: String
        var type: String
        var unit: String
        /// Physical value = scale × raw + offset.
        var scale: Double
        var offset: Double
    }

    struct Segment: Codable, Hashable {
        var firstN: Int64
        var lastN: Int64
        var referenceN: Int64
        var referenceUnixNanoseconds: Int64
        var periodNanoseconds: Double
        /// Within what its times are right, but for the headset's constant delay; absent where that is not known.
        var uncertaintyNanoseconds: Double?
    }

    var recording: Int64
    var headset: String
    var model: String
    var serialNumber: String?
    var label: String?
    var subject: String?
    var task: String?
    var stream: String
    var bank: Int
    var samplingFrequency: Double
    /// `physical` or `raw`.
    var values: String
    var firstN: Int64
    var lastN: Int64
    var rowCount: Int64
    var missingRowCount: Int64
    /// Within what all times of the table are right, but for the headset's constant delay; absent where that is not known.
    var timeUncertaintyMilliseconds: Double?
    /// What shows that a sample is missing: `counter`, `mark`, `clock` or `nothing`.
    var lossDetection: String
    var channels: [Channel]
    var gaps: [GapDocument]
    var annotations: [AnnotationDocument]
    var timeMap: [Segment]
    /// Digests of the last block of each chain of the recording's rows, in hexadecimal; empty where there are none.
    var chainHeads: [String: String]
    var provenance: ProvenanceDocument

    init(
        contents: RecordingContents, stream: StreamContents, range: ClosedRange<Int64>, values: TableValues,
        written: CSVWriter.Written
    ) {
        recording = contents.id.rawValue
        headset = contents.headsetName
        model = contents.model
        serialNumber = contents.serialNumber
        label = contents.label
        subject = contents.subject
        task = contents.task
        self.stream = stream.description.name
        bank = stream.description.bank
        samplingFrequency = stream.description.samplingFrequency
        self.values = values.rawValue
        firstN = range.lowerBound
        lastN = range.upperBound
        rowCount = written.rowCount
        missingRowCount = written.missingRowCount
        timeUncertaintyMilliseconds = stream.timeUncertaintyNanoseconds(in: range).map { $0 / 1e6 }
        lossDetection = stream.lossDetection
        let channels = stream.description.channels
        self.channels = channels.map {
            Channel(name: $0.name, type: $0.type, unit: $0.unit, scale: $0.scale, offset: $0.offset)
        }
        gaps = stream.gaps.map { GapDocument($0, of: stream) }
        annotations = contents.annotations.map { AnnotationDocument($0, of: contents) }
        timeMap = stream.segments.map(Segment.init)
        chainHeads = stream.chainHeads
        provenance = ProvenanceDocument(contents.provenance)
    }
}

extension CSVSidecar.Segment {
    init(_ segment: TimeSegment) {
        self.init(
            firstN: segment.firstN, lastN: segment.lastN, referenceN: segment.referenceN,
            referenceUnixNanoseconds: segment.referenceUnixNanoseconds, periodNanoseconds: segment.periodNanoseconds,
            uncertaintyNanoseconds: segment.uncertaintyNanoseconds)
    }
}
