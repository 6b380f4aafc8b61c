import Headsets
import Storage

extension ExportFormat {
    /// Lab Streaming Layer's file format.
    package static let xdf = ExportFormat(
        "xdf",
        summary:
            "XDF has the time of every sample and leaves missing ones out; --gaps segments begins a stream after each gap.",
        gapTreatments: [.discontinuous, .segments]
    ) { XDFExport($0) }
}

/// Exports a recording as one XDF file: a stream for each of the recording's, and one for its marks.
struct XDFExport: RecordingExport {
    private let job: ExportJob
    private var request: ExportRequest { job.request }
    private var contents: RecordingContents { job.reader.contents }

    /// How much of an export's time writing takes, roughly.
    private static let writingShare = 0.7

    init(_ job: ExportJob) { self.job = job }

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        let streams = try JoinedStream.join(parts)
        let partial = try PartialFile(
            path: request.path, replacesExisting: request.replacesExisting, sparing: job.store.path)
        let file = try XDFFile(partial)
        let description = XDFDescription(contents: contents)
        try file.write(.fileHeader, description.file.document)
        let writers = streams.enumerated().map { index, stream in
            XDFStreamWriter(
                stream, source: index, of: description, isSplit: request.gaps == .segments, reader: job.reader)
        }
        let markers = try writeMarkers(description, to: file)
        try writeSamples(of: writers, firstFree: UInt32(markers.count + 1), to: file) { progress($0 * Self.writingShare) }
        try file.bytes.flush()
        try partial.synchronize()
        try job.afterWriting(partial.temporaryPath)
        var formats: [UInt32: XDFSampleFormat?] = [:]
        for layout in markers { formats.updateValue(nil, forKey: layout.id) }
        for writer in writers {
            for layout in writer.layouts { formats[layout.id] = writer.format }
        }
        let found = try XDFReader(path: partial.temporaryPath, formats: formats).read {
            progress(Self.writingShare + $0 * (1 - Self.writingShare))
        }
        guard found.content == file.digest, found.bytes == file.bytes.digest else {
            throw ExportError.verificationFailed(path: request.path, detail: "a sample or a header differs")
        }
        try partial.publish(replacesExisting: request.replacesExisting)
        return report(writers, byteCount: partial.byteCount)
    }

    /// Writes a minute of each stream after the other, so that what was sampled at one time is read at one time.
    private func writeSamples(
        of writers: [XDFStreamWriter], firstFree: UInt32, to file: XDFFile, progress: (Double) -> Void
    ) throws {
        var next = firstFree
        var open = writers
        while !open.isEmpty {
            open = try open.filter { writer in
                try writer.writeWindow(to: file) {
                    defer { next += 1 }
                    return next
                }
            }
            try file.writeBoundary()
            progress(writers.reduce(0) { $0 + $1.rows.fractionDone } / Double(writers.count))
        }
        for writer in writers { try writer.finish(to: file) }
    }

    /// Writes the stream of marks, where there are some.
    private func writeMarkers(_ description: XDFDescription, to file: XDFFile) throws -> [XDFStreamWriter.Layout] {
        let marks = contents.annotations.map { annotation in
            // What the headset said of a sample has that sample's very stamp.
            let sample = annotation.sample.flatMap { sample in
                contents.streams.first { $0.id == sample.stream }?.unixNanoseconds(ofSample: sample.n)
            }
            return (stamp: XDFFile.stamp(sample ?? annotation.onsetUnixNanoseconds), text: Array(annotation.description.utf8))
        }.sorted { $0.stamp < $1.stamp }
        guard let first = marks.first, let last = marks.last else { return [] }
        let layout = XDFStreamWriter.Layout(id: 1, source: nil, sampleCount: Int64(marks.count))
        try file.write(.streamHeader, description.markers(stamp: first.stamp).document, of: layout.id)
        try file.writeClockOffset(at: first.stamp, of: layout.id)
        try file.write(marks, of: layout.id)
        try file.finish(layout, first: first.stamp, last: last.stamp)
        return [layout]
    }

    private func report(_ writers: [XDFStreamWriter], byteCount: Int64) -> ExportReport {
        var report = ExportReport()
        let start = writers.compactMap { $0.rows.stream.clock.unixNanoseconds(ofSample: $0.rows.stream.range.lowerBound) }.min()
        report.files = [
            ExportedFile(
                path: request.path, byteCount: byteCount, startUnixNanoseconds: start,
                streams: writers.map { $0.rows.stream.exported(rowCount: $0.rowCount) })
        ]
        let inexact = writers.reduce(0) { $0 + $1.inexactCount }
        if inexact > 0 {
            report.note("\(inexact) values far beyond the range that the headset declares are written with fewer digits.")
        }
        if contents.streams.contains(where: { $0.segments.isEmpty && $0.rowCount > 0 }) {
            report.note("A stream has no times yet; its samples are stamped 1970-01-01.")
        }
        return report
    }
}
