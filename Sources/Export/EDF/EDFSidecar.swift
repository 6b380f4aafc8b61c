import Foundation
import Headsets
import Storage

/// The JSON file beside an EDF+ or BDF+ file: what the header has no room for.
struct EDFSidecar: Codable, Hashable {
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
        /// Digests of the last block of each chain of the recording's rows, in hexadecimal; empty where there are none.
        var chainHeads: [String: String]
    }

    var recording: Int64
    var headset: String
    var model: String
    var serialNumber: String?
    var streams: [Stream]
    /// Those of the recording, also what is in other files of it; the file has their texts at their onsets.
    var annotations: [AnnotationDocument]
    var provenance: ProvenanceDocument

    init(contents: RecordingContents, exported: [ExportedStream]) {
        recording = contents.id.rawValue
        headset = contents.headsetName
        model = contents.model
        serialNumber = contents.serialNumber
        streams = exported.map { exported in
            let stream = contents.streams.first { $0.description.bankName == exported.name }
            return Stream(
                name: exported.name, firstN: exported.firstN, lastN: exported.lastN, rowCount: exported.rowCount,
                lossDetection: stream?.lossDetection ?? "nothing", gridOffsetSeconds: exported.gridOffsetSeconds,
                maximumDeviationSeconds: exported.maximumDeviationSeconds, chainHeads: stream?.chainHeads ?? [:])
        }
        annotations = contents.annotations.map { AnnotationDocument($0, of: contents) }
        provenance = ProvenanceDocument(contents.provenance)
    }

    /// `x.edf` has `x.edf.json`, so that a table `x.csv` may lie beside it with its `x.json`.
    static func path(of file: String) -> String { file + ".json" }

    /// The document as it stands in the file.
    var bytes: [UInt8] {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
        }
    }
}
