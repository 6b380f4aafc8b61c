import Export
import Foundation
import Storage

/// The export of a database's first recording, in the format that the file's name ends with; its reading back included. A name
/// without an ending is that of a dataset of BIDS.
struct FormatExport {
    var database: String
    var file: String

    func run() throws -> Cost {
        let store = try ReadOnlyStore(path: database, hostBoot: HostBoot(uuid: "benchmark"))
        let recording = RecordingID(rawValue: 1)
        let name = file.split(separator: "/").last ?? ""
        let ending = name.split(separator: ".").dropFirst().last.map(String.init) ?? "bids"
        guard let format = ExportFormat(ending: ending) ?? ExportFormat(rawValue: ending) else { throw UnknownFormat(ending) }
        var byteCount: Int64 = 0
        var cost = try Cost.measure {
            let exporter = try Exporter(store: store, recording: recording)
            let report = try exporter.export(
                ExportRequest(
                    format: format, path: file, python: ProcessInfo.processInfo.environment["EEGSYNC_PYTHON"] ?? "python3",
                    replacesExisting: true))
            byteCount = report.files.reduce(0) { $0 + $1.byteCount }
            return exporter.contents.streams.reduce(0) { $0 + $1.rowCount }
        }
        cost.facts.append(("bytes", Double(byteCount)))
        return cost
    }
}

/// An ending that no format has.
struct UnknownFormat: Error {
    var ending: String
    init(_ ending: String) { self.ending = ending }
}
