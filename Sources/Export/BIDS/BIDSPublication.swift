import Storage

/// Gives the files of a recording their names in a dataset, and the dataset's tables their rows. The dataset's lock is held.
///
/// Nothing of another recording is ever replaced: a run takes the next number that is free. An earlier export of the same
/// recording, which the table of scans knows by the recording's identifier, is replaced only on request.
struct BIDSPublication {
    let recording: BIDSRecording
    let dataset: BIDSDataset
    let replacesEarlier: Bool

    private var entities: BIDSEntities { recording.entities }
    private var scansPath: String { "\(entities.directory)/\(entities.sessionPrefix)_scans.tsv" }

    private static let recordingColumn = "recording"

    /// Throws where the recording cannot be added.
    func check() throws {
        let earlier = earlierExports()
        let files = earlier.flatMap(\.files)
        if !replacesEarlier,
            let file = files.first(where: { $0.hasSuffix("_eeg.edf") || $0.hasSuffix("_eeg.bdf") }) ?? files.first
        {
            throw ExportError.exists(path: "\(dataset.path)/\(file)")
        }
        if let table = dataset.table("participants.tsv") {
            let row = table.rows.first { table.cell($0, "participant_id") == "sub-\(entities.subject)" }
            let code = row.flatMap { table.cell($0, "code") }
            if let code, code != BIDSTable.notAvailable, code != BIDSTable.cell(recording.contents.subject) {
                throw ExportError.notRepresentable(
                    what: "The subject '\(recording.contents.subject ?? "")'",
                    reason: "sub-\(entities.subject) is '\(code)' in the dataset: names keep only letters and digits",
                    advice: "Give one of the two another code: "
                        + "`eegsync recordings edit \(recording.contents.id.rawValue) --subject ...`."
                )
            }
        }
        if let run = entities.run, usedRuns(without: Set(files)).contains(run) {
            throw ExportError.notRepresentable(
                what: "Run \(run) of sub-\(entities.subject)", reason: "the dataset has that run of another recording",
                advice: "Say another one, or none for the next that is free: "
                    + "`eegsync recordings edit \(recording.contents.id.rawValue) --run ...`.")
        }
    }

    /// Publishes the runs. Returns what the report says of their files.
    func publish(_ runs: [BIDSRun], from staging: DatasetStaging) throws -> [ExportedFile] {
        try check()
        let earlier = earlierExports()
        let removed = Set(earlier.flatMap(\.files))
        var steps = try stepsForDescription(staging)
        var scans = scansTable(without: removed)
        var files: [ExportedFile] = []
        var published: Set<String> = []
        for (run, number) in zip(runs, numbers(runs.count, used: usedRuns(without: removed))) {
            for file in run.files {
                let name = "\(file.datatype)/\(entities.prefix(run: number, trackingSystem: file.trackingSystem))\(file.suffix)"
                let path = "\(entities.directory)/\(name)"
                steps.append(.publish(staged: file.staged, path: path))
                published.insert(path)
                guard var exported = file.exported else { continue }
                exported.path = "\(dataset.path)/\(path)"
                files.append(exported)
                guard file.isScan else { continue }
                scans.append([
                    ("filename", name), ("acq_time", exported.startUnixNanoseconds.map(CivilTime.iso8601)),
                    (Self.recordingColumn, recording.identity),
                ])
            }
        }
        steps += try stepsForElectrodes(runs, staging)
        steps.append(.publish(staged: try staging.write(scans.bytes, as: "scans.tsv"), path: scansPath))
        steps.append(
            .publish(
                staged: try staging.write(try BIDSDescription.scans.document, as: "scans.json"),
                path: String(scansPath.dropLast(3)) + "json"))
        for export in earlier where export.path != scansPath { steps += try stepsForEmptied(export, staging) }
        steps += try stepsForParticipants(staging)
        steps += removed.subtracting(published).sorted().map { .remove(path: $0) }
        try staging.publish(steps)
        return files
    }

    /// Files of earlier exports of this recording, by the table of scans that knows them; paths are relative to the dataset.
    private func earlierExports() -> [EarlierExport] {
        var found: [EarlierExport] = []
        for path in dataset.scansTables {
            guard let table = dataset.table(path) else { continue }
            let directory = PartialFile.split(path).directory
            let rows = table.rows.filter { table.cell($0, Self.recordingColumn) == recording.identity }
            // All files of a run share what stands before the last parts of the scan's name.
            let prefixes = Set(
                rows.compactMap { row in
                    BIDSEntities.runPrefix(ofFile: PartialFile.split(table.cell(row, "filename") ?? "").name)
                })
            var files: [String] = []
            for datatype in Self.datatypes {
                for name in DatasetDirectory.names(in: "\(dataset.path)/\(directory)/\(datatype)") {
                    guard let prefix = BIDSEntities.runPrefix(ofFile: name), prefixes.contains(prefix) else { continue }
                    files.append("\(directory)/\(datatype)/\(name)")
                }
            }
            if !files.isEmpty { found.append(EarlierExport(path: path, table: table, files: files)) }
        }
        return found
    }

    /// What an earlier export of the recording has left in one session.
    private struct EarlierExport {
        /// The table of scans, and its path.
        var path: String
        var table: BIDSTable
        /// The recording's files.
        var files: [String]
    }

    private static let datatypes = ["eeg", "motion", "beh"]

    /// The runs of this subject, session and task that the dataset has, but for some files.
    private func usedRuns(without removed: Set<String>) -> Set<Int> {
        Set(
            Self.datatypes.flatMap { datatype in
                let directory = "\(entities.directory)/\(datatype)"
                return DatasetDirectory.names(in: "\(dataset.path)/\(directory)")
                    .filter { !removed.contains("\(directory)/\($0)") }.compactMap(entities.run(ofFile:))
            })
    }

    /// Free numbers, ascending: from the run that a person has said, else from 1.
    private func numbers(_ count: Int, used: Set<Int>) -> [Int] {
        var numbers: [Int] = []
        var next = entities.run ?? 1
        while numbers.count < count {
            if !used.contains(next) { numbers.append(next) }
            next += 1
        }
        return numbers
    }

    private func scansTable(without removed: Set<String>) -> BIDSTable {
        var table = dataset.table(scansPath) ?? BIDSTable(columns: ["filename", "acq_time", Self.recordingColumn])
        table.rows = table.rows.filter { row in
            !removed.contains("\(entities.directory)/\(table.cell(row, "filename") ?? "")")
        }
        return table
    }
}

extension BIDSPublication {
    /// What a dataset has once, where it is not there yet.
    private func stepsForDescription(_ staging: DatasetStaging) throws -> [DatasetStaging.Step] {
        let name = PartialFile.split(dataset.path).name
        var steps: [DatasetStaging.Step] = []
        if !dataset.contains(BIDSDataset.descriptionName) {
            let document = try BIDSDescription.description(name: name, recording: recording).document
            steps.append(
                .publish(staged: try staging.write(document, as: "description.json"), path: BIDSDataset.descriptionName))
        }
        if !["README", "README.md", "README.rst", "README.txt"].contains(where: dataset.contains) {
            steps.append(
                .publish(staged: try staging.write(BIDSDescription.readme(name: name), as: "README"), path: "README.md"))
        }
        return steps
    }

    private func stepsForParticipants(_ staging: DatasetStaging) throws -> [DatasetStaging.Step] {
        var steps: [DatasetStaging.Step] = []
        if !dataset.contains("participants.json"), !dataset.contains("participants.tsv") {
            let document = try BIDSDescription.participants.document
            steps.append(
                .publish(staged: try staging.write(document, as: "participants.json"), path: "participants.json"))
        }
        let row = recording.participant
        var table = dataset.table("participants.tsv") ?? BIDSTable(columns: row.map(\.column))
        guard !table.rows.contains(where: { table.cell($0, "participant_id") == row[0].text }) else { return steps }
        table.append(row)
        steps.append(
            .publish(staged: try staging.write(table.bytes, as: "participants.tsv"), path: "participants.tsv"))
        return steps
    }

    /// Positions and impedances hold for a session: a table for all its runs.
    private func stepsForElectrodes(_ runs: [BIDSRun], _ staging: DatasetStaging) throws -> [DatasetStaging.Step] {
        let beginning = "\(entities.directory)/eeg/\(entities.sessionPrefix)"
        let path = "\(beginning)_space-CapTrak_electrodes.tsv"
        let known = dataset.table(path)
        var table = known
        for electrodes in runs.compactMap(\.electrodes) {
            table = electrodes.electrodeTable(kilohms: recording.facts.kilohms, keeping: table)
        }
        guard let table, table != known else { return [] }
        return [
            .publish(staged: try staging.write(table.bytes, as: "electrodes.tsv"), path: path),
            .publish(
                staged: try staging.write(try BIDSEEGDocument.coordinateSystem.document, as: "coordsystem.json"),
                path: "\(beginning)_space-CapTrak_coordsystem.json"),
        ]
    }

    /// The table of scans of a session in which the recording was before it was called otherwise.
    private func stepsForEmptied(_ export: EarlierExport, _ staging: DatasetStaging) throws -> [DatasetStaging.Step] {
        let directory = PartialFile.split(export.path).directory
        var left = export.table
        left.rows.removeAll { row in
            export.files.contains("\(directory)/\(export.table.cell(row, "filename") ?? "")")
        }
        guard left.rows.isEmpty else {
            return [.publish(staged: try staging.write(left.bytes, as: "scans.tsv"), path: export.path)]
        }
        let ofSession = DatasetDirectory.names(in: "\(dataset.path)/\(directory)/eeg").filter { $0.contains("_space-CapTrak_") }
        return [.remove(path: export.path), .remove(path: String(export.path.dropLast(3)) + "json")]
            + ofSession.map { .remove(path: "\(directory)/eeg/\($0)") }
    }
}
