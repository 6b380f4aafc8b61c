import Testing

@testable import Metrics

@Suite("Figures as text")
struct ExpositionTests {
    private static var families: [MetricFamily] {
        var rows = MetricFamily("eegsync_stream_rows", .counter, help: "Rows.\nOf all \"streams\" \\ none.")
        rows.add(Int64(12_345_678_901), .init("headset", "a\"b\\c\nd"), .init("stream", "eeg"))
        var age = MetricFamily("eegsync_age_seconds", .gauge, unit: "seconds", help: "Age.")
        age.add(0.25)
        age.add(Double?.none)
        age.add(Double.nan)
        var empty = MetricFamily("eegsync_empty", .gauge, help: "Nothing.")
        empty.add(Double?.none)
        var returns = MetricFamily("eegsync_return_seconds", .histogram, unit: "seconds", help: "Returns.")
        returns.add(Histogram(bounds: [0.1, 1], values: [0.05, 0.1, 0.5, 7, .nan]), .init("headset", "left"))
        return [rows, age, empty, returns]
    }

    @Test("OpenMetrics")
    func openMetrics() {
        #expect(
            Exposition.openMetrics.text(Self.families) == #"""
                # HELP eegsync_stream_rows Rows.\nOf all \"streams\" \\ none.
                # TYPE eegsync_stream_rows counter
                eegsync_stream_rows_total{headset="a\"b\\c\nd",stream="eeg"} 12345678901
                # HELP eegsync_age_seconds Age.
                # TYPE eegsync_age_seconds gauge
                # UNIT eegsync_age_seconds seconds
                eegsync_age_seconds 0.25
                # HELP eegsync_empty Nothing.
                # TYPE eegsync_empty gauge
                # HELP eegsync_return_seconds Returns.
                # TYPE eegsync_return_seconds histogram
                # UNIT eegsync_return_seconds seconds
                eegsync_return_seconds_bucket{headset="left",le="0.1"} 2
                eegsync_return_seconds_bucket{headset="left",le="1.0"} 3
                eegsync_return_seconds_bucket{headset="left",le="+Inf"} 4
                eegsync_return_seconds_count{headset="left"} 4
                eegsync_return_seconds_sum{headset="left"} 7.65
                # EOF

                """#)
    }

    @Test("Prometheus' own text names a counter with its suffix, and has neither units nor an end")
    func prometheusText() {
        let text = Exposition.prometheusText.text(Self.families)
        #expect(
            text.hasPrefix(
                "# HELP eegsync_stream_rows_total Rows.\\nOf all \"streams\" \\\\ none.\n# TYPE eegsync_stream_rows_total"))
        #expect(!text.contains("# UNIT") && !text.contains("# EOF"))
    }

    @Test("A client gets what it asks for")
    func negotiation() {
        let prometheus =
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,*/*;q=0.1"
        #expect(Exposition(accept: prometheus) == .openMetrics)
        #expect(Exposition(accept: "") == .prometheusText && Exposition(accept: "text/html, */*") == .prometheusText)
    }

    @Test("Of several states one holds; one that is not known gets a sample of its own")
    func states() {
        func values(_ state: String?) -> [String] {
            var family = MetricFamily("s", .gauge, help: "")
            family.add(state: state, of: ["a", "b"], label: "state")
            return Exposition.prometheusText.text([family]).split(separator: "\n").dropFirst(2).map(String.init)
        }
        #expect(values("b") == [#"s{state="a"} 0"#, #"s{state="b"} 1"#])
        #expect(values("new") == [#"s{state="a"} 0"#, #"s{state="b"} 0"#, #"s{state="new"} 1"#])
        #expect(values(nil).isEmpty)
    }

    @Test("Every family has one unit, which its name ends with, and a name of its own")
    func names() {
        var headset = HeadsetFigures(name: "left", model: "muse")
        headset.recording = 3
        let families = HostFigures().families + HeadsetFigures.families([headset], states: ["streaming"])
        #expect(Set(families.map(\.name)).count == families.count)
        for family in families {
            #expect(family.name.hasPrefix("eegsync_") && family.help.hasSuffix("."))
            if let unit = family.unit { #expect(family.name.hasSuffix("_" + unit)) }
            #expect(!family.name.hasSuffix("_total"))
        }
    }

    @Test("Where the database cannot be read, that is said, and nothing that is not known")
    func unreadable() {
        var host = HostFigures()
        host.isReadable = false
        let text = Exposition.openMetrics.text(host.families)
        #expect(text.contains("eegsync_database_readable 0\n") && !text.contains("\neegsync_daemon_running "))
    }
}
