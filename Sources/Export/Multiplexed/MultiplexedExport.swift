import Headsets
import Storage

/// Exports each stream as a file of bare samples, with files beside it that say what they are.
struct MultiplexedExport<Headers: MultiplexedHeaders>: RecordingExport {
    private let job: ExportJob
    private let headers: Headers
    private var request: ExportRequest { job.request }

    /// How much of an export's time writing takes, roughly.
    private static var writingShare: Double { 0.75 }

    init(_ job: ExportJob, _ headers: Headers) { (self.job, self.headers) = (job, headers) }

    /// The files of one stream: the bare samples, and by ending what is said of them; the one that people open has none.
    private struct Files {
        var main: PartialFile
        var data: PartialFile
        var further: [String: PartialFile]
        var sidecar: PartialFile
        var all: [PartialFile] { [data] + further.values + [sidecar, main] }
    }

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        var report = ExportReport()
        let streams = try JoinedStream.join(parts)
        // All names are looked at before hours are spent on the first file.
        let files = try streams.enumerated().map { index, stream in
            try self.files(index == 0 ? request.path : PartialFile.path(request.path, suffix: "_" + stream.name))
        }
        let weights = streams.map { Double($0.range.count) * Double($0.channels.count) }
        let total = max(1, weights.reduce(0, +))
        var done = 0.0
        for (index, stream) in streams.enumerated() {
            try write(stream, files[index], report: &report) { progress((done + $0 * weights[index]) / total) }
            done += weights[index]
        }
        return report
    }

    private func files(_ path: String) throws -> Files {
        func file(_ path: String) throws -> PartialFile {
            try PartialFile(path: path, replacesExisting: request.replacesExisting, sparing: job.store.path)
        }
        let base = path.hasSuffix("." + request.format.ending) ? String(path.dropLast(request.format.ending.count + 1)) : path
        var further: [String: PartialFile] = [:]
        for ending in Headers.furtherEndings { further[ending] = try file(base + "." + ending) }
        return Files(
            main: try file(path), data: try file(base + "." + Headers.dataEnding), further: further,
            sidecar: try file(FileSidecar.path(of: path)))
    }

    private func write(
        _ stream: JoinedStream, _ files: Files, report: inout ExportReport, progress: (Double) -> Void
    ) throws {
        let format = headers.format(of: stream)
        let writer = try MultiplexedWriter(
            stream, format: format, fills: request.gaps == .fill, reader: job.reader)
        let bytes = BinaryWriter(files.data)
        try writer.write(to: bytes) { progress($0 * Self.writingShare) }
        try files.data.synchronize()
        try job.afterWriting(files.data.temporaryPath)
        let found = try MultiplexedReader(path: files.data.temporaryPath, format: format).digest {
            progress(Self.writingShare + $0 * (1 - Self.writingShare))
        }
        guard found.counts == writer.digest, found.bytes == bytes.digest else {
            throw ExportError.verificationFailed(path: files.data.path, detail: "a sample differs")
        }
        var names = files.further.mapValues { PartialFile.split($0.path).name }
        names[Headers.dataEnding] = PartialFile.split(files.data.path).name
        let facts = MultiplexedFacts(
            contents: job.reader.contents, stream: stream, format: format, layout: writer.layout,
            name: PartialFile.split(files.main.path).name, names: names)
        for (ending, document) in try headers.documents(facts) {
            try write(document, to: ending.flatMap { files.further[$0] } ?? files.main)
        }
        let exported = exported(facts, writer)
        try files.sidecar.write(
            try FileSidecar(
                contents: facts.contents,
                start: writer.layout.pieces.first.flatMap { facts.unixNanoseconds(ofSample: $0.firstN) },
                streams: stream.banks.map { ($0.stream, exported) }
            ).bytes)
        try files.sidecar.synchronize()
        try TemporaryNames.publishTogether(files.main.path) {
            for file in files.all { try file.publish(replacesExisting: request.replacesExisting) }
        }
        note(facts, writer, name: stream.name, report: &report)
        report.files.append(
            ExportedFile(
                path: files.main.path, byteCount: files.all.reduce(0) { $0 + $1.byteCount },
                startUnixNanoseconds: writer.layout.pieces.first.flatMap { facts.unixNanoseconds(ofSample: $0.firstN) },
                streams: [exported]))
    }

    /// Writes a whole document and reads it back.
    private func write(_ document: [UInt8], to file: PartialFile) throws {
        let bytes = BinaryWriter(file)
        try bytes.append(document)
        try bytes.flush()
        try file.synchronize()
        try job.afterWriting(file.temporaryPath)
        let found = try BinaryReader(path: file.temporaryPath)
        while try !found.isAtEnd { _ = try found.number(UInt8.self) }
        guard found.digest == bytes.digest else {
            throw ExportError.verificationFailed(path: file.path, detail: "a byte differs")
        }
    }

    private func exported(_ facts: MultiplexedFacts, _ writer: MultiplexedWriter) -> ExportedStream {
        var exported = facts.stream.exported(rowCount: writer.sampleCount, filledCount: writer.filledCount)
        exported.maximumDeviationSeconds = facts.maximumDeviationSeconds
        return exported
    }

    private func note(_ facts: MultiplexedFacts, _ writer: MultiplexedWriter, name: String, report: inout ExportReport) {
        if writer.inexactCount > 0 {
            report.note(
                "Stream \(name): \(writer.inexactCount) values have more digits than the format holds, or are beyond its range."
            )
        }
        let outside = facts.contents.annotations.count - facts.annotations.count
        if outside > 0 {
            report.note(
                "Stream \(name): \(outside) annotations lie outside of its samples; they are in the JSON file beside it alone.")
        }
        if facts.stream.clock.segments.isEmpty {
            report.note("Stream \(name) has no times yet, and so no start.")
        }
    }
}
