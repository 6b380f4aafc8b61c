import Headsets
package import Storage

extension ExportFormat {
    /// EDF+, 16 bits a sample.
    package static let edf = ExportFormat(
        "edf",
        summary: "EDF+ and BDF+ hold the last value over a gap and annotate it BAD_ACQ_SKIP, which MNE-Python leaves out by "
            + "itself. --gaps segments writes a file for each unbroken piece, --gaps discontinuous one EDF+D, which few "
            + "readers understand.", gapTreatments: GapTreatment.allCases
    ) { EDFExport($0, .edf) }

    /// BDF+, 24 bits a sample.
    package static let bdf = ExportFormat(
        "bdf", summary: "BDF+ has 24 bits a sample, EDF+ 16.", gapTreatments: GapTreatment.allCases
    ) { EDFExport($0, .bdf) }

    /// The format of the EDF family that holds every raw value of a recording: BDF+ for headsets beyond 16 bits, else EDF+.
    package static func lossless(for contents: RecordingContents) -> ExportFormat {
        lossless(for: contents.streams.flatMap(\.description.channels))
    }

    /// The same for some of a recording's streams.
    static func lossless(for parts: [StreamPart]) -> ExportFormat {
        lossless(for: parts.flatMap(\.stream.description.channels))
    }

    private static func lossless(for channels: [ChannelDescription]) -> ExportFormat {
        channels.contains { Int64($0.rawMaximum) - Int64($0.rawMinimum) > 0xFFFF } ? .bdf : .edf
    }
}
