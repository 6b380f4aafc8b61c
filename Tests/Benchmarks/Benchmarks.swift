import Glibc

/// Measures one workload, and prints what it cost as one line of JSON; of decoders, a line for each. `Tests/Benchmarks/run`
/// runs all of them beside their floors.
@main
enum Benchmarks {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        let name = arguments.popFirst() ?? ""
        let path = arguments.first ?? ""
        let cost: Cost
        switch (name, arguments.count) {
        case ("ingest", 4):
            let numbers = arguments.dropFirst().map { Int($0) ?? 1 }
            cost = try Ingest(headsets: numbers[0], seconds: numbers[1], bits: numbers[2]).run(path: path)
        case ("ingest-without-evidence", 4):
            let numbers = arguments.dropFirst().map { Int($0) ?? 1 }
            let ingest = Ingest(headsets: numbers[0], seconds: numbers[1], bits: numbers[2], keepsEvidence: false)
            cost = try ingest.run(path: path)
        case ("simulation", 2):
            cost = ConnectionSimulation(seed: UInt64(path) ?? 1, seconds: Int64(arguments.last ?? "") ?? 1).run()
        case ("decode", 1):
            let decode = Decode(rounds: Int(path) ?? 1)
            for workload in DecodeWorkload.all + [.allocating] { print(decode.run(workload).json) }
            return
        case ("export", 2): cost = try FormatExport(database: path, file: arguments.last ?? "").run()
        case ("gaps", 2): cost = try ManyGaps(gaps: Int(arguments.last ?? "") ?? 1).run(path: path)
        case ("day", 2): cost = try RecordedDay(hours: Int(arguments.last ?? "") ?? 24).run(path: path)
        case ("days", 2): cost = try ManyDays(days: Int(arguments.last ?? "") ?? 1).run(path: path)
        default:
            print(
                "usage: Benchmarks ingest DATABASE HEADSETS SECONDS BITS"
                    + " | ingest-without-evidence DATABASE HEADSETS SECONDS BITS"
                    + " | simulation SEED SECONDS | export DATABASE FILE"
                    + " | decode ROUNDS | day DATABASE HOURS | days DATABASE DAYS | gaps DATABASE GAPS")
            exit(64)
        }
        print(cost.json)
    }
}

/// What a workload cost.
struct Cost {
    /// How many rows, simulated seconds or the like were worked on.
    var units: Int64
    /// User and system time of the process, and of the programs that it ran to their end, in seconds.
    var cpuSeconds: Double
    /// Further facts, by name.
    var facts: [(name: String, value: Double)] = []

    /// Runs `work`, which says how many units it did, and measures its processor time.
    static func measure(_ work: () throws -> Int64) rethrows -> Cost {
        let begin = processorSeconds()
        let units = try work()
        return Cost(units: units, cpuSeconds: processorSeconds() - begin)
    }

    private static func processorSeconds() -> Double {
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return [RUSAGE_SELF, RUSAGE_CHILDREN].reduce(0) { sum, who in
            var usage = rusage()
            getrusage(__rusage_who_t(who.rawValue), &usage)
            return sum + seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }
    }

    var json: String {
        let all = [("units", Double(units)), ("cpuSeconds", cpuSeconds)] + facts.map { ($0.name, $0.value) }
        return "{" + all.map { "\"\($0.0)\": \($0.1)" }.joined(separator: ", ") + "}"
    }
}
