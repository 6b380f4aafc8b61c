/// The two texts that Prometheus reads, which differ in little.
package enum Exposition: Hashable, Sendable, CaseIterable {
    /// OpenMetrics 1.0.
    case openMetrics
    /// Prometheus' own text, 0.0.4: what promtool and older programs read.
    case prometheusText

    /// The value of `Content-Type`.
    package var contentType: String {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .prometheusText: "text/plain; version=0.0.4; charset=utf-8"
        }
    }

    /// What a client wants that names what it accepts (`Accept`, RFC 9110, 12.5.1): OpenMetrics where that is named.
    package init(accept: String) {
        self = accept.lowercased().contains("application/openmetrics-text") ? .openMetrics : .prometheusText
    }

    /// The text. A family without a sample is named all the same, so that whoever reads it knows what there can be.
    package func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families { write(family, to: &text) }
        if self == .openMetrics { text += "# EOF\n" }
        return text
    }

    private func write(_ family: MetricFamily, to text: inout String) {
        // OpenMetrics names the family; Prometheus' text names the metric, and a counter's has a suffix.
        let name = self == .prometheusText && family.kind == .counter ? family.name + "_total" : family.name
        text += "# HELP \(name) \(Self.escaped(family.help, quotes: self == .openMetrics))\n"
        text += "# TYPE \(name) \(family.kind.rawValue)\n"
        if self == .openMetrics, let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
        for sample in family.samples {
            switch sample.value {
            case .number(let value):
                let suffix = family.kind == .counter ? "_total" : ""
                text += family.name + suffix + Self.labels(sample.labels) + " " + Self.number(value) + "\n"
            case .histogram(let histogram): write(histogram, family.name, sample.labels, to: &text)
            }
        }
    }

    private func write(_ histogram: Histogram, _ name: String, _ labels: [MetricFamily.Label], to text: inout String) {
        for (bound, count) in zip(histogram.bounds + [.infinity], histogram.counts + [histogram.count]) {
            let le = MetricFamily.Label("le", bound == .infinity ? "+Inf" : "\(bound)")
            text += "\(name)_bucket\(Self.labels(labels + [le])) \(count)\n"
        }
        text += "\(name)_count\(Self.labels(labels)) \(histogram.count)\n"
        text += "\(name)_sum\(Self.labels(labels)) \(Self.number(histogram.sum))\n"
    }

    private static func labels(_ labels: [MetricFamily.Label]) -> String {
        if labels.isEmpty { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    /// A line end, a backslash and, in values of labels, a quotation mark would end what they stand in.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        if value == .infinity { return "+Inf" }
        if value == -.infinity { return "-Inf" }
        if value.isNaN { return "NaN" }
        // Whole numbers as such, as far as a number of 64 bits holds them exactly.
        if value == value.rounded(), abs(value) < 9e15 { return String(Int64(value)) }
        return "\(value)"
    }
}
