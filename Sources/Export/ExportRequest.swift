/// What is done with samples that are missing: in EDF+ and BDF+, and in other formats as far as they can.
///
/// The raw values are those of `eegsync export --gaps`.
package enum GapTreatment: String, Hashable, Sendable, CaseIterable {
    /// One continuous file (`EDF+C`); missing samples hold the edge value and are annotated `BAD_ACQ_SKIP`.
    case fill
    /// One continuous file for each unbroken segment: `name_run-01.edf`, `name_run-02.edf`, ...; in XDF a stream of the file.
    case segments
    /// One discontinuous file (`EDF+D`): data records without any sample are left out, the others carry their true onset.
    /// Other formats leave out the missing samples alone.
    case discontinuous
}

/// What the cells of an exported table hold. The raw values are those of `eegsync export --values`.
package enum TableValues: String, Hashable, Sendable, CaseIterable {
    /// Physical values in the channel's unit.
    case physical
    /// The headset's own counts.
    case raw
}

/// What is to be exported, and how.
package struct ExportRequest: Hashable, Sendable {
    package var format: ExportFormat
    /// Where the file goes. Several streams of CSV, further kinds of streams of EDF+ and BDF+, and several segments add a
    /// suffix before the extension.
    package var path: String
    /// Which part of the recording; a database always holds all. Writers of files need not look at it: the reader and the parts
    /// that they are given are of the selection.
    package var selection: ExportSelection
    /// One of those that the format has; the first of them unless it is chosen.
    package var gaps: GapTreatment
    /// For CSV and Parquet.
    package var values: TableValues
    /// For CSV: whose tables are written; nil for eegsync's own.
    package var dialect: TableDialect?
    /// For EDF+ and BDF+: true for one file of all streams, instead of one for each kind of stream.
    package var isTogether: Bool
    /// For EDF+ and BDF+: true to compute samples that lie at the nominal rate in UTC, by the time map.
    package var resamplesToClock: Bool
    /// For EDF+ and BDF+: the identifier of the time zone that the header's start is written in; nil for UTC.
    package var startZone: String?
    /// For Parquet: the Python that has pyarrow, a path or a name.
    package var python: String
    /// True to replace existing files.
    package var replacesExisting: Bool

    package init(
        format: ExportFormat, path: String, selection: ExportSelection = ExportSelection(), gaps: GapTreatment? = nil,
        values: TableValues = .physical, dialect: TableDialect? = nil, isTogether: Bool = false, resamplesToClock: Bool = false,
        startZone: String? = nil, python: String = "python3", replacesExisting: Bool = false
    ) {
        self.format = format
        self.path = path
        self.selection = selection
        self.gaps = gaps ?? format.gapTreatments.first ?? .fill
        self.values = values
        self.dialect = dialect
        self.isTogether = isTogether
        self.resamplesToClock = resamplesToClock
        self.startZone = startZone
        self.python = python
        self.replacesExisting = replacesExisting
    }
}
