/// One figure of everything that has it: a family of OpenMetrics, a metric of Prometheus.
package struct MetricFamily: Hashable, Sendable {
    /// How its values behave.
    package enum Kind: String, Hashable, Sendable {
        /// Goes up and down.
        case gauge
        /// Goes up only, until it begins anew at 0.
        case counter
        /// How many values were no greater than each of some bounds.
        case histogram
    }

    /// A name and a value by which samples of a family are distinguished.
    package struct Label: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            (self.name, self.value) = (name, value)
        }
    }

    /// One value.
    package struct Sample: Hashable, Sendable {
        package var labels: [Label]
        package var value: Value
    }

    /// What is sampled.
    package enum Value: Hashable, Sendable {
        case number(Double)
        case histogram(Histogram)
    }

    /// Without the suffix of its kind (`_total`, `_bucket`), with that of its unit.
    package var name: String
    package var kind: Kind
    /// In the words of OpenMetrics, such as `seconds`; the name ends with it. Nil for what is counted.
    package var unit: String?
    /// One sentence.
    package var help: String
    package private(set) var samples: [Sample] = []

    package init(_ name: String, _ kind: Kind, unit: String? = nil, help: String) {
        (self.name, self.kind, self.unit, self.help) = (name, kind, unit, help)
    }

    /// Adds a value; nil, and what is no number, is left out.
    package mutating func add(_ value: Double?, _ labels: Label...) {
        guard let value, !value.isNaN else { return }
        samples.append(Sample(labels: labels, value: .number(value)))
    }

    /// Adds a count.
    package mutating func add(_ value: Int64?, _ labels: Label...) {
        guard let value else { return }
        samples.append(Sample(labels: labels, value: .number(Double(value))))
    }

    /// Adds yes or no, as 1 or 0.
    package mutating func add(_ value: Bool?, _ labels: Label...) {
        guard let value else { return }
        samples.append(Sample(labels: labels, value: .number(value ? 1 : 0)))
    }

    /// Adds a histogram.
    package mutating func add(_ value: Histogram, _ labels: Label...) {
        samples.append(Sample(labels: labels, value: .histogram(value)))
    }

    /// Adds which one of several states holds: 1 for that one, 0 for the others.
    package mutating func add(state: String?, of states: [String], label: String, _ labels: Label...) {
        guard let state else { return }
        for name in states + (states.contains(state) ? [] : [state]) {
            samples.append(Sample(labels: labels + [Label(label, name)], value: .number(name == state ? 1 : 0)))
        }
    }
}

/// How values are distributed.
package struct Histogram: Hashable, Sendable {
    /// Upper bounds, ascending; without infinity.
    package let bounds: [Double]
    /// How many values were no greater than each bound.
    package private(set) var counts: [Int64]
    package private(set) var count: Int64 = 0
    package private(set) var sum = 0.0

    /// - Parameters:
    ///   - bounds: ascending.
    ///   - values: those that are no numbers are left out.
    package init(bounds: [Double], values: some Sequence<Double>) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
        for value in values where !value.isNaN {
            for index in bounds.indices where value <= bounds[index] { counts[index] += 1 }
            count += 1
            sum += value
        }
    }
}
