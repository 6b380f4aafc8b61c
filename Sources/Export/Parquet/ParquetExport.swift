import Headsets
import Storage

extension ExportFormat {
    /// A directory of tables in columns, for DuckDB, Polars, Spark and their like.
    package static let parquet = ExportFormat(
        "parquet",
        summary:
            "Parquet adds the recording to a directory that DuckDB, Polars or Spark read as one table, by Python with pyarrow.",
        isDirectory: true
    ) { ParquetExport($0) }
}

/// Adds the rows of a recording to a directory of files of Parquet, partitioned by stream, recording and day.
struct ParquetExport: RecordingExport {
    private let job: ExportJob
    private var request: ExportRequest { job.request }
    private var contents: RecordingContents { job.reader.contents }

    /// Beside the files of a recording, what a table cannot say; readers of tables leave names with an underscore alone.
    static let sidecarName = "_eegsync.json"

    init(_ job: ExportJob) { self.job = job }

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        let program = try ArrowProgram(python: request.python)
        var path = request.path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        let dataset = try DatasetDirectory(path: path)
        do {
            let report = try add(parts, to: dataset, by: program, progress: progress)
            program.finish()
            return report
        } catch {
            dataset.removeIfEmpty()
            throw error
        }
    }

    private func add(
        _ parts: [StreamPart], to dataset: DatasetDirectory, by program: ArrowProgram, progress: (Double) -> Void
    ) throws -> ExportReport {
        let identity = try job.store.identity(of: contents.id)
        let streams = try JoinedStream.join(parts).map { joined in
            ParquetStream(stream: joined, values: request.values, program: program, texts: texts)
        }
        // A stream that the headset described anew comes twice under its name.
        var numbers: [String: Int] = [:]
        let directories = streams.map { stream in
            let name = Self.partition(stream.stream.name)
            numbers[name, default: 0] += 1
            let suffix = numbers[name] == 1 ? "" : "-\(numbers[name] ?? 1)"
            return "stream=\(name)\(suffix)/recording=\(identity)"
        }
        try dataset.locked { try check(directories, in: dataset) }
        let staging = try DatasetStaging(in: dataset.path)
        var report = ExportReport()
        var steps: [DatasetStaging.Step] = []
        for (index, stream) in streams.enumerated() {
            func advance(_ fraction: Double) { progress((Double(index) + fraction) / Double(streams.count)) }
            let directory = directories[index]
            let written = try stream.write(
                to: staging.path, prefix: staging.nextName("rows"), reader: job.reader
            ) { advance($0 * 0.6) }
            let paths = written.files.map { "\(staging.path)/\($0.name)" }
            for path in paths { try job.afterWriting(path) }
            guard try stream.digest(of: paths, progress: { advance(0.6 + $0 * 0.4) }) == written.digest else {
                throw ExportError.verificationFailed(path: "\(dataset.path)/\(directory)", detail: "a row differs")
            }
            let exported = stream.stream.exported(rowCount: written.rowCount)
            let start = stream.stream.clock.unixNanoseconds(ofSample: stream.stream.range.lowerBound)
            let sidecar = FileSidecar(
                contents: contents, start: start, streams: stream.stream.banks.map { ($0.stream, exported) })
            var ofDay: [String: Int] = [:]
            for file in written.files {
                let number = ofDay[file.day, default: 0]
                ofDay[file.day] = number + 1
                steps.append(
                    .publish(staged: file.name, path: "\(directory)/day=\(file.day)/part-\(number).parquet"))
            }
            steps.append(
                .publish(
                    staged: try staging.write(try sidecar.bytes, as: "sidecar.json"), path: "\(directory)/\(Self.sidecarName)"))
            report.files.append(
                ExportedFile(
                    path: "\(dataset.path)/\(directory)", byteCount: DatasetDirectory.byteCount(of: paths),
                    startUnixNanoseconds: start, streams: [exported]))
        }
        try dataset.locked {
            try check(directories, in: dataset)
            try staging.publish(steps + removals(directories, in: dataset, but: steps))
        }
        return report
    }

    /// What is said in each row, so that a study's table can be asked for it.
    private var texts: [String: String] {
        var texts = ["headset": contents.headsetName, "number": String(contents.id.rawValue)]
        texts["subject"] = contents.subject
        texts["task"] = contents.task
        // A study's files have the same columns, whatever was said of a recording.
        for name in ["subject", "task"] where texts[name] == nil { texts[name] = "" }
        return texts
    }

    /// Throws where the recording is there already and is not to be replaced.
    private func check(_ directories: [String], in dataset: DatasetDirectory) throws {
        guard !request.replacesExisting else { return }
        for directory in directories where !DatasetDirectory.names(in: "\(dataset.path)/\(directory)").isEmpty {
            throw ExportError.exists(path: "\(dataset.path)/\(directory)")
        }
    }

    /// The recording's earlier files, but for those that are replaced in the same go.
    private func removals(
        _ directories: [String], in dataset: DatasetDirectory, but steps: [DatasetStaging.Step]
    ) -> [DatasetStaging.Step] {
        let published = Set(
            steps.compactMap { step -> String? in
                guard case .publish(_, let path) = step else { return nil }
                return path
            })
        return directories.flatMap { directory in
            DatasetDirectory.names(in: "\(dataset.path)/\(directory)").filter { $0.hasPrefix("day=") }.flatMap { day in
                DatasetDirectory.names(in: "\(dataset.path)/\(directory)/\(day)").map { "\(directory)/\(day)/\($0)" }
            }
        }.filter { !published.contains($0) }.map { .remove(path: $0) }
    }

    /// A stream's name as the value of a partition, which is part of a path.
    static func partition(_ name: String) -> String {
        let clean = name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") ? $0 : "-" }
        return clean.isEmpty ? "stream" : String(clean)
    }
}
