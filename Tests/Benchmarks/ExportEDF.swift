import Export
import Storage

/// The export of a database's first recording to EDF+ or BDF+, by the file's extension; its reading back included.
struct ExportEDF {
    var database: String
    var file: String

    func run() throws -> Cost {
        let store = try ReadOnlyStore(path: database, hostBoot: HostBoot(uuid: "benchmark"))
        let recording = RecordingID(rawValue: 1)
        return try Cost.measure {
            let exporter = try Exporter(store: store, recording: recording)
            _ = try exporter.export(
                ExportRequest(format: file.hasSuffix(".bdf") ? .bdf : .edf, path: file, replacesExisting: true))
            return exporter.contents.streams.reduce(0) { $0 + $1.rowCount }
        }
    }
}
