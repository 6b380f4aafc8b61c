import Alerts
import ArgumentParser
import Foundation

extension AlertsCommand {
    /// `eegsync alerts check`: one line and an exit code for programs of the Nagios family.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say in one line and an exit code how things stand, for Nagios, Icinga and the like.",
            discussion: """
                Judges by the rules of the configuration, or by the standard ones, how things are at this moment; the times \
                for which rules must hold are those of the program that asks, but for how long samples have been missing. \
                Behind a bar stands what was measured. `eegsync status --check` is the same.

                Exit codes: 0 as wished, 1 a warning, 2 critical, 3 nothing can be said.
                """)

        @OptionGroup var options: DatabaseOptions

        func run() throws { try Self.run(options) }

        /// Prints the line, and ends with its code.
        static func run(_ options: DatabaseOptions) throws {
            let check = check(options)
            print(check.line)
            if check.code != .ok { throw ExitCode(check.code.rawValue) }
        }

        /// How things stand; whatever fails leaves nothing to be said.
        static func check(_ options: DatabaseOptions) -> AlertCheck {
            do {
                let alerts = try options.alerts()
                var reader = try options.alertFactsReader()
                let facts = reader.facts(at: .now)
                if let problem = facts.databaseProblem {
                    return AlertCheck(unknown: "the database cannot be read: \(problem.printable)")
                }
                return AlertCheck(rules: alerts.rules, facts: facts)
            } catch {
                return AlertCheck(unknown: Failure(error).problem.printable)
            }
        }
    }
}
