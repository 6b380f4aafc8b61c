/// A picture over the time of a recording, as wide as there is room: positions across are per cent, those down are pixels, so
/// that letters and patterns stay as they are on a phone and on paper.
struct TimeFigure {
    let axis: TimeAxis
    /// What a screen reader says instead of the picture.
    let title: String
    let identifier: String

    private static let laneHeight = 16.0
    private static let lanePitch = 38.0
    private static let axisHeight = 22.0
    /// From a lane's top to its bar, where its name stands.
    private static let nameHeight = 16.0

    /// Lanes below each other, each with its name, over an axis of time; lines at marks.
    func lanes(_ lanes: [Lane], marks: [Double] = [], into page: inout Markup) {
        let height = Double(lanes.count) * Self.lanePitch
        svg(height: height + Self.axisHeight, into: &page) { page in
            ticks(bottom: height, into: &page)
            for (index, lane) in lanes.enumerated() {
                let top = Double(index) * Self.lanePitch
                page.element("text", ["x": "0", "y": ReportText.length(top + 12), "class": "lane"], text: lane.name)
                bar(lane, top: top + Self.nameHeight, into: &page)
            }
            for mark in marks {
                let x = ReportText.position(mark)
                page.empty("line", ["x1": x, "x2": x, "y1": "0", "y2": "14", "class": "mark"])
            }
        }
    }

    private func bar(_ lane: Lane, top: Double, into page: inout Markup) {
        let (y, height) = (ReportText.length(top), ReportText.length(Self.laneHeight))
        page.empty("rect", ["x": "0", "y": y, "width": "100%", "height": height, "class": "ground"])
        for run in lane.runs {
            page.empty(
                "rect",
                [
                    "x": ReportText.position(run.start), "y": y, "width": ReportText.position(run.end - run.start),
                    "height": height, "class": "k-\(run.kind.rawValue)" + (run.isPale ? " pale" : ""),
                ])
        }
    }

    /// What a curve shows.
    struct Curve {
        var columns: [ValueRaster.Column]
        /// True for a band from the least to the greatest value behind the line of the means.
        var hasBand: Bool
        /// True for the second curve of a picture: dashed, in another colour.
        var isSecond = false
    }

    /// Curves over a common scale.
    ///
    /// - Parameters:
    ///   - range: of the scale; curves are cut off beyond it.
    ///   - unit: behind the figures of the scale.
    func curves(_ curves: [Curve], range: ClosedRange<Double>, unit: String, height: Double = 120, into page: inout Markup) {
        let span = max(range.upperBound - range.lowerBound, .leastNonzeroMagnitude)
        func y(_ value: Double) -> Double {
            let clamped = min(range.upperBound, max(range.lowerBound, value))
            return (range.upperBound - clamped) / span * height
        }
        svg(height: height + Self.axisHeight, into: &page) { page in
            page.empty("rect", ["width": "100%", "height": ReportText.length(height), "class": "ground"])
            ticks(bottom: height, into: &page)
            // Its width is 1000 whatever it is on the screen; strokes keep theirs.
            page.element(
                "svg",
                [
                    "width": "100%", "height": ReportText.length(height), "viewBox": "0 0 1000 \(ReportText.length(height))",
                    "preserveAspectRatio": "none",
                ]
            ) { page in
                for curve in curves { draw(curve, y: y, into: &page) }
            }
            let decimals = span < 2 ? 2 : span < 20 ? 1 : 0
            for (value, position) in [(range.upperBound, 12.0), (range.lowerBound, height - 4)] {
                page.element(
                    "text", ["x": "4", "y": ReportText.length(position)],
                    text: "\(ReportText.fixed(value, decimals)) \(unit)")
            }
        }
    }

    private func draw(_ curve: Curve, y: (Double) -> Double, into page: inout Markup) {
        func point(_ position: Double, _ value: Double) -> String {
            "\(ReportText.length(position * 1000)) \(ReportText.length(y(value)))"
        }
        if curve.hasBand, curve.columns.count > 1 {
            let upper = curve.columns.map { point($0.position, $0.greatest) }
            let lower = curve.columns.reversed().map { point($0.position, $0.least) }
            page.empty("path", ["d": "M" + (upper + lower).joined(separator: "L") + "Z", "class": "band"])
        }
        var points = curve.columns.map { point($0.position, $0.mean) }
        // One value alone is a short line.
        if let only = curve.columns.first, points.count == 1 { points.append(point(only.position + 0.004, only.mean)) }
        guard !points.isEmpty else { return }
        page.empty(
            "path", ["d": "M" + points.joined(separator: "L"), "class": curve.isSecond ? "curve second" : "curve"])
    }

    private func svg(height: Double, into page: inout Markup, _ body: (inout Markup) -> Void) {
        page.element(
            "svg",
            [
                "id": identifier, "width": "100%", "height": ReportText.length(height), "role": "img", "aria-label": title,
                "class": "time",
            ]
        ) { page in body(&page) }
    }

    private func ticks(bottom: Double, into page: inout Markup) {
        for tick in axis.ticks {
            let x = ReportText.position(tick.fraction)
            page.empty("line", ["x1": x, "x2": x, "y1": "0", "y2": ReportText.length(bottom + 4), "class": "axis"])
            let anchor = tick.fraction < 0.03 ? "" : tick.fraction > 0.97 ? "end" : "middle"
            page.element(
                "text",
                ["x": x, "y": ReportText.length(bottom + 16), "class": tick.isMajor ? anchor : anchor + " minor"],
                text: tick.label)
        }
    }
}
