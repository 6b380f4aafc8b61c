import Headsets
package import Storage

/// Exports a recording to files.
///
/// Every file is written under a temporary name in its directory, synchronised, read back and compared, and only then given its
/// name; an existing file is replaced only on request. Memory does not grow with the recording's length, only with its gaps and
/// annotations.
package struct Exporter {
    private let store: any Store
    private let reader: RecordingReader
    /// Called between writing and reading back; tests plant defects here.
    var afterWriting: (_ temporaryPath: String) throws -> Void = { _ in }

    /// An exporter of a recording as it is at this moment; what is recorded later is not seen.
    ///
    /// - Throws: `StorageError.notFound` where there is no such recording.
    package init(store: any Store, recording: RecordingID) throws(StorageError) {
        self.store = store
        reader = try store.reader(of: recording)
    }

    /// What is exported: for choosing a format and a name.
    package var contents: RecordingContents { reader.contents }

    /// Writes the files that a request asks for.
    ///
    /// - Parameter progress: Called now and then with the fraction done, 0 ... 1, never falling.
    /// - Throws: ``ExportError``, or `StorageError` where the database cannot be read.
    package func export(_ request: ExportRequest, progress: (Double) -> Void = { _ in }) throws -> ExportReport {
        // A copy takes everything from the reader's first transaction, and a second copy from another one.
        let whole =
            request.format.isWholeRecording && self.reader.hasReadRows ? try store.reader(of: contents.id) : self.reader
        let timed = whole.contents.timedByFirstBanks
        let slice = try request.selection.slice(of: timed)
        let reader = request.selection.isWhole ? whole : try whole.slice(slice)
        let parts: [StreamPart] = slice.parts.compactMap { part in
            let found = reader.contents.streams.first { $0.id == part.stream }
            guard var stream = found, stream.rowCount > 0 else { return nil }
            if let segments = timed.streams.first(where: { $0.id == part.stream })?.segments {
                stream.segments = request.selection.isWhole ? segments : TimeSegment.cut(segments, to: part.range)
            }
            return StreamPart(stream: stream, range: part.range)
        }
        guard !parts.isEmpty else { throw ExportError.emptyRecording(contents.id) }
        var reached = 0.0
        // What is done again is no step back.
        func advance(to fraction: Double) {
            reached = max(reached, fraction)
            progress(reached)
        }
        let job = ExportJob(request: request, store: store, reader: reader, afterWriting: afterWriting)
        let report = try request.format.makeExport(job).run(parts, progress: advance)
        progress(1)
        return report
    }
}

/// A stream and the samples of it that go into a file.
struct StreamPart: Sendable {
    var stream: StreamContents
    var range: ClosedRange<Int64>

    /// Within what the recorded times are right, in seconds; nil where that is not known.
    var timeUncertaintySeconds: Double? { stream.timeUncertaintyNanoseconds(in: range).map { $0 / 1e9 } }

    /// The stream's name; a further bank has its number, from 2.
    var name: String { stream.description.bankName }
}

extension PartialFile {
    /// A path with a suffix before its extension.
    static func path(_ path: String, suffix: String) -> String {
        let (_, name) = split(path)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return path + suffix }
        let length = name.distance(from: dot, to: name.endIndex)
        return String(path.dropLast(length)) + suffix + String(name[dot...])
    }
}
