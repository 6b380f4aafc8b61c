import Export
import Foundation
import Headsets
import Report
import Storage

/// What a recording can be fetched as from the page.
enum PageDownload {
    /// A file of a format, and what belongs to it.
    case export(ExportFormat)
    /// The page of pictures of `eegsync report`.
    case report

    /// All, in the order in which the page has them: formats that are files, and the report.
    static let all: [PageDownload] = ExportFormat.allCases.filter { !$0.isDirectory }.map(PageDownload.export) + [.report]

    /// What the page calls it.
    var name: String {
        switch self {
        case .export(let format): format.rawValue
        case .report: "report"
        }
    }

    /// A sentence about it for people.
    var summary: String {
        switch self {
        case .export(let format): format.summary
        case .report: "One page of pictures of how the recording went, with its audit."
        }
    }

    /// About how many bytes it takes while it is written, rather more: where samples are missing, formats with a fixed rate
    /// have something instead, and what must be seen before the first byte is kept beside the file meanwhile.
    func bytes(of streams: [SignalStream]) -> Int64 {
        let perRow: Double
        let perValue: Double
        switch self {
        case .export(let format): (perRow, perValue) = format == .csv ? (64, 12) : (24, 8)
        // Pictures of a fixed size.
        case .report: (perRow, perValue) = (0, 0)
        }
        let bytes = streams.reduce(4_000_000.0) { sum, stream in
            let count = stream.extent.map { Double($0.upperBound) - Double($0.lowerBound) + 1 } ?? 0
            return sum + count * (perRow + perValue * Double(stream.description.channels.count))
        }
        // What no disk has is as good as any larger number.
        return Int64(min(bytes, 1e18))
    }

    /// Writes it into a directory.
    ///
    /// - Parameter progress: called now and then with the fraction done, 0 ... 1.
    func write(
        _ recording: RecordingID, of store: ReadOnlyStore, to directory: String, progress: (Double) -> Void
    ) throws {
        let path = "\(directory)/recording-\(recording.rawValue)"
        switch self {
        case .export(let format):
            let exporter = try Exporter(store: store, recording: recording)
            _ = try exporter.export(ExportRequest(format: format, path: "\(path).\(format.ending)"), progress: progress)
        case .report:
            _ = try RecordingReport(store: store, recording: recording, context: ReportContext(zone: .gmt))
                .write(to: "\(path).html", replacesExisting: false)
        }
    }
}
