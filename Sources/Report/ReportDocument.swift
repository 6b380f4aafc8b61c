/// What a report shows of a recording: values alone, of a size that does not grow with the recording's length, but for its
/// hours.
package struct ReportDocument: Sendable {
    /// A line of two columns.
    package struct Fact: Hashable, Sendable {
        package var label: String
        package var value: String

        package init(_ label: String, _ value: String) {
            self.label = label
            self.value = value
        }
    }

    package var recording: Int64
    package var headset: String
    /// What a reader wants to know first: figures.
    package var summary: [Fact] = []
    /// What it was made with, and what people say of it.
    package var facts: [Fact] = []
    /// Links that were made with the same, where that changed.
    package var stretches: [ReportTable] = []
    /// Nil where no sample has a time: then nothing is drawn over time.
    package var axis: TimeAxis?
    package var connection: ConnectionCourse?
    /// In per cent.
    package var battery: [ValueRaster.Column] = []
    package var batteryFacts: [Fact] = []
    package var streams: [StreamReport] = []
    package var marks = MarkList()
    package var audit: AuditLines
    /// The program's version, and when the report was written, UTC nanoseconds since 1970.
    package var version: String
    package var writtenUnixNanoseconds: Int64
    package var clock: ReportClock
}

/// A table as it is shown; the first row of cells below the headings belongs to the first heading, and so on.
package struct ReportTable: Hashable, Sendable {
    package var caption: String
    package var headings: [String]
    package var rows: [[String]]
    /// Which columns hold numbers.
    package var numeric: Set<Int> = []
}

/// Pieces of time, each of a kind, in one line of a picture.
package struct Lane: Hashable, Sendable {
    /// From one position of the axis to another, 0 ... 1.
    package struct Run: Hashable, Sendable {
        package var kind: LaneKind
        package var start: Double
        package var end: Double
        /// True for what was missing and arrived after all.
        package var isPale = false
    }

    package var name: String
    package var runs: [Run]

    init(name: String, runs: [Run]) {
        self.name = name
        self.runs = runs
    }

    /// - Parameter kinds: of the raster; behind them may come the same again, pale.
    init(name: String, raster: ColumnRaster, kinds: [LaneKind]) {
        self.name = name
        let width = Double(raster.columnCount)
        runs = raster.runs.map {
            Run(
                kind: kinds[$0.kind % kinds.count], start: Double($0.columns.lowerBound) / width,
                end: Double($0.columns.upperBound) / width, isPale: $0.kind >= kinds.count)
        }
    }
}

/// What the connection did over time.
package struct ConnectionCourse: Hashable, Sendable {
    package var lane: Lane
    /// How long it was in each state, in seconds, in the order of ``LaneKind``; and how often it was entered.
    package var sums: [Sum]

    /// One state.
    package struct Sum: Hashable, Sendable {
        package var kind: LaneKind
        package var words: String
        package var seconds: Double
        package var count: Int
    }
}

/// What people and headsets have marked.
package struct MarkList: Hashable, Sendable {
    /// One mark.
    package struct Mark: Hashable, Sendable {
        package var unixNanoseconds: Int64
        package var description: String
        package var source: String
        package var durationSeconds: Double?
    }

    /// The first of them.
    package var marks: [Mark] = []
    /// How many there are.
    package var count = 0
    /// The columns of the axis in which one begins, 0 ... 1.
    package var positions: [Double] = []
}

/// What an audit said, as `eegsync audit` does.
package struct AuditLines: Hashable, Sendable {
    /// One kind of evidence.
    package struct Statement: Hashable, Sendable {
        package var evidence: String
        /// `holds`, `fails` or `not checked`.
        package var result: String
        package var detail: String

        package init(evidence: String, result: String, detail: String) {
            self.evidence = evidence
            self.result = result
            self.detail = detail
        }
    }

    package var holds: Bool
    package var statements: [Statement]
    /// What contradicts the evidence, a sentence each.
    package var findings: [String]

    package init(holds: Bool, statements: [Statement], findings: [String]) {
        self.holds = holds
        self.statements = statements
        self.findings = findings
    }
}
