import Storage

extension ExportFormat {
    /// One table a stream, with a JSON file of everything that a table cannot say.
    package static let csv = ExportFormat("csv", summary: "CSV leaves cells of missing samples empty.") { job in
        if let dialect = job.request.dialect { DialectExport(job, dialect: dialect) } else { CSVExport(job) }
    }
}

/// Exports streams as tables, one file and one sidecar each.
struct CSVExport: RecordingExport {
    private let job: ExportJob
    private var request: ExportRequest { job.request }
    private var reader: RecordingReader { job.reader }

    init(_ job: ExportJob) { self.job = job }

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        var report = ExportReport()
        let paths = parts.map { parts.count == 1 ? request.path : PartialFile.path(request.path, suffix: "_" + $0.name) }
        // All names are looked at before hours are spent on the first file.
        let files = try paths.map { path in
            (
                try PartialFile(path: path, replacesExisting: request.replacesExisting, sparing: job.store.path),
                try PartialFile(
                    path: Self.sidecarPath(path), replacesExisting: request.replacesExisting, sparing: job.store.path)
            )
        }
        for (index, part) in parts.enumerated() {
            let (table, sidecar) = files[index]
            func advance(_ fraction: Double) { progress((Double(index) + fraction) / Double(parts.count)) }
            let writer = try CSVWriter(stream: part.stream, range: part.range, values: request.values, reader: reader)
            let written = try writer.write(to: table) { advance($0 * 0.7) }
            try table.synchronize()
            try job.afterWriting(table.temporaryPath)
            let check = try CSVReader(path: table.temporaryPath, numbers: writer.numbers).digest { advance(0.7 + $0 * 0.3) }
            guard check.header == writer.headerRow, check.values == written.values, check.bytes == written.bytes else {
                throw ExportError.verificationFailed(path: table.path, detail: "a row differs")
            }
            let document = CSVSidecar(
                contents: reader.contents, stream: part.stream, range: part.range, values: request.values, written: written)
            try sidecar.write(try document.bytes)
            try sidecar.synchronize()
            try TemporaryNames.publishTogether(table.path) {
                try table.publish(replacesExisting: request.replacesExisting)
                try sidecar.publish(replacesExisting: request.replacesExisting)
            }
            report.files.append(
                ExportedFile(
                    path: table.path, byteCount: table.byteCount,
                    startUnixNanoseconds: part.stream.unixNanoseconds(ofSample: part.range.lowerBound),
                    streams: [
                        ExportedStream(
                            name: part.name, firstN: part.range.lowerBound, lastN: part.range.upperBound,
                            rowCount: written.rowCount, filledCount: written.missingRowCount, gridOffsetSeconds: 0,
                            maximumDeviationSeconds: 0, timeUncertaintySeconds: part.timeUncertaintySeconds)
                    ]))
        }
        return report
    }

    /// `x.csv` has `x.json`.
    static func sidecarPath(_ path: String) -> String {
        let (_, name) = PartialFile.split(path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex, !name.hasSuffix(".json") else { return path + ".json" }
        return path.dropLast(name.distance(from: dot, to: name.endIndex)) + ".json"
    }
}
