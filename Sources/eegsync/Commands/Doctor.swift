import ArgumentParser
import Foundation

/// `eegsync doctor`: whether this machine is fit to record, and what to do where it is not.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check whether this machine is fit to record, and say what to do.",
        discussion: """
            Looks at the configuration, the Bluetooth adapter, bluetoothd, permissions, the clock, the database and its disk, \
            whether what streams is stored, the times of headsets that stream, quarantined headsets, and the service. It \
            changes nothing.

            Exit code 0 where nothing is a problem (warnings are none), 69 otherwise.

            EXAMPLES
              eegsync doctor
              eegsync doctor --json
            """)

    @OptionGroup var options: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let facts = DoctorFacts(findings: Diagnosis.findings(of: HostInspection(options: options).facts()))
        try facts.print(asJSON: output.json)
        if facts.problems > 0 { throw ExitCode(Failure.Code.unavailable.rawValue) }
    }
}

/// What the doctor says.
struct DoctorFacts: Facts {
    var findings: [Finding]
    var problems: Int
    var warnings: Int

    init(findings: [Finding]) {
        self.findings = findings
        problems = findings.filter { $0.verdict == .problem }.count
        warnings = findings.filter { $0.verdict == .warning }.count
    }

    func lines(style: TerminalStyle) -> [String] {
        lines(style: style, columns: style.columns)
    }

    /// - Parameter columns: how wide a line may be; nil for any width.
    func lines(style: TerminalStyle, columns: Int?) -> [String] {
        let width = findings.map { $0.check.printable.displayWidth }.max() ?? 0
        let verdictWidth = Finding.Verdict.allCases.map(\.rawValue.count).max() ?? 0
        let indent = verdictWidth + width + 4
        var lines: [String] = []
        for finding in findings {
            let check = finding.check.printable
            let verdict = finding.verdict.rawValue
            let head =
                style.apply(finding.verdict.look, to: verdict) + Self.spaces(verdictWidth - verdict.count + 2)
                + style.apply(.heading, to: check) + Self.spaces(width - check.displayWidth + 2)
            lines += Paragraph.block(finding.sentence.printable, head: head, indent: indent, columns: columns)
            guard let remedy = finding.remedy else { continue }
            let advice = "you can: \(remedy.printable)"
            lines += Paragraph.block(advice, head: Self.spaces(indent), indent: indent, columns: columns) {
                style.apply(.faint, to: $0)
            }
        }
        return lines + ["", summary(style: style)]
    }

    private func summary(style: TerminalStyle) -> String {
        let warned = Quantity.count(Int64(warnings), "warning")
        if problems > 0 { return style.apply(.bad, to: "\(Quantity.count(Int64(problems), "problem")), \(warned).") }
        if warnings > 0 { return style.apply(.caution, to: "No problem, \(warned).") }
        return style.apply(.good, to: "This machine is fit to record.")
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}

extension Finding.Verdict {
    /// How it looks on a terminal.
    fileprivate var look: TerminalStyle.Style {
        switch self {
        case .ok: .good
        case .warning: .caution
        case .problem: .bad
        }
    }
}
