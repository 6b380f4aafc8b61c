/// The battery's charge over time.
struct BatterySection {
    private let document: ReportDocument
    private let axis: TimeAxis

    init(_ document: ReportDocument, axis: TimeAxis) {
        self.document = document
        self.axis = axis
    }

    func write(into page: inout Markup) {
        page.element("section", ["id": "battery"]) { page in
            page.element("h2", text: "Battery")
            guard !document.battery.isEmpty else {
                page.element("p", text: "The headset said nothing of its battery.")
                return
            }
            page.element("figure") { page in
                TimeFigure(axis: axis, title: "The battery's charge over time, in per cent.", identifier: "battery-picture")
                    .curves([.init(columns: document.battery, hasBand: false)], range: 0...100, unit: "%", into: &page)
            }
            ReportTables.facts(document.batteryFacts, into: &page)
        }
    }
}

/// Contact and quality of each channel's signal over time.
struct SignalSection {
    private let document: ReportDocument
    private let axis: TimeAxis

    init(_ document: ReportDocument, axis: TimeAxis) {
        self.document = document
        self.axis = axis
    }

    func write(into page: inout Markup) {
        let streams = document.streams.filter { !$0.signals.isEmpty }
        page.element("section", ["id": "signals"]) { page in
            page.element("h2", text: "Contact and signal quality")
            if streams.isEmpty { page.element("p", text: "No signal of this recording was checked.") }
            for (index, stream) in streams.enumerated() { write(stream, index, into: &page) }
        }
    }

    private func write(_ stream: StreamReport, _ index: Int, into page: inout Markup) {
        page.element("h3") { $0.name(stream.name) }
        let kinds = LaneKind.conditions.filter { kind in
            stream.signals.contains { $0.shares.contains { $0.condition == kind } }
        }
        if !kinds.isEmpty {
            page.element("figure") { page in
                TimeFigure(
                    axis: axis, title: "What the checks said of each channel over time; the table below sums it up.",
                    identifier: "signals-picture-\(index + 1)"
                ).lanes(stream.signals.map(\.lane), into: &page)
                ReportTables.legend(kinds.map { ($0, $0.conditionWords) }, into: &page)
                page.element(
                    "figcaption", text: "Checks come about each ten seconds; where there is none, nothing was checked.")
            }
        }
        let rows = stream.signals.map { signal in
            [signal.channel]
                + kinds.map { kind in
                    signal.shares.first { $0.condition == kind }.map { ReportText.percent($0.part) } ?? "0"
                } + [
                    amplitude(signal.line50Hz, signal.unit), amplitude(signal.line60Hz, signal.unit),
                    signal.kilohms.map { ReportText.fixed($0, 1) + " kΩ" } ?? "not measured",
                ]
        }
        ReportTables.table(
            ReportTable(
                caption: "Parts of the checked samples, mean hum of the mains, and the latest impedance",
                headings: ["Channel"] + kinds.map(\.conditionWords) + ["50 Hz", "60 Hz", "Impedance"], rows: rows,
                numeric: Set(1...(kinds.count + 3))), into: &page)
    }

    private func amplitude(_ value: Double?, _ unit: String) -> String {
        value.map { "\(ReportText.fixed($0, 2)) \(ReportText.unit(unit))" } ?? ""
    }
}

/// How the samples lie in time.
struct TimeMapSection {
    private let document: ReportDocument
    private let axis: TimeAxis

    init(_ document: ReportDocument, axis: TimeAxis) {
        self.document = document
        self.axis = axis
    }

    func write(into page: inout Markup) {
        page.element("section", ["id": "time-map"]) { page in
            page.element("h2", text: "Time map")
            page.element(
                "p",
                text:
                    "Which sample was taken when is fitted to the arrivals of packets: none arrives before it was sent. Rates "
                    + "are parts per million (ppm) by which samples come faster than nominal.")
            for (index, stream) in document.streams.enumerated() {
                guard let map = stream.timeMap else { continue }
                page.element("h3") { $0.name(stream.name) }
                ReportTables.facts(map.facts, into: &page)
                figures(map, index + 1, into: &page)
            }
        }
    }

    private func figures(_ map: TimeMapCourse, _ number: Int, into page: inout Markup) {
        if let range = Self.scale(map.rate.map(\.least) + map.rate.map(\.greatest), atLeast: 2) {
            page.element("figure") { page in
                TimeFigure(
                    axis: axis, title: "The rate against nominal over time, in ppm.", identifier: "rate-picture-\(number)"
                )
                .curves([.init(columns: map.rate, hasBand: true)], range: range, unit: "ppm", height: 90, into: &page)
                page.element("figcaption", text: "Rate against nominal, in ppm.")
            }
        }
        // A packet that comes seconds late would press all others to the ground line: the scale is that of most of them.
        let late = map.lateness.map(\.mean).sorted()
        let most = late.isEmpty ? [] : [0, late[late.count * 95 / 100] * 1.5]
        if let range = Self.scale(map.uncertainty.map(\.greatest) + most, atLeast: 1, from: 0) {
            page.element("figure") { page in
                TimeFigure(
                    axis: axis, title: "How late packets came, and within what times are right, in milliseconds.",
                    identifier: "residual-picture-\(number)"
                ).curves(
                    [
                        .init(columns: map.lateness, hasBand: true),
                        .init(columns: map.uncertainty, hasBand: false, isSecond: true),
                    ], range: range, unit: "ms", into: &page)
                page.element(
                    "figcaption",
                    text:
                        "Residuals: how late the earliest packet of about each second came against the map (line: mean, band: "
                        + "least to greatest); dashed: within what the times are right.")
            }
        }
    }

    /// A scale that holds all values, and is no finer than `least`; nil without values.
    private static func scale(_ values: [Double], atLeast least: Double, from zero: Double? = nil) -> ClosedRange<Double>? {
        guard let low = values.min(), let high = values.max() else { return nil }
        let bottom = min(low, zero ?? low)
        let margin = max(least - (high - bottom), (high - bottom) * 0.1) / 2
        return (zero == nil || bottom < 0 ? bottom - margin : 0)...(high + margin)
    }
}
