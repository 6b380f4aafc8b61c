import Alerts
import ArgumentParser
import Foundation

extension AlertsCommand {
    /// `eegsync alerts test`: a message by each way.
    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test message by each way, and say what became of it.",
            discussion: """
                Works whether or not `eegsync alerts run` runs, with the rights of whoever runs it: as the service has them, \
                sudo -u eegsync-alerts eegsync alerts test. A lamp is lit and put back.

                EXAMPLES
                  eegsync alerts test
                  eegsync alerts test phone
                """)

        @Argument(help: ArgumentHelp("Only this way.", valueName: "way"))
        var way: String?

        @OptionGroup var options: DatabaseOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let alerts = try options.alerts()
            let ways = alerts.ways.filter { way == nil || $0.name == way }
            guard !ways.isEmpty else { throw Self.noWay(way, among: alerts.ways.map(\.name)) }
            let id = "test-" + String(UInt64.random(in: .min ... .max), radix: 36)
            let notice = Notice.test(id: id, machine: Configuration.Alerts.machine, at: .now)
            var results: [AlertTestFacts.Result] = []
            for way in ways {
                let outcome = await AlertPerformer().deliver(notice, by: way.kind, undelivered: 0)
                results.append(
                    .init(name: way.name, kind: way.kind.word, isDelivered: outcome == .delivered, reason: outcome.reason))
            }
            try AlertTestFacts(message: id, ways: results).print(asJSON: output.json)
            if results.contains(where: { !$0.isDelivered }) { throw ExitCode(Failure.Code.unavailable.rawValue) }
        }

        private static func noWay(_ name: String?, among known: [String]) -> Failure {
            let names = known.isEmpty ? "none is configured" : "there are \(known.joined(separator: ", "))"
            return Failure(
                problem: (name.map { "there is no way '\($0)'" } ?? "there is no way to notify anybody") + "; \(names).",
                consequence: "nothing was sent.", remedy: "name ways under 'alerts:' in the configuration.", code: .noInput)
        }
    }
}

/// What became of test messages.
struct AlertTestFacts: Facts {
    /// One way.
    struct Result: Encodable {
        var name: String
        var kind: String
        var isDelivered: Bool
        /// Why it is not known to have arrived.
        var reason: String?
    }

    /// The identifier that all of them carry.
    var message: String
    var ways: [Result]

    func lines(style: TerminalStyle) -> [String] {
        var table = TextTable([.init(heading: "WAY"), .init(heading: "KIND"), .init(heading: "TEST", wraps: true)])
        for way in ways {
            let taken = way.kind == "led" ? "lit, and put back" : "taken"
            table.append([
                .init(way.name), .init(way.kind),
                way.isDelivered ? .init(taken, .good) : .init("failed: \(way.reason ?? "")", .bad),
            ])
        }
        return table.rendered(style: style) + ["message \(message)"]
    }
}
