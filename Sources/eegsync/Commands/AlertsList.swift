import Alerts
import ArgumentParser
import Bluetooth
import Foundation
import Storage

extension AlertsCommand {
    /// `eegsync alerts list`: the rules, and what they say now.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the rules, what each says now, which alerts are raised, and which messages wait.",
            discussion: """
                Raised alerts and waiting messages are those of `eegsync alerts run`, where this user may read its directory.

                EXAMPLES
                  eegsync alerts list
                  sudo eegsync alerts list --json
                """)

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var memory: AlertMemoryOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let now = AlertInstant.now
            var reader = try options.alertFactsReader()
            var known: AlertMemory?
            var problem: String?
            do throws(FileReason) {
                known = try memory.file.load()
            } catch {
                problem = error.words
            }
            try AlertListFacts(
                alerts: try options.alerts(), facts: reader.facts(at: now),
                memory: known.map { memory in
                    var memory = memory
                    memory.state = memory.state.resumed(boot: reader.hostBoot.uuid, at: now)
                    return memory
                }, memoryProblem: problem, now: now
            ).print(asJSON: output.json)
        }
    }
}

/// Rules, ways, and how they stand.
struct AlertListFacts: Facts {
    /// A rule for one headset or for the machine.
    struct Entry: Encodable {
        var rule: String
        var kind: String
        var words: String
        var severity: String
        var holdingSeconds: Double
        var headset: String?
        /// `holds`, `clear`, `between` or `unknown`.
        var verdict: String
        var text: String
        var value: Double?
        var limit: Double?
        /// For how long the alert has been raised; nil where it is not.
        var raisedSeconds: Double?
    }

    /// A way.
    struct Way: Encodable {
        var name: String
        var kind: String
        var waiting: Int
        var undelivered: Int
        var problem: String?
    }

    var rules: [Entry]
    var ways: [Way]
    /// Why nothing is known of raised alerts and waiting messages; nil where it is.
    var memoryProblem: String?

    init(alerts: Configuration.Alerts, facts: AlertFacts, memory: AlertMemory?, memoryProblem: String?, now: AlertInstant) {
        rules = alerts.rules.flatMap { rule in
            let judgements = rule.judgements(of: facts)
            let nothing = facts.databaseProblem == nil ? "nothing is to be recorded" : "nothing is known"
            return (judgements.isEmpty ? [.unknown(nothing)] : judgements).map { judgement in
                let since = memory?.state.raisedSince(rule: rule.name, headset: judgement.headset)
                return Entry(
                    rule: rule.name, kind: rule.condition.kind.rawValue, words: rule.condition.words,
                    severity: rule.severity.rawValue, holdingSeconds: rule.holding.inSeconds, headset: judgement.headset,
                    verdict: judgement.verdict.rawValue, text: judgement.text, value: judgement.measure?.value,
                    limit: judgement.measure?.limit, raisedSeconds: since.map { (now.time - $0).inSeconds })
            }
        }
        ways = alerts.ways.map { way in
            let queue = memory?.queues.first { $0.way == way.name }
            return Way(
                name: way.name, kind: way.kind.word, waiting: queue?.count ?? 0, undelivered: queue?.undelivered ?? 0,
                problem: queue?.problem)
        }
        self.memoryProblem = memoryProblem
    }

    func lines(style: TerminalStyle) -> [String] {
        var table = TextTable([
            .init(heading: "RULE"), .init(heading: "HEADSET"), .init(heading: "RAISED WHEN", wraps: true),
            .init(heading: "FOR", alignment: .right), .init(heading: "NOW", wraps: true),
            .init(heading: "RAISED", alignment: .right),
        ])
        for entry in rules {
            let look: TerminalStyle.Style? =
                switch entry.verdict {
                case "holds": entry.severity == "critical" ? .bad : .caution
                case "clear": .good
                default: nil
                }
            table.append([
                .init(entry.rule), .init(entry.headset ?? ""), .init(entry.words),
                .init(entry.holdingSeconds > 0 ? Duration.seconds(entry.holdingSeconds).inWords : "at once"),
                .init(entry.text, look),
                entry.raisedSeconds.map { .init("\(Duration.seconds($0).inWords) ago", .bad) } ?? .init(""),
            ])
        }
        var lines = table.rendered(style: style) + [""]
        if ways.isEmpty {
            lines.append("Nobody is notified: no way is configured ('alerts:' in the configuration).")
        } else {
            var table = TextTable([
                .init(heading: "WAY"), .init(heading: "KIND"), .init(heading: "WAITING", alignment: .right),
                .init(heading: "PROBLEM", wraps: true),
            ])
            for way in ways {
                table.append([
                    .init(way.name), .init(way.kind), .init(way.kind == "led" ? "" : Quantity.count(Int64(way.waiting))),
                    .init(way.problem ?? "", .bad),
                ])
            }
            lines += table.rendered(style: style)
        }
        if let memoryProblem { lines.append("Raised alerts and waiting messages are not known: \(memoryProblem).") }
        return lines
    }
}
