import ArgumentParser
import Bluetooth
import Storage

/// `eegsync latency`: how long headsets took to be back.
struct Latency: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say how long headsets took to be back, and whether one took too long.",
        discussion: """
            For each return of a headset to streaming, by the layer that found it and by why samples were missing (`begin`: \
            the first link of a recording).

            IN REACH is the time from when the headset was heard again to its first sample: that long it was surely there. A \
            silence of more than 20 s between two signs of it, in which all layers are tried once, counts as out of reach; so \
            does the time without an adapter. OUTAGE is the time from the last sample, or from when eegsync or the adapter \
            were ready, to the first sample.

            Whether a headset was in reach while nothing was heard of it cannot be known from outside: where an OUTAGE took \
            longer than 10 s and IN REACH did not, it may have been away, and the return is called undecided. The first row is \
            in the database a second after the first sample, and within the commit interval (10 s) where the link flaps.

            Exit code 1: a headset was in reach for longer than 10 s before its samples flowed.

            EXAMPLES
              eegsync latency
              eegsync latency --headset left --since 7d --json
            """)

    @OptionGroup var choice: HistoryOptions
    @OptionGroup var options: DatabaseOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let store = try options.openReadOnly()
        if let headset = choice.headset { try store.requireHeadset(named: headset) }
        let facts = LatencyFacts(try store.returns(of: choice.headset, since: choice.sinceUnixNanoseconds))
        try facts.print(asJSON: output.json, clock: times.clock)
        if !facts.late.isEmpty { throw ExitCode.failure }
    }
}

/// How long returns took.
struct LatencyFacts: Facts {
    /// A headset that is in reach is back within this.
    static let gate = Duration.seconds(10)

    var gateSeconds = LatencyFacts.gate.inSeconds
    var returns: Int
    var groups: [Group]
    /// Those in which the headset was surely in reach for longer than the gate, oldest first.
    var late: [LateReturn]
    /// Those that took longer than the gate, and nobody knows whether the headset was in reach.
    var undecided: Int

    /// Returns of one layer and cause.
    struct Group: Encodable, Hashable {
        var layer: String
        /// Why samples were missing; `begin` for the first link of a recording.
        var cause: String
        var returns: Int
        var inReach: Percentiles
        var outage: Percentiles
    }

    /// Percentiles by the nearest rank, in seconds.
    struct Percentiles: Encodable, Hashable {
        var p50Seconds: Double
        var p95Seconds: Double
        var p99Seconds: Double
        var maximumSeconds: Double

        /// - Parameter durations: at least one.
        init(_ durations: [Duration]) {
            let sorted = durations.map(\.inSeconds).sorted()
            func rank(_ fraction: Double) -> Double {
                let index = Int((fraction * Double(sorted.count)).rounded(.up)) - 1
                return sorted.isEmpty ? 0 : sorted[min(max(index, 0), sorted.count - 1)]
            }
            (p50Seconds, p95Seconds, p99Seconds, maximumSeconds) = (rank(0.5), rank(0.95), rank(0.99), rank(1))
        }
    }

    /// A return that took too long.
    struct LateReturn: Encodable, Hashable {
        var headset: String
        var unixNanoseconds: Int64?
        var layer: String
        var cause: String
        var inReachSeconds: Double
        var layersTried: Int
    }

    init(_ times: [ReturnTimes]) {
        returns = times.count
        undecided = times.count { $0.sinceAble > Self.gate && $0.sinceHeard <= Self.gate }
        late = times.filter { $0.sinceHeard > Self.gate }.map {
            LateReturn(
                headset: $0.headset, unixNanoseconds: $0.unixNanoseconds, layer: $0.layer, cause: $0.cause ?? Self.begin,
                inReachSeconds: $0.sinceHeard.inSeconds, layersTried: $0.attempts)
        }
        var keys: [[String]] = []
        for time in times where !keys.contains(Self.key(time)) { keys.append(Self.key(time)) }
        groups = keys.map { key in
            let own = times.filter { Self.key($0) == key }
            return Group(
                layer: key[0], cause: key[1], returns: own.count, inReach: Percentiles(own.map(\.sinceHeard)),
                outage: Percentiles(own.map(\.sinceAble)))
        }
        groups.sort { ($0.layer, $0.cause) < ($1.layer, $1.cause) }
    }

    private static let begin = "begin"

    private static func key(_ time: ReturnTimes) -> [String] { [time.layer, time.cause ?? begin] }

    func lines(style: TerminalStyle) -> [String] {
        if returns == 0 { return ["No headset has returned that is still known."] }
        var table = TextTable(
            [.init(heading: "LAYER"), .init(heading: "CAUSE")]
                + [
                    ("RETURNS", 0), ("IN REACH: P50", 0), ("P95", 0), ("P99", 3), ("MAX", 0), ("OUTAGE: P50", 2), ("P95", 4),
                    ("MAX", 1),
                ].map { .init(heading: $0.0, alignment: .right, dispensability: $0.1) })
        for group in groups {
            let isLate = group.inReach.maximumSeconds > gateSeconds
            table.append([
                .init(group.layer), .init(group.cause), .init(Quantity.count(Int64(group.returns))),
                Self.cell(group.inReach.p50Seconds), Self.cell(group.inReach.p95Seconds),
                Self.cell(group.inReach.p99Seconds), Self.cell(group.inReach.maximumSeconds, isLate ? .bad : nil),
                Self.cell(group.outage.p50Seconds), Self.cell(group.outage.p95Seconds),
                Self.cell(group.outage.maximumSeconds),
            ])
        }
        return table.rendered(style: style) + [""] + verdict(style)
    }

    private func verdict(_ style: TerminalStyle) -> [String] {
        var lines: [String] = []
        if late.isEmpty {
            lines.append(style.apply(.good, to: "No headset that was in reach took longer than 10 s."))
        } else {
            let count = Quantity.count(Int64(late.count), "return")
            lines.append(style.apply(.bad, to: "\(count) took longer than 10 s although the headset was in reach:"))
            lines += late.suffix(20).map {
                let time = $0.unixNanoseconds.map(style.clock.text) ?? "at an unknown time"
                let duration = Quantity.duration(seconds: $0.inReachSeconds)
                return "  \(time)  \($0.headset.printable): \(duration), found by \($0.layer) after \($0.cause), "
                    + Quantity.count(Int64($0.layersTried), "layer") + " tried"
            }
        }
        if undecided > 0 {
            let count = Quantity.count(Int64(undecided), "outage")
            lines.append("\(count) took longer than 10 s without a sign of the headset: whether it was in reach is not known.")
        }
        return lines
    }

    private static func cell(_ seconds: Double, _ style: TerminalStyle.Style? = nil) -> TextTable.Cell {
        .init(Quantity.duration(seconds: seconds), style)
    }
}
