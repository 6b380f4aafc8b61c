import Export
import Foundation
import Headsets
import Storage

/// What the page shows of one recording: its gaps and marks on a line, and how fast its headset came back.
struct HistoryPageFacts: Encodable {
    /// More would lie upon each other on any screen.
    private static let gapsMaximum = 2000
    private static let marksMaximum = 1000

    /// A format that a recording can be fetched in.
    struct Format: Encodable {
        var name: String
        var summary: String
    }

    /// A gap of whole rows.
    struct Gap: Encodable {
        /// As ``SignalFacts`` names it, with its bank.
        var stream: String
        var startMs: Double
        /// Nil while its end is not known.
        var endMs: Double?
        var durationSeconds: Double?
        var cause: String
        var meaning: String
        /// How many samples, nil while that is not known, and how many of them arrived after all.
        var count: Int64?
        var recovered: Int64
    }

    /// An annotation.
    struct Mark: Encodable {
        var startMs: Double
        var durationSeconds: Double?
        var text: String
        var source: String
    }

    var recording: RecordingSummary
    /// The longest, by time.
    var gaps: [Gap]
    /// How many gaps there are besides.
    var gapsLeftOut: Int
    var marks: [Mark]
    /// Of the headset, over all its recordings.
    var latency: [LatencyFacts.Group]
    var formats: [Format]

    /// - Throws: `StorageError.notFound` where there is no such recording.
    init(_ id: RecordingID, in store: ReadOnlyStore) throws {
        guard let summary = try store.recordings().first(where: { $0.id == id.rawValue }) else {
            throw StorageError.notFound(what: "recording \(id.rawValue)")
        }
        recording = summary
        let all = try store.gaps(of: id).filter { $0.channel == 0 && $0.cause != "notSent" && $0.startUnixNanoseconds != nil }
        let longest = all.sorted { ($0.durationSeconds ?? .infinity) > ($1.durationSeconds ?? .infinity) }
            .prefix(Self.gapsMaximum)
        gapsLeftOut = all.count - longest.count
        gaps = longest.compactMap { gap in
            gap.startUnixNanoseconds.map { start in
                Gap(
                    stream: StreamDescription.bankName(gap.stream, gap.bank), startMs: Double(start) / 1e6,
                    endMs: gap.count == nil ? nil : gap.endUnixNanoseconds.map { Double($0) / 1e6 },
                    durationSeconds: gap.durationSeconds, cause: gap.cause, meaning: gap.meaning, count: gap.count,
                    recovered: gap.recovered)
            }
        }.sorted { $0.startMs < $1.startMs }
        marks = try store.annotations(of: id).prefix(Self.marksMaximum).compactMap { mark in
            mark.onsetUnixNanoseconds.map {
                Mark(
                    startMs: Double($0) / 1e6, durationSeconds: mark.durationSeconds, text: mark.description,
                    source: mark.source)
            }
        }
        latency = LatencyFacts(try store.returns(of: summary.headset)).groups
        formats = PageDownload.all.map { Format(name: $0.name, summary: $0.summary) }
    }
}
