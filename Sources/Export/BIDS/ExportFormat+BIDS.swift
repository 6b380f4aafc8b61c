import Storage

extension ExportFormat {
    /// A dataset of the Brain Imaging Data Structure, to which a recording is added.
    package static let bids = ExportFormat(
        "bids",
        summary:
            "BIDS adds the recording to a dataset, a directory that is made where there is none: EEG as EDF+ or BDF+, motion "
            + "and optical sensors as tables.",
        isDirectory: true
    ) { BIDSExport($0) }
}
