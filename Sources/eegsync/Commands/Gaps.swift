import ArgumentParser
import Headsets
import Storage

/// `eegsync gaps`: what is missing, and why.
struct Gaps: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what is missing in a recording, and why.",
        discussion: """
            A gap is a run of samples that are missing. What a headset handed over later, from its memory, counts as recovered.

            Samples that a headset by its design never sends (`notSent`) come about each second; those that follow each other \
            in the list are one line. With --json each is listed.

            KNOWN says how a length is known: counted by the headset, or timed by clocks, right within so many samples; ? \
            where no clock can be trusted yet. What finds losses in each stream: eegsync audit.

            EXAMPLES
              eegsync gaps 12
              eegsync gaps 12 --json
            """)

    @Argument(help: RecordingName.help)
    var recording: RecordingName

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let store = try options.openReadOnly()
        let recording = try recording.number(in: store)
        let gaps = try store.gaps(of: RecordingID(rawValue: recording))
        try GapsFacts(recording: recording, gaps: gaps).print(asJSON: output.json, clock: times.clock)
    }
}

/// The gap ledger of a recording.
struct GapsFacts: Facts {
    var recording: Int64
    var gaps: [GapSummary]

    func lines(style: TerminalStyle) -> [String] {
        if gaps.isEmpty { return [style.apply(.good, to: "No missing sample is known in recording \(recording).")] }
        let from = style.clock.column("FROM", of: gaps.map(\.startUnixNanoseconds))
        var table = TextTable([
            .init(heading: from.heading), .init(heading: "STREAM"), .init(heading: "CHANNEL", dispensability: 2),
            .init(heading: "FIRST N", alignment: .right, dispensability: 3),
            .init(heading: "SAMPLES", alignment: .right),
            .init(heading: "LENGTH", alignment: .right), .init(heading: "RECOVERED", alignment: .right, dispensability: 1),
            .init(heading: "KNOWN"), .init(heading: "CAUSE", wraps: true),
        ])
        for run in runs {
            let gap = run.gap
            let isWhole = gap.recovered > 0 && gap.count == gap.recovered
            table.append([
                .init(gap.startUnixNanoseconds.map(from.text) ?? "unknown"),
                .init(StreamDescription.bankName(gap.stream, gap.bank)),
                .init(gap.channel == 0 ? "all" : gap.channelName ?? String(gap.channel)), .init(Quantity.count(gap.firstN)),
                samples(of: gap),
                .init(gap.durationSeconds.map { Quantity.duration(seconds: $0) } ?? ""),
                .init(Quantity.count(gap.recovered), isWhole ? .good : nil), .init(known(of: gap)),
                .init(run.count == 1 ? gap.cause : "\(gap.cause), \(Quantity.count(Int64(run.count))) times"),
            ])
        }
        let missing = gaps.filter { $0.channel == 0 }.reduce(0) { $0 + ($1.missing ?? 0) }
        let unknown = gaps.count { $0.missing == nil }
        var summary = "\(Quantity.count(Int64(gaps.count), "gap")), \(Quantity.count(missing, "row")) missing for good"
        if unknown > 0 { summary += ", and \(Quantity.count(Int64(unknown), "gap")) of unknown length" }
        var lines = table.rendered(style: style) + ["", summary + ".", ""]
        var explained: [String] = []
        for gap in gaps where !explained.contains(gap.cause) {
            explained.append(gap.cause)
            lines.append(style.apply(.faint, to: "\(gap.cause): \(gap.meaning)"))
        }
        return lines
    }

    private func samples(of gap: GapSummary) -> TextTable.Cell {
        guard let count = gap.count else { return .init("still open", .caution) }
        if count > 0 { return .init(Quantity.count(count)) }
        return gap.missing.map { .init(Quantity.count($0)) } ?? .init("unknown", .caution)
    }

    private func known(of gap: GapSummary) -> String {
        switch (gap.certainty, gap.uncertainty) {
        case ("timed", let uncertainty?): "± \(Quantity.count(uncertainty))"
        case ("unknown", _): "?"
        case (let certainty, _): certainty
        }
    }

    /// The gaps as they are listed: those that the headset makes by design, a line of them for as long as nothing else is
    /// missing. A Ganglion has 86,000 a day.
    private var runs: [(gap: GapSummary, count: Int)] {
        var runs: [(gap: GapSummary, count: Int)] = []
        for gap in gaps {
            if let last = runs.last, gap.cause == GapCause.notSent.rawValue, last.gap.cause == gap.cause,
                (last.gap.stream, last.gap.bank, last.gap.channel) == (gap.stream, gap.bank, gap.channel),
                let count = gap.count, let sum = last.gap.count
            {
                runs[runs.count - 1].gap.count = sum + count
                runs[runs.count - 1].gap.durationSeconds = nil
                runs[runs.count - 1].gap.recovered += gap.recovered
                runs[runs.count - 1].count += 1
            } else {
                runs.append((gap, 1))
            }
        }
        return runs
    }
}
