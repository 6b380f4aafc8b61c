import Export
import Storage

/// Exports recordings one after the other, and shows how far it is.
struct RecordingExports {
    let store: ReadOnlyStore
    let numbers: [Int64]
    /// Whether one without a sample is left out instead of being an error.
    let isSeveral: Bool
    /// What was written.
    private(set) var done: [ExportFacts] = []
    /// Recordings without a sample in what was chosen.
    private(set) var skipped: [Int64] = []

    init(store: ReadOnlyStore, numbers: [Int64], isSeveral: Bool) {
        (self.store, self.numbers, self.isSeveral) = (store, numbers, isSeveral)
    }

    /// Exports all, each as `request` says it. Those that are done when an error ends it stay.
    mutating func run(_ request: (Int64) throws -> ExportRequest) throws {
        var rows: [Int64: Int64] = [:]
        for recording in try store.recordings() where numbers.contains(recording.id) {
            rows[recording.id] = max(1, recording.rows)
        }
        let total = rows.values.reduce(0, +)
        var before: Int64 = 0
        // One for all: rate and remaining time are those of the whole.
        var bar = ProgressBar(label: "exporting", unit: "rows", clock: { HostClock.now })
        defer { bar.finish() }
        for (index, number) in numbers.enumerated() {
            if isSeveral { bar.label = "exporting \(number) (\(index + 1) of \(numbers.count))" }
            let share = rows[number] ?? 1
            do {
                let exporter = try Exporter(store: store, recording: RecordingID(rawValue: number))
                let report = try exporter.export(try request(number)) { fraction in
                    bar.update(done: before + Int64(fraction * Double(share)), total: max(total, 1))
                }
                done.append(ExportFacts(recording: number, report: report))
            } catch ExportError.emptyRecording where isSeveral && numbers.count > 1 {
                skipped.append(number)
            }
            before += share
        }
        if done.isEmpty, let first = numbers.first { throw ExportError.emptyRecording(RecordingID(rawValue: first)) }
    }
}
