import Storage

/// Exports tables of another tool's layout, each with a JSON file of what the layout cannot say.
struct DialectExport: RecordingExport {
    private let job: ExportJob
    private let dialect: TableDialect
    private var request: ExportRequest { job.request }

    init(_ job: ExportJob, dialect: TableDialect) {
        self.job = job
        self.dialect = dialect
    }

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        let contents = job.reader.contents
        let streams = try DialectStreams(parts, dialect: dialect, of: contents)
        let tables = try dialect.tables(streams, model: contents.model)
        guard !tables.isEmpty else { throw streams.nothingChosen }
        var report = ExportReport()
        let used = Set(tables.flatMap { [$0.stream.name] + $0.held.map(\.name) })
        for stream in streams.joined where !used.contains(stream.name) {
            report.note("The stream \(stream.name) does not fit into a table of \(dialect.tool) and is left out.")
        }
        // All names are looked at before hours are spent on the first file.
        let files = try tables.map { table in
            let path =
                table.suffix.isEmpty || tables.count == 1
                ? request.path : PartialFile.path(request.path, suffix: "_" + table.suffix)
            return (
                try PartialFile(path: path, replacesExisting: request.replacesExisting, sparing: job.store.path),
                try PartialFile(
                    path: CSVExport.sidecarPath(path), replacesExisting: request.replacesExisting, sparing: job.store.path)
            )
        }
        for (index, table) in tables.enumerated() {
            func advance(_ fraction: Double) { progress((Double(index) + fraction) / Double(tables.count)) }
            let (file, sidecar) = files[index]
            let written = try write(table, to: file, progress: advance)
            let document = DialectSidecar(contents: contents, dialect: dialect, table: table, written: written)
            try sidecar.write(try document.bytes)
            try sidecar.synchronize()
            try TemporaryNames.publishTogether(file.path) {
                try file.publish(replacesExisting: request.replacesExisting)
                try sidecar.publish(replacesExisting: request.replacesExisting)
            }
            note(table, written, in: &report)
            report.files.append(exported(table, file, written))
        }
        return report
    }

    /// Writes a table and compares what is read back.
    private func write(
        _ table: DialectTable, to file: PartialFile, progress: (Double) -> Void
    ) throws -> DialectWriter.Written {
        let writer = DialectWriter(table: table, annotations: job.reader.contents.annotations, reader: job.reader)
        let written = try writer.write(to: file) { progress($0 * 0.7) }
        try file.synchronize()
        try job.afterWriting(file.temporaryPath)
        let check = try DialectReader(path: file.temporaryPath, table: table).digest { progress(0.7 + $0 * 0.3) }
        guard check.header == table.header, check.values == written.values, check.bytes == written.bytes else {
            throw ExportError.verificationFailed(path: file.path, detail: "a row differs")
        }
        return written
    }

    private func note(_ table: DialectTable, _ written: DialectWriter.Written, in report: inout ExportReport) {
        table.notes.forEach { report.note($0) }
        if written.missingCount > 0, table.missing == .valueBefore {
            report.note(
                "\(written.missingCount) missing values of single channels hold the value before, as \(dialect.tool) has it; "
                    + "the JSON file lists them.")
        }
        if table.events == .numbered, written.restCount > 0 {
            report.note("\(written.restCount) annotations lie behind the last row; the JSON file has them.")
        }
    }

    private func exported(_ table: DialectTable, _ file: PartialFile, _ written: DialectWriter.Written) -> ExportedFile {
        ExportedFile(
            path: file.path, byteCount: file.byteCount,
            startUnixNanoseconds: table.stream.clock.unixNanoseconds(ofSample: table.stream.range.lowerBound),
            streams: [table.stream.exported(rowCount: written.rowCount)]
                + zip(table.held, written.heldRowCounts).map { $0.exported(rowCount: $1) })
    }
}
