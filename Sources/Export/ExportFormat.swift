import Storage

/// A file format that a recording can be exported to.
///
/// A format is a folder of this target and a line of ``allCases``: commands, help texts and tests follow that list.
package struct ExportFormat: Sendable {
    /// All formats, in the order in which people read of them.
    package static let allCases: [ExportFormat] = [
        .edf, .bdf, .csv, .sqlite, .xdf, .set, .brainvision, .parquet, .bids,
    ]

    /// What `eegsync export --format` calls it.
    package let rawValue: String
    /// How the name of the file ends that people open; for most formats as the format is called.
    package let ending: String
    /// A sentence about it for people.
    package let summary: String
    /// True where a file is always the whole recording, taken in one transaction, so that no part can be chosen.
    package let isWholeRecording: Bool
    /// True where the path is that of a directory, to which the recording is added.
    package let isDirectory: Bool
    /// True where an export is several files that name each other, so that the name that people open must end as they expect.
    package let hasCompanions: Bool
    /// What can be done with missing samples, the usual first; empty where nothing can be chosen.
    package let gapTreatments: [GapTreatment]
    /// Makes what writes the files.
    let makeExport: @Sendable (ExportJob) -> any RecordingExport

    init(
        _ name: String, ending: String? = nil, summary: String, isWholeRecording: Bool = false, isDirectory: Bool = false,
        hasCompanions: Bool = false, gapTreatments: [GapTreatment] = [],
        makeExport: @escaping @Sendable (ExportJob) -> any RecordingExport
    ) {
        rawValue = name
        self.ending = ending ?? name
        self.summary = summary
        self.isWholeRecording = isWholeRecording
        self.isDirectory = isDirectory
        self.hasCompanions = hasCompanions
        self.gapTreatments = gapTreatments
        self.makeExport = makeExport
    }
}

extension ExportFormat: RawRepresentable, CaseIterable, Hashable {
    /// The format of a name; nil where there is none.
    package init?(rawValue: String) {
        guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = format
    }

    /// The format whose files end so; nil where there is none.
    package init?(ending: String) {
        guard let format = Self.allCases.first(where: { $0.ending == ending }) else { return nil }
        self = format
    }
}

/// One export of a recording to one format.
struct ExportJob {
    /// What is asked for.
    var request: ExportRequest
    /// The database that the recording is in.
    var store: any Store
    /// The recording as it was when the export began, and of it no more than was selected: its contents are those of the
    /// selection, and its rows have the selected channels.
    var reader: RecordingReader
    /// Called between writing and reading back; tests plant defects here.
    var afterWriting: (_ temporaryPath: String) throws -> Void
}

/// What writes the files of one format.
protocol RecordingExport {
    /// Writes the files, each under a temporary name, reads them back and compares, and gives them their names.
    ///
    /// - Parameters:
    ///   - parts: the chosen streams that hold samples; at least one.
    ///   - progress: called now and then with the fraction done, 0 ... 1.
    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport
}
