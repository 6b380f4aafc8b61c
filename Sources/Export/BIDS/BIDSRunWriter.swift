import Glibc
import Headsets
import Storage

/// Writes the files of runs into the staging directory.
struct BIDSRunWriter {
    let job: ExportJob
    let recording: BIDSRecording
    let staging: DatasetStaging
    /// The annotations of the recording that belong to a run that begins at an instant; all where it has none.
    let annotations: (_ startUnixNanoseconds: Int64?) -> [AnnotationContents]

    private var contents: RecordingContents { job.reader.contents }

    /// Writes a piece: a run for each file of EEG, the first with all that is no EEG.
    mutating func write(
        _ piece: BIDSDivision.Piece, report: inout ExportReport, progress: (Double) -> Void
    ) throws -> [BIDSRun] {
        let others = piece.motion + piece.physiology
        let total = Double((piece.eeg + others).reduce(0) { $0 + $1.range.count * $1.stream.description.channels.count })
        var done = 0.0
        func share(_ parts: [StreamPart]) -> Double {
            Double(parts.reduce(0) { $0 + $1.range.count * $1.stream.description.channels.count }) / max(1, total)
        }
        var runs: [BIDSRun] = []
        var start: Int64?
        if !piece.eeg.isEmpty {
            let written = try eegFiles(piece.eeg, report: &report) { progress($0 * share(piece.eeg)) }
            start = written.first?.startUnixNanoseconds
            for file in written { runs.append(try run(of: file, piece.eeg)) }
            done = share(piece.eeg)
        }
        if runs.isEmpty { runs = [BIDSRun()] }
        var labels: [String] = []
        for part in others {
            let label = label(of: part, among: &labels)
            let isMotion = piece.motion.contains { $0.stream.id == part.stream.id }
            let (before, own) = (done, share([part]))
            if isMotion {
                runs[0].files += try motion(part, label) { progress(before + own * $0) }
            } else {
                runs[0].files += try physiology(part, label, start: start) { progress(before + own * $0) }
            }
            done += own
        }
        return runs
    }

    /// Files of a piece's EEG.
    private func eegFiles(
        _ parts: [StreamPart], report: inout ExportReport, progress: (Double) -> Void
    ) throws -> [ExportedFile] {
        let format = ExportFormat.lossless(for: parts)
        var inner = job
        inner.request.format = format
        inner.request.path = "\(staging.path)/\(staging.nextName("eeg.\(format.rawValue)"))"
        inner.request.replacesExisting = false
        // What belongs together has been decided already.
        inner.request.isTogether = true
        let own = try format.makeExport(inner).run(parts, progress: progress)
        own.notes.forEach { report.note($0) }
        for file in own.files {
            unlink(FileSidecar.path(of: file.path))
            try BIDSPatientField.clear(in: file.path, of: contents)
        }
        return own.files
    }

    /// The run of a file of EEG.
    private func run(of file: ExportedFile, _ parts: [StreamPart]) throws -> BIDSRun {
        let own = file.streams.compactMap { exported in
            parts.first { $0.name == exported.name }.map {
                StreamPart(stream: $0.stream, range: exported.firstN...exported.lastN)
            }
        }
        let timeline = try FileTimeline(parts: own.map { ($0.stream, $0.range) })
        let electrodes = try BIDSElectrodes(own, store: job.store)
        var events = BIDSEvents(timeline: timeline)
        let edf = try EDFReader(path: file.path)
        try events.addGaps(of: edf, channels: electrodes.channels.map(\.name))
        events.addMarks(annotations(file.startUnixNanoseconds))
        let ends = timeline.tracks.map { Double($0.endIndex) / Double($0.samplesPerRecord) }
        let seconds = (ends.max() ?? 0) * Double(timeline.recordDurationMicroseconds) / 1e6
        let frequency = own.first?.stream.description.samplingFrequency ?? 0
        let document = BIDSEEGDocument.eeg(recording, electrodes, frequency: frequency, seconds: seconds)
        var run = BIDSRun(electrodes: electrodes)
        let ending = edf.header.variant == .edf ? "edf" : "bdf"
        run.files = [
            .init(
                staged: PartialFile.split(file.path).name, datatype: "eeg", suffix: "_eeg.\(ending)", exported: file,
                isScan: true),
            try stage(try document.document, "eeg", "_eeg.json"),
            try stage(electrodes.channelTable.bytes, "eeg", "_channels.tsv"),
            try stage(events.table.bytes, "eeg", "_events.tsv"),
            try stage(try BIDSEvents.document(recording).document, "eeg", "_events.json"),
        ]
        return run
    }

    /// The files of a stream of motion.
    private func motion(_ part: StreamPart, _ label: String, progress: (Double) -> Void) throws -> [BIDSRun.File] {
        let motion = BIDSMotion(part: part, recording: recording)
        let (file, written) = try table(part, name: "motion.tsv", progress: progress)
        var events = BIDSEvents(timeline: try FileTimeline(parts: [(part.stream, part.range)]))
        events.addGaps(written.missingRuns)
        events.addMarks(annotations(part.stream.unixNanoseconds(ofSample: part.range.lowerBound)))
        var files: [BIDSRun.File] = [
            .init(
                staged: PartialFile.split(file.path).name, datatype: "motion", suffix: "_motion.tsv", exported: file,
                isScan: true),
            try stage(try motion.document.document, "motion", "_motion.json"),
            try stage(motion.channelTable.bytes, "motion", "_channels.tsv"),
            try stage(try BIDSMotion.channelDocument.document, "motion", "_channels.json"),
            try stage(events.table.bytes, "motion", "_events.tsv"),
            try stage(try BIDSEvents.document(recording).document, "motion", "_events.json"),
        ]
        for index in files.indices { files[index].trackingSystem = label }
        return files
    }

    /// The files of any further stream.
    private func physiology(
        _ part: StreamPart, _ label: String, start: Int64?, progress: (Double) -> Void
    ) throws -> [BIDSRun.File] {
        let (text, _) = try table(part, name: "physio.tsv", progress: progress)
        let path = "\(staging.path)/\(staging.nextName("physio.tsv.gz"))"
        let packed = try PartialFile(path: path, replacesExisting: false, sparing: job.store.path)
        let digest = try GzipFile.pack(text.path, into: packed)
        try packed.synchronize()
        try job.afterWriting(packed.temporaryPath)
        guard try BIDSSampleTable.digest(of: packed.temporaryPath) == digest else {
            throw ExportError.verificationFailed(path: path, detail: "a byte differs")
        }
        try packed.publish(replacesExisting: false)
        unlink(text.path)
        let first = part.stream.unixNanoseconds(ofSample: part.range.lowerBound)
        let delay = first.flatMap { first in start.map { Double(first - $0) / 1e9 } } ?? 0
        let document = BIDSPhysiology(part: part, recording: recording, startSeconds: (delay * 1e6).rounded() / 1e6).document
        // Beside EEG where there is any, since its start is that of the time.
        let datatype = start == nil ? "beh" : "eeg"
        var exported = text
        (exported.path, exported.byteCount) = (path, packed.byteCount)
        return [
            .init(
                staged: PartialFile.split(path).name, datatype: datatype, suffix: "_recording-\(label)_physio.tsv.gz",
                exported: exported),
            try stage(try document.document, datatype, "_recording-\(label)_physio.json"),
        ]
    }

    /// Writes the samples of a stream as a table, reads it back and compares.
    private func table(
        _ part: StreamPart, name: String, progress: (Double) -> Void
    ) throws -> (ExportedFile, BIDSSampleTable.Written) {
        let path = "\(staging.path)/\(staging.nextName(name))"
        let file = try PartialFile(path: path, replacesExisting: false, sparing: job.store.path)
        let written = try BIDSSampleTable(part: part, reader: job.reader).write(to: file, progress: progress)
        try file.synchronize()
        try job.afterWriting(file.temporaryPath)
        guard try BIDSSampleTable.digest(of: file.temporaryPath) == written.bytes else {
            throw ExportError.verificationFailed(path: path, detail: "a row differs")
        }
        try file.publish(replacesExisting: false)
        let stream = ExportedStream(
            name: part.name, firstN: part.range.lowerBound, lastN: part.range.upperBound, rowCount: written.rowCount,
            filledCount: written.missingRowCount, gridOffsetSeconds: 0, maximumDeviationSeconds: 0,
            timeUncertaintySeconds: part.timeUncertaintySeconds)
        let exported = ExportedFile(
            path: path, byteCount: file.byteCount,
            startUnixNanoseconds: part.stream.unixNanoseconds(ofSample: part.range.lowerBound), streams: [stream])
        return (exported, written)
    }

    private func stage(_ bytes: [UInt8], _ datatype: String, _ suffix: String) throws -> BIDSRun.File {
        .init(staged: try staging.write(bytes, as: suffix), datatype: datatype, suffix: suffix)
    }

    /// The stream's name as a label; a repeated one has a number.
    private func label(of part: StreamPart, among labels: inout [String]) -> String {
        let name = BIDSEntities.label(part.name) ?? "stream"
        var (label, number) = (name, 2)
        while labels.contains(label) {
            label = "\(name)x\(number)"
            number += 1
        }
        labels.append(label)
        return label
    }
}
