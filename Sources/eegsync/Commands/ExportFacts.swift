import Export
import Foundation

/// What an export wrote.
struct ExportFacts: Facts {
    /// One file.
    struct File: Encodable {
        var path: String
        var bytes: Int64
        var startUnixNanoseconds: Int64?
        var streams: [Stream]
    }

    /// One stream in a file.
    struct Stream: Encodable {
        var name: String
        var firstN: Int64
        var lastN: Int64
        var rows: Int64
        var filled: Int64
        /// From the first sample's position in the file to its recorded time.
        var gridOffsetSeconds: Double
        /// The largest distance between a position in the file and the recorded time.
        var maximumDeviationSeconds: Double
        /// Within what the times are right, but for the headset's constant delay; nil where that is not known.
        var timeUncertaintySeconds: Double?
    }

    var recording: Int64
    var files: [File]
    var notes: [String]

    init(recording: Int64, report: ExportReport) {
        self.recording = recording
        notes = report.notes
        files = report.files.map { file in
            File(
                path: file.path, bytes: file.byteCount, startUnixNanoseconds: file.startUnixNanoseconds,
                streams: file.streams.map {
                    Stream(
                        name: $0.name, firstN: $0.firstN, lastN: $0.lastN, rows: $0.rowCount, filled: $0.filledCount,
                        gridOffsetSeconds: $0.gridOffsetSeconds, maximumDeviationSeconds: $0.maximumDeviationSeconds,
                        timeUncertaintySeconds: $0.timeUncertaintySeconds)
                })
        }
    }

    /// The same, of a recording that is called by another number where it was asked for.
    func renumbered(_ number: Int64) -> ExportFacts {
        var facts = self
        facts.recording = number
        return facts
    }

    /// `0.7 ms`, `12 ms`, `1.3 s`.
    private static func words(ofUncertainty seconds: Double) -> String {
        seconds < 0.01 ? String(format: "%.1f ms", seconds * 1000) : Quantity.duration(seconds: seconds)
    }

    /// `0`, `0.7 ms`, `1.04 s`; less than a tenth of a millisecond is none.
    private static func words(ofDeviation seconds: Double) -> String {
        if seconds < 0.000_05 { return "0" }
        return seconds < 1 ? String(format: "%.1f ms", seconds * 1000) : String(format: "%.2f s", seconds)
    }

    /// A sentence about files whose own time is not UTC all along; nil where none differs.
    private var deviationWords: String? {
        let worst = files.flatMap(\.streams).map(\.maximumDeviationSeconds).max() ?? 0
        guard worst >= 0.000_05 else { return nil }
        return
            "The samples of these files lie at the nominal rate: up to \(Self.words(ofDeviation: worst)) (OFF BY) from their "
            + "times in UTC, which the file beside each has."
    }

    func lines(style: TerminalStyle) -> [String] {
        let from = style.clock.column("FROM", of: files.map(\.startUnixNanoseconds))
        var table = TextTable([
            .init(heading: "FILE"), .init(heading: "SIZE", alignment: .right), .init(heading: "STREAM"),
            .init(heading: "ROWS", alignment: .right), .init(heading: "FILLED", alignment: .right, dispensability: 2),
            .init(heading: "OFF BY", alignment: .right, dispensability: 1),
            .init(heading: "TIMES WITHIN", alignment: .right, dispensability: 1),
            .init(heading: from.heading, dispensability: 3),
        ])
        for file in files where file.streams.isEmpty { table.append([.init(file.path), .init(Quantity.bytes(file.bytes))]) }
        for file in files {
            for (index, stream) in file.streams.enumerated() {
                let isFirst = index == 0
                table.append([
                    .init(isFirst ? file.path : ""), .init(isFirst ? Quantity.bytes(file.bytes) : ""), .init(stream.name),
                    .init(Quantity.count(stream.rows)), .init(Quantity.count(stream.filled)),
                    .init(Self.words(ofDeviation: stream.maximumDeviationSeconds)),
                    .init(stream.timeUncertaintySeconds.map { Self.words(ofUncertainty: $0) } ?? "unknown"),
                    .init(isFirst ? file.startUnixNanoseconds.map(from.text) ?? "unknown" : ""),
                ])
            }
        }
        return table.rendered(style: style)
            + ([deviationWords].compactMap(\.self) + notes).map {
                style.apply(.caution, to: "Note: ") + $0.printable
            }
    }
}

/// What an export of several recordings wrote.
struct ExportsFacts: Facts {
    var recordings: [ExportFacts]
    /// Those without a sample in what was chosen.
    var skipped: [Int64]

    func lines(style: TerminalStyle) -> [String] {
        var lines: [String] = []
        for recording in recordings {
            lines += [style.apply(.heading, to: "Recording \(recording.recording)")] + recording.lines(style: style) + [""]
        }
        let written = "\(Quantity.count(Int64(recordings.count), "recording")) written."
        guard !skipped.isEmpty else { return lines + [written] }
        let numbers = skipped.map(String.init).joined(separator: ", ")
        return lines + ["\(written) Without a sample in what was chosen: \(numbers)."]
    }
}
