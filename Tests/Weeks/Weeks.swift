import CLinux
import Foundation
import Rehearsal

/// Simulates weeks of the whole acquisition into a new database, and prints a line of JSON for each day and one for all of
/// them; `Tests/Weeks/run` makes a table of them. Exit 0 if every promise was kept, 65 if not.
@main
enum Weeks {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2 || arguments.count == 3, let days = arguments.first.flatMap({ Int($0) }),
            let path = arguments.dropFirst().first
        else {
            print("usage: Weeks DAYS DATABASE [\(WeeksPlan.Defect.allCases.map(\.rawValue).joined(separator: " | "))]")
            exit(64)
        }
        // As `eegsync run` does.
        clinux_return_freed_memory()
        var plan = WeeksPlan(days: days)
        if arguments.count == 3 { plan.defect = arguments.last.flatMap(WeeksPlan.Defect.init(rawValue:)) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.keyEncodingStrategy = .convertToSnakeCase
        func show(_ value: some Encodable) throws {
            try FileHandle.standardOutput.write(contentsOf: encoder.encode(value) + Data("\n".utf8))
        }
        let report = try WeeksRun(plan, path: path).run(
            residentBytes: residentBytes, dayEnded: { try? show($0) })
        try show(Outcome(report))
        if !report.findings.isEmpty { exit(65) }
    }

    /// What the process has in memory, in bytes: the second number of /proc/self/statm counts pages (proc(5)).
    private static func residentBytes() -> Int64 {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int64($0) } ?? 0
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// What all days came to.
    private struct Outcome: Encodable {
        var memoryRatio: Double
        var sizeError: Double
        var forecastBytes: Int64
        var seconds: Double
        var findings: [String]

        init(_ report: WeeksReport) {
            (memoryRatio, sizeError, forecastBytes) = (report.memoryRatio, report.sizeError, report.forecastBytes)
            (seconds, findings) = (report.seconds, report.findings)
        }
    }
}
