import Centre
import Export
import Storage

/// Exports recordings of a centre one after the other: each is fetched into a database of its own beside the output, audited,
/// exported as it is on the machine, and the database removed.
struct CentreExports {
    private let connection: CentreConnection
    /// Their UUIDs, or numbers at the centre.
    private let names: [String]
    /// What was written, by the numbers at the centre.
    private(set) var done: [ExportFacts] = []
    /// Recordings without a sample in what was chosen.
    private(set) var skipped: [Int64] = []

    init(connection: CentreConnection, names: [String]) { (self.connection, self.names) = (connection, names) }

    /// Exports all, each as `request` says it. Those that are done when an error ends it stay.
    ///
    /// - Parameters:
    ///   - output: where the exports go.
    ///   - request: gets the number of a recording at the centre.
    mutating func run(beside output: String, _ request: (Int64) throws -> ExportRequest) throws {
        for (index, name) in names.enumerated() {
            let step = names.count > 1 ? " \(name) (\(index + 1) of \(names.count))" : ""
            try FetchedFile.whileNeeded(beside: output) { path in
                let recording = try fetch(name, to: path, label: "fetching" + step)
                try export(recording, from: path, try request(recording.centreNumber))
            }
        }
        if done.isEmpty, let first = skipped.first { throw ExportError.emptyRecording(RecordingID(rawValue: first)) }
    }

    private func fetch(_ name: String, to path: String, label: String) throws -> CentreRecording {
        var bar = ProgressBar(label: label, unit: "rows")
        defer { bar.finish() }
        return try RecordingFetch(connection).writeAudited(name, to: path) { done, total in
            bar.update(done: done, total: total)
        }
    }

    private mutating func export(_ recording: CentreRecording, from path: String, _ request: ExportRequest) throws {
        let store = try ReadOnlyStore(path: path, hostBoot: try HostBoot.current())
        defer { try? store.close() }
        var exports = RecordingExports(store: store, numbers: [recording.machineNumber], isSeveral: false)
        do {
            try exports.run { _ in request }
        } catch ExportError.emptyRecording {
            skipped.append(recording.centreNumber)
            return
        }
        done += exports.done.map { $0.renumbered(recording.centreNumber) }
    }
}
