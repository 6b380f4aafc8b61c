/// What weeks have cost, and whether that is what was promised.
package struct WeeksReport: Codable, Hashable, Sendable {
    /// How things stood at the end of a day. Sums are from the beginning on.
    package struct Day: Codable, Hashable, Sendable {
        /// From 1.
        package var number: Int
        /// What the whole process had in memory, in bytes, the simulated world included.
        package var residentBytes: Int64
        /// The database with its write-ahead log, in bytes.
        package var databaseBytes: Int64
        /// Rows stored.
        package var rows: Int64
        /// Samples that the ledger says are missing.
        package var missing: Int64
        /// Gaps.
        package var gaps: Int64
        /// Times that samples flowed again.
        package var returns: Int
        /// The longest of these from when the headset could be reached, in seconds.
        package var slowestReturnSeconds: Double
    }

    /// The end of each day, in order.
    package var days: [Day] = []
    /// How long it lasted, in simulated seconds.
    package var seconds = 0.0
    /// Samples that the headset took in a second.
    package var samplingFrequency = 0.0
    /// Bytes of the database that were forecast for its rows.
    package var forecastBytes: Int64 = 0
    /// What the database did not take although nothing was wrong with the disk, and what an audit found.
    package var problems: [String] = []

    /// Memory at the end may be so many times that of day one.
    package static let memoryRatioLimit = 1.1
    /// The database may differ by this part from what was forecast.
    package static let sizeErrorLimit = 0.05
    /// Samples flow again within this, in seconds.
    package static let returnLimit = 10.0
    /// By what part rows and ledger may differ from the time: more than any crystal's error.
    private static let countErrorLimit = 0.001

    /// Creates a report of nothing.
    package init() {}

    /// Memory at the end by that at the end of day one.
    package var memoryRatio: Double {
        guard let first = days.first, let last = days.last, first.residentBytes > 0 else { return 0 }
        return Double(last.residentBytes) / Double(first.residentBytes)
    }

    /// By what part the database is larger than forecast.
    package var sizeError: Double {
        guard let last = days.last, forecastBytes > 0 else { return 0 }
        return Double(last.databaseBytes) / Double(forecastBytes) - 1
    }

    /// What was promised and does not hold; a sentence for each.
    package var findings: [String] {
        guard let last = days.last else { return ["no day has passed"] }
        var findings = problems
        if memoryRatio > Self.memoryRatioLimit {
            findings.append("memory at the end is \(rounded(memoryRatio)) times that of day one")
        }
        if abs(sizeError) > Self.sizeErrorLimit {
            findings.append("the database has \(last.databaseBytes) bytes, \(forecastBytes) were forecast")
        }
        if let day = days.first(where: { $0.slowestReturnSeconds > Self.returnLimit }) {
            findings.append("day \(day.number): samples flowed again after \(rounded(day.slowestReturnSeconds)) s")
        }
        if last.returns < days.count { findings.append("samples flowed again only \(last.returns) times") }
        let (counted, taken) = (last.rows + last.missing, seconds * samplingFrequency)
        if abs(Double(counted) / taken - 1) > Self.countErrorLimit {
            findings.append("\(counted) samples are stored or ledgered, \(Int64(taken)) were taken")
        }
        return findings
    }

    private func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
