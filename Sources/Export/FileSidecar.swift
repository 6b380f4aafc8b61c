import Headsets
import Storage

/// The JSON file beside a file of samples: what its header has no room for.
struct FileSidecar: SidecarDocument, Hashable {
    /// A stream that is in the file.
    struct Stream: Codable, Hashable {
        var name: String
        var firstN: Int64
        var lastN: Int64
        var rowCount: Int64
        /// What shows that a sample is missing: `counter`, `mark`, `clock` or `nothing`.
        var lossDetection: String
        /// The first sample's time less its position in the file, in seconds.
        var gridOffsetSeconds: Double
        /// How far a sample's time and its position in the file are apart at most, in seconds.
        var maximumDeviationSeconds: Double
        /// What is missing, with its times in UTC.
        var gaps: [GapDocument]
        /// Digests of the last block of each chain of the recording's rows, in hexadecimal; empty where there are none.
        var chainHeads: [String: String]
    }

    var recording: Int64
    var headset: String
    var model: String
    var serialNumber: String?
    /// UTC of the file's first instant; absent where the recording has no times.
    var start: String?
    /// The time zone that the header's start is written in.
    var startZone: String
    /// True where the samples were computed to lie at the nominal rate in UTC.
    var isResampledToClock: Bool
    var streams: [Stream]
    /// Those of the recording, also what is in other files of it; the file has their texts at their onsets.
    var annotations: [AnnotationDocument]
    var provenance: ProvenanceDocument

    /// - Parameters:
    ///   - start: UTC nanoseconds since 1970 of the file's first instant.
    ///   - startZone: the time zone that the header's start is written in; nil for UTC.
    ///   - streams: what of the recording is in the file.
    init(
        contents: RecordingContents, start: Int64?, startZone: String? = nil, isResampledToClock: Bool = false,
        streams: [(contents: StreamContents, exported: ExportedStream)]
    ) {
        recording = contents.id.rawValue
        headset = contents.headsetName
        model = contents.model
        serialNumber = contents.serialNumber
        self.start = start.map(CivilTime.iso8601)
        self.startZone = startZone ?? "UTC"
        self.isResampledToClock = isResampledToClock
        self.streams = streams.map { stream, exported in
            Stream(
                name: stream.description.bankName, firstN: exported.firstN, lastN: exported.lastN,
                rowCount: exported.rowCount, lossDetection: stream.lossDetection,
                gridOffsetSeconds: exported.gridOffsetSeconds, maximumDeviationSeconds: exported.maximumDeviationSeconds,
                gaps: stream.gaps.map { GapDocument($0, of: stream) }, chainHeads: stream.chainHeads)
        }
        annotations = contents.annotations.map { AnnotationDocument($0, of: contents) }
        provenance = ProvenanceDocument(contents.provenance)
    }

    /// `x.edf` has `x.edf.json`, so that a table `x.csv` may lie beside it with its `x.json`.
    static func path(of file: String) -> String { file + ".json" }
}
