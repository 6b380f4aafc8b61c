import Headsets
package import Storage

/// Reads what a report shows of a recording, as it is at one moment, in memory that does not grow with the recording's length.
package struct ReportReading {
    private let store: any Store
    private let reader: RecordingReader
    private let context: ReportContext
    private let summary: RecordingSummary
    /// So many columns every picture over time has at most.
    static let columnCount = 2000

    /// - Throws: `StorageError.notFound` where there is no such recording.
    package init(store: any Store, recording: RecordingID, context: ReportContext) throws(StorageError) {
        self.store = store
        self.context = context
        reader = try store.reader(of: recording)
        summary = try store.recording(recording)
    }

    /// How many rows are read: for a progress bar.
    package var rowCount: Int64 { reader.contents.streams.filter(Self.hasSpectrum).reduce(0) { $0 + $1.rowCount } }

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - audit: what an audit of the recording said.
    ///   - progress: called now and then with how many rows were read.
    /// - Throws: `StorageError` where the database cannot be read.
    package func document(audit: AuditLines, progress: (_ rows: Int64) -> Void = { _ in }) throws -> ReportDocument {
        let contents = reader.contents
        let meanings = try store.gapMeanings()
        let open = try contents.streams.map { try store.openGap(of: $0.id) }
        let axis = axis(hasOpenGap: open.contains { $0 != nil })
        var document = ReportDocument(
            recording: contents.id.rawValue, headset: contents.headsetName, audit: audit, version: context.version,
            writtenUnixNanoseconds: context.now, clock: context.clock)
        let provenance = ProvenanceFacts(
            contents: contents, summary: summary, machine: try store.machineUUID(of: contents.id), context: context)
        document.facts = provenance.facts
        document.stretches = provenance.stretches
        document.axis = axis
        if let axis {
            document.connection = try ConnectionReading(axis: axis, context: context).course(
                of: contents.headsetName, contents.streams, in: store)
            var battery = BatteryReadings(axis: axis)
            try store.forEachBatteryReading(of: contents.headsetName, in: axis.start...axis.end) { battery.add($0) }
            document.battery = battery.raster.columns
            document.batteryFacts = battery.facts
            document.marks = MarkList(contents.annotations, axis: axis)
        }
        let kilohms = try store.electrodeFacts(of: contents.id).kilohms
        var read: Int64 = 0
        for (stream, open) in zip(contents.streams, open) {
            let gaps = GapReading(stream, open: open, meanings: meanings, axis: axis)
            var report = StreamReport(
                name: stream.description.bankName, samplingFrequency: stream.description.samplingFrequency,
                facts: Self.facts(of: stream), gaps: gaps.lane, gapSums: gaps.sums, longestGaps: gaps.longest, signals: [],
                frequencies: [], spectra: [], timeMap: nil)
            if let axis {
                report.signals = try SignalReading(stream, axis: axis, kilohms: kilohms).courses(in: store)
                report.timeMap = try TimeMapReading(stream, axis: axis).course(in: store)
                try readSpectra(of: stream, since: axis.start, into: &report) {
                    read += $0
                    progress(read)
                }
            }
            document.streams.append(report)
        }
        document.summary = summaryFacts(document, axis: axis)
        return document
    }

    /// Types of channels that are potentials of the body: others have no spectrum that anybody would look at.
    private static let potentials: Set<String> = ["EEG", "ECG", "EMG", "EOG", "HEOG", "VEOG", "REF"]

    private static func hasSpectrum(_ stream: StreamContents) -> Bool {
        stream.rowCount > 0 && stream.description.channels.contains { potentials.contains($0.type) }
    }

    private func readSpectra(
        of stream: StreamContents, since start: Int64, into report: inout StreamReport, progress: (Int64) -> Void
    ) throws {
        guard Self.hasSpectrum(stream), let first = stream.firstN, let last = stream.lastN,
            var spectra = StreamSpectra(of: stream, since: start)
        else { return }
        try reader.forEachChunk(of: stream.id, in: first...last, rowsPerChunk: 4096) { chunk in
            spectra.add(chunk)
            progress(Int64(chunk.n.count))
        }
        report.frequencies = spectra.grid.frequencies
        let kinds = stream.description.channels.map(\.type)
        report.spectra = zip(spectra.finish(), kinds).filter { Self.potentials.contains($1) && !$0.hours.isEmpty }.map(\.0)
    }

    /// From the first sample to the last, or to where something is still missing.
    private func axis(hasOpenGap: Bool) -> TimeAxis? {
        guard let start = reader.contents.startUnixNanoseconds else { return nil }
        var end = start
        for stream in reader.contents.streams {
            guard let last = stream.lastN, let time = stream.unixNanoseconds(ofSample: last &+ 1) else { continue }
            end = max(end, time)
        }
        if hasOpenGap { end = max(end, summary.stoppedUnixNanoseconds ?? context.now) }
        return TimeAxis(start: start, end: end, clock: context.clock)
    }

    private static func facts(of stream: StreamContents) -> [ReportDocument.Fact] {
        let units = Set(stream.description.channels.map(\.unit)).sorted().map(ReportText.unit)
        return [
            .init("Channels", stream.description.channels.map(\.name).joined(separator: ", ")),
            .init("Unit", units.joined(separator: ", ")),
            .init("Sampling frequency", ReportText.frequency(stream.description.samplingFrequency)),
            .init("Rows stored", ReportText.count(stream.rowCount)),
            .init("Losses are found by", stream.lossDetection),
        ]
    }

    private func summaryFacts(_ document: ReportDocument, axis: TimeAxis?) -> [ReportDocument.Fact] {
        var facts: [ReportDocument.Fact] = []
        if let axis {
            facts.append(.init("Length", ReportText.duration(Double(axis.end - axis.start) / 1e9)))
        }
        let rows = reader.contents.streams.reduce(0) { $0 + $1.rowCount }
        let lost = max(0, summary.missing - summary.missingByDesign)
        facts.append(.init("Rows stored", ReportText.count(rows)))
        let whole = Double(rows) + Double(lost)
        facts.append(.init("Missing for good", ReportText.percent(whole > 0 ? Double(lost) / whole : 0)))
        facts.append(.init("Gaps", ReportText.count(max(0, summary.gaps - summary.gapsByDesign))))
        if let last = document.battery.last { facts.append(.init("Battery at the end", "\(ReportText.fixed(last.mean, 0)) %")) }
        facts.append(.init("Audit", document.audit.holds ? "holds" : "fails"))
        return facts
    }
}
