import Storage

/// Adds a recording to a dataset of the Brain Imaging Data Structure, which is made where there is none.
///
/// Everything is written, read back and compared in a hidden directory of the dataset; then, while no other export changes the
/// dataset, the files get their names and the dataset's tables their rows.
struct BIDSExport: RecordingExport {
    private let job: ExportJob
    private var request: ExportRequest { job.request }
    private var contents: RecordingContents { job.reader.contents }

    init(_ job: ExportJob) { self.job = job }

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        guard request.gaps == .fill else {
            throw ExportError.notRepresentable(
                what: "Gaps as `\(request.gaps.rawValue)`", reason: "a dataset has them filled and marked",
                advice: "Leave --gaps out.")
        }
        let entities = try BIDSEntities(contents)
        let recording = BIDSRecording(
            contents: contents, entities: entities, facts: try job.store.electrodeFacts(of: contents.id))
        var path = request.path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        let dataset = try BIDSDataset(path: path)
        do {
            return try add(recording, parts, to: dataset, progress: progress)
        } catch {
            dataset.removeIfEmpty()
            throw error
        }
    }

    private func add(
        _ recording: BIDSRecording, _ parts: [StreamPart], to dataset: BIDSDataset, progress: (Double) -> Void
    ) throws -> ExportReport {
        var report = ExportReport()
        let publication = BIDSPublication(
            recording: recording, dataset: dataset, replacesEarlier: request.replacesExisting)
        // Looked at before hours are spent on the rows, and once more in the end.
        try dataset.locked { try publication.check() }
        if contents.task == nil {
            report.note(
                "Nobody has said the task: it is `\(BIDSEntities.unspecifiedTask)` in the dataset. "
                    + "`eegsync recordings edit \(contents.id.rawValue) --task NAME` says it for the next export.")
        }
        let staging = try DatasetStaging(in: dataset.path)
        let pieces = BIDSDivision(parts).pieces
        let starts = pieces.map { piece in
            (piece.eeg + piece.motion + piece.physiology).compactMap {
                $0.stream.unixNanoseconds(ofSample: $0.range.lowerBound)
            }
            .min() ?? .min
        }
        var runs: [BIDSRun] = []
        for (index, piece) in pieces.enumerated() {
            // An annotation belongs to the last piece that begins at or before it; an earlier one to the first.
            let own = contents.annotations.filter { annotation in
                (starts.lastIndex { $0 <= annotation.onsetUnixNanoseconds } ?? 0) == index
            }
            var writer = BIDSRunWriter(job: job, recording: recording, staging: staging) { _ in own }
            runs += try writer.write(piece, report: &report) {
                progress((Double(index) + $0) / Double(pieces.count) * 0.99)
            }
        }
        report.files = try dataset.locked { try publication.publish(runs, from: staging) }
        return report
    }
}
