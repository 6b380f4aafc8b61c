import FoundationEssentials
import Headsets
import Storage

/// Exports streams as EDF+ or BDF+ files.
struct EDFExport: RecordingExport {
    private let job: ExportJob
    private let variant: EDFVariant
    private var request: ExportRequest { job.request }
    private var reader: RecordingReader { job.reader }

    init(_ job: ExportJob, _ variant: EDFVariant) {
        self.job = job
        self.variant = variant
    }

    /// How far a reader's gain may be off before the report says so.
    static let scaleTolerance = 1e-6
    /// How much of an export's time a pass over all rows takes, roughly: stepping through them is the most of it.
    private static let surveyShare = 0.7

    func run(_ parts: [StreamPart], progress: (Double) -> Void) throws -> ExportReport {
        var report = ExportReport()
        let kinds = request.isTogether ? [parts] : StreamKind.divide(parts).map(\.parts)
        let paths = request.isTogether ? [request.path] : self.paths(ofKinds: StreamKind.divide(parts).map(\.kind))
        for (kind, path) in zip(kinds, paths) { try check(kind, path) }
        let weights = kinds.map { kind in
            Double(kind.reduce(0) { $0 + $1.range.count * $1.stream.description.channels.count })
        }
        let total = max(1, weights.reduce(0, +))
        var done = 0.0
        for (index, kind) in kinds.enumerated() {
            try write(kind, path: paths[index], report: &report) { progress((done + $0 * weights[index]) / total) }
            done += weights[index]
        }
        return report
    }

    /// Where each kind of stream goes: the first one under the name that was asked for.
    private func paths(ofKinds kinds: [StreamKind]) -> [String] {
        kinds.enumerated().map { index, kind in
            index == 0 ? request.path : PartialFile.path(request.path, suffix: "_" + kind.suffix)
        }
    }

    /// What one grid of samples can hold each. Where the grid follows the times, a clock that was set meanwhile would fill it
    /// for years.
    private func pieces(of parts: [StreamPart]) -> [[(part: Int, range: ClosedRange<Int64>)]] {
        TimelinePieces(parts, cutsJumps: request.resamplesToClock).pieces
    }

    /// Tries, before hours are spent on rows, what can be tried without them.
    private func check(_ parts: [StreamPart], _ path: String) throws {
        let pieces = pieces(of: parts)
        _ = try PartialFile(
            path: self.path(path, ofFile: 0, of: pieces.count), replacesExisting: request.replacesExisting,
            sparing: job.store.path)
        for piece in pieces { _ = try FileTimeline(parts: piece.map { (parts[$0.part].stream, $0.range) }) }
    }

    /// Writes the files of streams that share them.
    private func write(
        _ parts: [StreamPart], path base: String, report: inout ExportReport, progress: (Double) -> Void
    ) throws {
        let count = pieces(of: parts).count
        var surveys = try surveys(parts) { progress($0 * Self.surveyShare) }
        let surveyed = surveys == nil ? 0 : Self.surveyShare
        let mappings = mappings(parts, surveys: surveys, report: &report)
        let groups = try groups(parts, surveys: surveys)
        let paths = groups.indices.map { path(base, ofFile: $0, of: groups.count) }
        if count > 1, request.gaps != .segments {
            report.note(
                "The recording is cut into \(groups.count) files: between two boots of the machine, and at gaps of more than a "
                    + "day, nothing is filled.")
        }
        for path in paths where !request.replacesExisting {
            // Looked at before hours are spent on the first file; creating them all could exhaust file descriptors.
            _ = try PartialFile(path: path, replacesExisting: false, sparing: job.store.path)
            _ = try PartialFile(path: FileSidecar.path(of: path), replacesExisting: false, sparing: job.store.path)
        }
        let timelines = try groups.map { group in
            try FileTimeline(parts: group.map { (parts[$0.part].stream, $0.range) })
        }
        for (index, group) in groups.enumerated() {
            func advance(_ fraction: Double) {
                progress(surveyed + (1 - surveyed) * (Double(index) + fraction) / Double(groups.count))
            }
            func writeFile(spooled: Bool) throws {
                var rows = group.map {
                    (spooled ? surveys?[$0.part].spool : nil).map(RowSource.spool) ?? .database(reader)
                }
                var plan = EDFWriter.Plan(
                    contents: reader.contents, variant: variant, isContinuous: request.gaps != .discontinuous,
                    timeline: timelines[index], mappings: group.map { mappings[$0.part] },
                    annotations: annotations(ofFile: index, timelines: timelines))
                if request.resamplesToClock { resample(&plan, &rows, extremes: group.map { surveys?[$0.part].extremes }) }
                if let zone = try startZone { plan.write(startIn: zone) }
                report.files.append(try write(plan, rows: rows, path: paths[index], report: &report, progress: advance))
            }
            do {
                try writeFile(spooled: true)
            } catch ExportError.diskFull where surveys?.contains(where: { $0.spool != nil }) == true {
                // Without the copies of the rows there may be room for the file.
                for part in parts.indices { surveys?[part].spool = nil }
                try writeFile(spooled: false)
            }
        }
    }

    /// The zone that headers say the start in; nil for UTC.
    private var startZone: TimeZone? {
        get throws {
            guard let name = request.startZone else { return nil }
            if let zone = TimeZone(identifier: name) { return zone }
            throw ExportError.notRepresentable(
                what: "The start in the time zone \(name)", reason: "this machine does not know the zone",
                advice: "Leave --local-start out: the start is UTC then.")
        }
    }

    /// Replaces the recorded samples by computed ones, which lie at the nominal rate in UTC.
    private func resample(_ plan: inout EDFWriter.Plan, _ rows: inout [RowSource], extremes: [[ClosedRange<Int32>?]?]) {
        for index in rows.indices {
            let track = plan.timeline.tracks[index]
            let fits = StreamPart(stream: track.stream, range: track.range).fits(variant)
            let resampler = ClockResampler(
                track, in: plan.timeline, variant: variant, extremes: fits ? nil : extremes[index], rows: rows[index])
            plan.timeline.tracks[index] = resampler.track
            plan.mappings[index] = resampler.track.stream.description.channels.map { channel in
                EDFDigitalMapping(raw: channel.rawMinimum...channel.rawMaximum, variant: variant)
                    .refined(for: channel, variant: variant)
            }
            rows[index] = .resampled(resampler)
        }
        // An event lies at the time of its sample, since that sample is no longer there.
        for index in plan.annotations.indices { plan.annotations[index].sample = nil }
    }

    private func path(_ base: String, ofFile index: Int, of count: Int) -> String {
        guard request.gaps == .segments || count > 1 else { return base }
        return PartialFile.path(base, suffix: "_run-" + CivilTime.digits(index + 1))
    }

    /// Looks at all rows where the gaps or the values' range must be known first; nil where they need not.
    private func surveys(_ parts: [StreamPart], progress: (Double) -> Void) throws -> [RowSurvey]? {
        guard request.gaps != .fill || !parts.allSatisfy({ $0.fits(variant) }) else { return nil }
        return try parts.enumerated().map { index, part in
            try RowSurvey(of: part.stream, in: part.range, from: reader, beside: request.path) {
                progress((Double(index) + $0) / Double(parts.count))
            }
        }
    }

    /// Writes, checks and publishes one file.
    private func write(
        _ plan: EDFWriter.Plan, rows: [RowSource], path: String, report: inout ExportReport, progress: (Double) -> Void
    ) throws -> ExportedFile {
        var writer = EDFWriter(plan: plan, reader: reader, rows: rows)
        // The header is made before the file, so that what cannot be written leaves nothing behind.
        note(header: try writer.header(), plan: plan, report: &report)
        let file = try PartialFile(path: path, replacesExisting: request.replacesExisting, sparing: job.store.path)
        let sidecar = try PartialFile(
            path: FileSidecar.path(of: path), replacesExisting: request.replacesExisting, sparing: job.store.path)
        try file.requireRoom(for: plan.isContinuous ? writer.byteCount : 0)
        let written = try writer.write(to: file) { progress($0 * 0.8) }
        try file.synchronize()
        try job.afterWriting(file.temporaryPath)
        let check = try EDFReader(path: file.temporaryPath)
        guard check.header == written.header, check.headerBytes == written.header.bytes else {
            throw ExportError.verificationFailed(path: path, detail: "the header differs")
        }
        guard try check.digest(progress: { progress(0.8 + $0 * 0.2) }) == written.digest else {
            throw ExportError.verificationFailed(path: path, detail: "a sample or an annotation differs")
        }
        if written.clippedCount > 0 {
            report.note("\(written.clippedCount) values beyond the format's range were written as its limit.")
        }
        let streams = zip(plan.timeline.tracks, written.rowCounts).map { track, rowCount in
            let part = StreamPart(stream: track.stream, range: track.range)
            let range = track.resampledRange ?? track.range
            return ExportedStream(
                name: part.name, firstN: range.lowerBound, lastN: range.upperBound, rowCount: rowCount,
                filledCount: Int64(track.range.count) - rowCount,
                gridOffsetSeconds: track.gridOffsetSeconds, maximumDeviationSeconds: track.maximumDeviationSeconds,
                timeUncertaintySeconds: part.timeUncertaintySeconds)
        }
        let document = FileSidecar(
            contents: plan.contents, start: plan.timeline.startUnixNanoseconds, startZone: plan.startZone?.identifier,
            isResampledToClock: plan.timeline.tracks.contains { $0.resampledRange != nil },
            streams: zip(plan.timeline.tracks, streams).map { ($0.stream, $1) })
        try sidecar.write(try document.bytes)
        try sidecar.synchronize()
        try TemporaryNames.publishTogether(path) {
            try file.publish(replacesExisting: request.replacesExisting)
            try sidecar.publish(replacesExisting: request.replacesExisting)
        }
        return ExportedFile(
            path: path, byteCount: file.byteCount, startUnixNanoseconds: plan.timeline.startUnixNanoseconds, streams: streams)
    }

    /// How each channel's counts are written; says what is lost.
    private func mappings(
        _ parts: [StreamPart], surveys: [RowSurvey]?, report: inout ExportReport
    ) -> [[EDFDigitalMapping]] {
        parts.indices.map { part in
            parts[part].stream.description.channels.indices.map { index in
                let channel = parts[part].stream.description.channels[index]
                let declared = EDFDigitalMapping(raw: channel.rawMinimum...channel.rawMaximum, variant: variant)
                guard declared.step > 1, let surveys else { return declared.refined(for: channel, variant: variant) }
                let mapping = EDFDigitalMapping(raw: surveys[part].extremes[index] ?? 0...1, variant: variant)
                    .widened(within: channel.rawMinimum...channel.rawMaximum, variant: variant)
                    .refined(for: channel, variant: variant)
                if mapping.step > 1 {
                    report.note(
                        "Channel \(channel.name): one step of \(variant.name) is \(mapping.step) raw counts"
                            + Self.physical(abs(channel.scale) * Double(mapping.step), unit: channel.unit)
                            + "; smaller differences are lost. BDF+ keeps them.")
                }
                return mapping
            }
        }
    }

    /// A step in a channel's unit, behind a comma; nothing where the channel has none.
    private static func physical(_ step: Double, unit: String) -> String {
        unit.isEmpty || unit == "n/a" ? "" : ", \(EDFField.number(step) ?? "?") \(unit)"
    }

    /// The files to be written: for each the parts and their samples.
    private func groups(
        _ parts: [StreamPart], surveys: [RowSurvey]?
    ) throws -> [[(part: Int, range: ClosedRange<Int64>)]] {
        try pieces(of: parts).flatMap { try groups($0, of: parts, surveys: surveys) }
    }

    /// The files of what one grid of samples can hold.
    private func groups(
        _ piece: [(part: Int, range: ClosedRange<Int64>)], of parts: [StreamPart], surveys: [RowSurvey]?
    ) throws -> [[(part: Int, range: ClosedRange<Int64>)]] {
        guard let surveys, request.gaps != .fill else { return [piece] }
        let runs = piece.map { part, range in
            surveys[part].runs.filter { $0.overlaps(range) }.map { $0.clamped(to: range) }
        }
        // Streams whose rows are all gone since the contents were read have no runs.
        let extents = piece.indices.compactMap { index -> (index: Int, range: ClosedRange<Int64>)? in
            guard let first = runs[index].first, let last = runs[index].last else { return nil }
            return (index, first.lowerBound...last.upperBound)
        }
        guard !extents.isEmpty else { throw ExportError.emptyRecording(reader.contents.id) }
        guard request.gaps == .segments else { return [extents.map { (piece[$0.index].part, $0.range) }] }
        let timeline = try FileTimeline(parts: extents.map { (parts[piece[$0.index].part].stream, $0.range) })
        return UnbrokenSegments(timeline: timeline, runs: extents.map { runs[$0.index] }).segments.map { segment in
            segment.map { (piece[extents[$0.track].index].part, $0.range) }
        }
    }

    /// The recording's annotations go into the last file that begins at or before their onset; earlier ones into the first.
    private func annotations(ofFile index: Int, timelines: [FileTimeline]) -> [AnnotationContents] {
        reader.contents.annotations.filter { annotation in
            let match = timelines.lastIndex { ($0.startUnixNanoseconds ?? .min) <= annotation.onsetUnixNanoseconds } ?? 0
            return match == index
        }
    }

    private func note(header: EDFHeader, plan: EDFWriter.Plan, report: inout ExportReport) {
        let channels = plan.timeline.tracks.flatMap(\.stream.description.channels)
        for (signal, (channel, mapping)) in zip(header.signals, zip(channels, plan.mappings.joined())) {
            let error = signal.scaleError(channel: channel, mapping: mapping)
            if error > Self.scaleTolerance {
                report.note(
                    "Channel \(channel.name): the header's eight characters hold its scale to "
                        + "\(EDFField.number(error * 1e6) ?? "?") parts per million only.")
            }
            let label = EDFSignal.label(channel)
            if signal.label != label || !label.hasSuffix(EDFField.ascii(channel.name)) {
                report.note("Channel \(channel.name) is labelled `\(signal.label)`.")
            }
        }
        if let subject = plan.contents.subject, !header.patient.hasPrefix(subject + " ") {
            report.note("The subject is written as `\(header.patient.split(separator: " ").first ?? "X")`.")
        }
        let uncertainty = plan.timeline.timeUncertaintySeconds
        if let uncertainty, !header.recording.contains(EDFHeader.uncertainty(uncertainty)) {
            report.note(
                "The header has no room left to say it: times are right within "
                    + "\(EDFField.number((uncertainty * 1e4).rounded() / 10) ?? "?") ms.")
        }
        if header.recording.hasPrefix("Startdate X") {
            report.note("The start is outside of 1985 ... 2084, which the format can name; the header says 1985-01-01.")
        }
    }
}

extension StreamPart {
    /// True where every channel's whole range is written without loss.
    func fits(_ variant: EDFVariant) -> Bool {
        stream.description.channels.allSatisfy {
            EDFDigitalMapping(raw: $0.rawMinimum...$0.rawMaximum, variant: variant).step == 1
        }
    }
}
