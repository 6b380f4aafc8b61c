import Headsets
import Storage

extension ExportFormat {
    /// The recording as a database of its own, with the same tables and views.
    package static let sqlite = ExportFormat(
        "sqlite", summary: "sqlite is a database of its own, with this recording and the same views.", isWholeRecording: true
    ) { DatabaseExport($0) }
}

/// Exports a recording as a database of its own, and compares every row with the original.
struct DatabaseExport: RecordingExport {
    private let job: ExportJob
    private var request: ExportRequest { job.request }
    private var reader: RecordingReader { job.reader }

    init(_ job: ExportJob) { self.job = job }

    private static let rowsPerChunk = 16_384
    /// What a row of eight channels of 24 bits takes in a database, measured.
    private static let bytesPerRow: Int64 = 47

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        guard request.selection.isWhole else {
            throw ExportError.notRepresentable(
                what: "A part of a recording", reason: "a database holds the whole recording",
                advice: "Leave out --from, --to, --streams and --channels, or choose another format.")
        }
        // SQLite writes into an empty file that is there.
        let file = try PartialFile(
            path: request.path, replacesExisting: request.replacesExisting, isNamed: true, isDatabase: true,
            sparing: job.store.path)
        try file.requireRoom(for: Self.bytesPerRow * parts.reduce(0) { $0 + $1.stream.rowCount })
        let originals = try copy(to: file.temporaryPath)
        file.measure()
        try file.synchronize()
        try job.afterWriting(file.temporaryPath)
        progress(0.6)
        var rowCounts: [Int64] = []
        do {
            let copy = try ReadOnlyStore(path: file.temporaryPath, hostBoot: job.store.hostBoot)
            let copied = try copy.reader(of: reader.contents.id)
            guard copied.contents == reader.contents else { throw failure("what it says of the recording differs") }
            for part in parts {
                guard try digest(of: part, from: copied) == originals[part.stream.id, default: SampleDigest()] else {
                    throw failure("a row differs")
                }
                rowCounts.append(part.stream.rowCount)
                progress(0.6 + 0.4 * Double(rowCounts.count) / Double(parts.count))
            }
        } catch let error as StorageError {
            throw failure("\(error)")
        }
        try file.publish(replacesExisting: request.replacesExisting)
        var report = ExportReport()
        report.files = [
            ExportedFile(
                path: request.path, byteCount: file.byteCount, startUnixNanoseconds: reader.contents.startUnixNanoseconds,
                streams: zip(parts, rowCounts).map { part, rowCount in
                    ExportedStream(
                        name: part.name, firstN: part.range.lowerBound, lastN: part.range.upperBound, rowCount: rowCount,
                        filledCount: 0, gridOffsetSeconds: 0, maximumDeviationSeconds: 0,
                        timeUncertaintySeconds: part.timeUncertaintySeconds)
                })
        ]
        return report
    }

    /// Copies the recording.
    ///
    /// - Returns: the checksums of its rows.
    private func copy(to path: String) throws -> [StreamID: SampleDigest] {
        var originals: [StreamID: SampleDigest] = [:]
        do throws(StorageError) {
            try reader.copy(to: path) { stream, chunk in Self.add(chunk, to: &originals[stream, default: SampleDigest()]) }
        } catch {
            guard case .constraint(let detail) = error else { throw error }
            // The copy has the schema of the original: a row that it refuses was not written under that schema.
            throw StorageError.corrupt(
                path: job.store.path ?? ":memory:",
                detail: "a copy refuses one of its rows (\(detail)); `eegsync audit` says more")
        }
        return originals
    }

    private func digest(of part: StreamPart, from reader: RecordingReader) throws -> SampleDigest {
        var digest = SampleDigest()
        try reader.forEachChunk(of: part.stream.id, in: part.range, rowsPerChunk: Self.rowsPerChunk) { chunk in
            Self.add(chunk, to: &digest)
        }
        return digest
    }

    private static func add(_ chunk: borrowing SampleChunk, to result: inout SampleDigest) {
        var digest = result
        for n in chunk.n { digest.add(UInt64(bitPattern: n)) }
        for value in chunk.values { digest.add(UInt64(truncatingIfNeeded: value)) }
        for missing in chunk.missingChannels { digest.add(UInt64(missing)) }
        result = digest
    }

    private func failure(_ detail: String) -> ExportError {
        .verificationFailed(path: request.path, detail: detail)
    }
}
