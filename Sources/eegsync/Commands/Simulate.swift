import ArgumentParser
import Bluetooth
import Foundation
import Rehearsal
import Simulation
import Storage

/// `eegsync simulate`: rehearsals by seed, watched by checkers.
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Rehearse the acquisition in virtual time against everything that can go wrong.",
        discussion: """
            Each seed makes a world of headsets and faults, and runs the real acquisition into a real database in it. Checkers \
            watch every promise. A broken one is printed with the command that replays its seed.

            EXAMPLES
              eegsync simulate --seeds 1..50
              eegsync simulate --seeds 17..17 --faults everyday --timeline
            """)

    /// How much goes wrong.
    enum Weather: String, ExpressibleByArgument, CaseIterable {
        case none, everyday, storm

        var faults: FaultProbabilities {
            switch self {
            case .none: .none
            case .everyday: .everyday
            case .storm: .storm
            }
        }
    }

    @Option(
        help: ArgumentHelp("The first and the last seed. Without it: \(Self.usualSeeds).", valueName: "first..last"),
        transform: SeedRange.init)
    var seeds = Self.usualSeeds

    @Option(help: "How much goes wrong: none, everyday or storm.")
    var faults = Weather.storm

    @Flag(help: "Print what happened in each run.")
    var timeline = false

    @Option(
        help: ArgumentHelp(
            "Plant a defect, to see that the checkers notice it: \(Self.defects).", valueName: "defect"),
        transform: Self.defect)
    var plant: PlantedDefect?

    @Option(help: ArgumentHelp("Keep the database of a single seed in a new file.", valueName: "path"))
    var keep: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if seeds.last - seeds.first >= 1_000_000 { throw ValidationError("--seeds takes at most 1,000,000 seeds.") }
        guard let keep else { return }
        if seeds.first != seeds.last { throw ValidationError("--keep takes a single seed.") }
        if keep.isEmpty || keep.hasSuffix("/") { throw ValidationError("--keep takes the path of a new file.") }
    }

    /// Looks for what would keep the database from being made, before anything is made.
    private func checkKept() throws {
        guard let keep else { return }
        if FileManager.default.fileExists(atPath: keep) {
            throw Failure(
                problem: "the file \(keep) exists already.", consequence: "it was left untouched.",
                remedy: "choose another path.", code: .cannotCreate)
        }
        let directory = (keep as NSString).deletingLastPathComponent
        guard directory.isEmpty || FileManager.default.fileExists(atPath: directory) else {
            throw Failure(
                problem: "the directory \(directory) is not there.", consequence: "nothing was rehearsed.",
                remedy: "create it, or choose another path.", code: .cannotCreate)
        }
    }

    func run() throws {
        try checkKept()
        var facts = SimulateFacts(faults: faults.rawValue)
        facts.planted = plant?.rawValue
        var progress = ProgressBar(label: "rehearsing")
        let began = ContinuousClock.now
        for seed in seeds.first...seeds.last {
            var plan = RehearsalPlan.seeded(seed, faults: faults.faults)
            plan.defect = plant
            let rehearsal = try Rehearsal(plan)
            let report = try rehearsal.run()
            if let keep { try rehearsal.store.copy(to: keep) }
            facts.add(report, timeline: timeline)
            progress.update(done: Int64(seed - seeds.first + 1), total: Int64(seeds.last - seeds.first + 1))
        }
        progress.finish()
        facts.elapsedSeconds = Double((ContinuousClock.now - began).components.seconds)
        try facts.print(asJSON: output.json)
        if !facts.violations.isEmpty { throw ExitCode(65) }
    }
}

extension Simulate {
    fileprivate static let usualSeeds = SeedRange(1, 50)

    /// The defects that can be planted, in a row.
    fileprivate static let defects = PlantedDefect.allCases.map(\.rawValue).joined(separator: ", ")

    fileprivate static func defect(_ name: String) throws -> PlantedDefect {
        guard let defect = PlantedDefect(rawValue: name) else {
            throw ValidationError("'\(name)' is no defect that can be planted; there are \(defects).")
        }
        return defect
    }
}

/// `A..B`, both included.
struct SeedRange: Hashable {
    var first: UInt64
    var last: UInt64

    init(_ first: UInt64, _ last: UInt64) {
        self.first = first
        self.last = last
    }

    init(_ text: String) throws {
        let ends = text.components(separatedBy: "..").map { UInt64($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
            throw ValidationError("'\(text)' is no range of seeds; write 1..50, or one seed.")
        }
        self.init(first, last)
    }
}

extension SeedRange: CustomStringConvertible {
    /// Such as `1..50`.
    var description: String { "\(first)..\(last)" }
}

/// What many rehearsals found.
struct SimulateFacts: Facts {
    /// A broken promise.
    struct Broken: Encodable, Hashable {
        var seed: UInt64
        var rule: String
        var atSeconds: Double
        var detail: String
        var replay: String
    }

    /// How fast one layer brought headsets back.
    struct LayerLatency: Encodable, Hashable {
        var layer: String
        var returns: Int
        var p50Seconds: Double
        var p95Seconds: Double
        var maximumSeconds: Double
    }

    /// How often a fault was really injected.
    struct FaultCount: Encodable, Hashable {
        var fault: String
        var count: Int
    }

    var faults: String
    /// The planted defect, if any.
    var planted: String?
    var seeds = 0
    var simulatedSeconds = 0.0
    var elapsedSeconds = 0.0
    var rows: Int64 = 0
    var missing: Int64 = 0
    var recovered: Int64 = 0
    var violations: [Broken] = []
    var latencies: [LayerLatency] { layers.map(latency) }
    var injected: [FaultCount] { counts.occurred.map { FaultCount(fault: $0.fault.name, count: $0.count) } }

    private var counts = InjectedFaults()
    private var returns: [RehearsalReport.Return] = []
    private var timelines: [String] = []

    private enum CodingKeys: String, CodingKey {
        case faults, seeds, simulatedSeconds, elapsedSeconds, rows, missing, recovered, violations, latencies, injected
    }

    init(faults: String) {
        self.faults = faults
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(faults, forKey: .faults)
        try container.encode(seeds, forKey: .seeds)
        try container.encode(simulatedSeconds, forKey: .simulatedSeconds)
        try container.encode(elapsedSeconds, forKey: .elapsedSeconds)
        try container.encode(rows, forKey: .rows)
        try container.encode(missing, forKey: .missing)
        try container.encode(recovered, forKey: .recovered)
        try container.encode(violations, forKey: .violations)
        try container.encode(latencies, forKey: .latencies)
        try container.encode(injected, forKey: .injected)
    }

    mutating func add(_ report: RehearsalReport, timeline: Bool) {
        seeds += 1
        simulatedSeconds += report.simulated.inSeconds
        rows += report.rows
        missing += report.missing
        recovered += report.recovered
        counts.add(report.injected)
        returns += report.returns
        let planting = planted.map { " --plant \($0)" } ?? ""
        for violation in report.violations {
            violations.append(
                Broken(
                    seed: report.seed, rule: violation.rule.rawValue, atSeconds: violation.time.seconds,
                    detail: violation.detail,
                    replay: "eegsync simulate --seeds \(report.seed)..\(report.seed) --faults \(faults)\(planting)"))
        }
        guard timeline else { return }
        timelines.append("seed \(report.seed)")
        for entry in report.timeline { timelines.append("  \(Quantity.duration(seconds: entry.time.seconds))  \(entry.text)") }
    }

    private var layers: [String] {
        ["restoration", "cachedIdentifier", "serviceRetrieval", "scan"].filter { layer in returns.contains { $0.layer == layer }
        }
    }

    private func latency(_ layer: String) -> LayerLatency {
        let sorted = returns.filter { $0.layer == layer }.map { $0.latency.inSeconds }.sorted()
        func percentile(_ part: Double) -> Double { sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))] }
        return LayerLatency(
            layer: layer, returns: sorted.count, p50Seconds: percentile(0.5), p95Seconds: percentile(0.95),
            maximumSeconds: sorted.last ?? 0)
    }

    func lines(style: TerminalStyle) -> [String] {
        var lines = timelines
        lines.append(
            "\(Quantity.count(Int64(seeds), "seed")), \(Quantity.duration(seconds: simulatedSeconds)) simulated in "
                + "\(Quantity.duration(seconds: elapsedSeconds)): \(Quantity.count(rows)) rows stored, "
                + "\(Quantity.count(recovered)) recovered from memory, \(Quantity.count(missing)) missing and ledgered.")
        var table = TextTable([
            .init(heading: "BACK BY LAYER"), .init(heading: "TIMES", alignment: .right),
            .init(heading: "P50", alignment: .right), .init(heading: "P95", alignment: .right),
            .init(heading: "MAX", alignment: .right),
        ])
        for latency in latencies {
            table.append([
                .init(latency.layer), .init(String(latency.returns)), .init(Quantity.duration(seconds: latency.p50Seconds)),
                .init(Quantity.duration(seconds: latency.p95Seconds)),
                .init(Quantity.duration(seconds: latency.maximumSeconds)),
            ])
        }
        if !latencies.isEmpty { lines += [""] + table.rendered(style: style) }
        var faultTable = TextTable([.init(heading: "FAULT INJECTED"), .init(heading: "TIMES", alignment: .right)])
        for fault in injected { faultTable.append([.init(fault.fault), .init(String(fault.count))]) }
        if !injected.isEmpty { lines += [""] + faultTable.rendered(style: style) }
        lines.append("")
        if violations.isEmpty {
            lines.append(style.apply(.good, to: "Every promise was kept."))
        } else {
            for (index, violation) in violations.enumerated()
            where index < 3 || violations[index - 3].seed != violation.seed {
                lines.append(
                    style.apply(.bad, to: violation.rule)
                        + " at \(Quantity.duration(seconds: violation.atSeconds)): \(violation.detail)\n    \(violation.replay)"
                )
            }
            lines.append(style.apply(.bad, to: "\(Quantity.count(Int64(violations.count), "promise")) broken."))
        }
        return lines
    }
}
