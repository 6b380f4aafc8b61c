import Foundation

/// One channel: above, the mean spectrum of the recording over the band from the least to the greatest hour; below, a row of
/// colours for each hour. Beside 1 to 45 Hz stand the mains, 50 and 60 Hz.
struct SpectrumFigure {
    let spectra: ChannelSpectra
    let frequencies: [Double]
    let scale: DecibelScale
    let identifier: String

    private static let curveHeight = 96.0
    private static let gap = 6.0
    /// The part of the width that 1 to 45 Hz take; behind it a column for each frequency of the mains.
    private static let mainsStarts = [0.90, 0.955]
    private static let width = 0.88
    private static let mainsWidth = 0.045

    private var heatHeight: Double { min(120, max(14, Double(rows) * 9)) }
    private var rows: Int { (spectra.hours.last?.hour ?? 0) - (spectra.hours.first?.hour ?? 0) + 1 }

    func write(into page: inout Markup) {
        let top = Self.curveHeight + Self.gap
        let bottom = top + heatHeight
        page.element("figure") { page in
            page.element("figcaption") { $0.name(spectra.channel) }
            page.element(
                "svg",
                [
                    "id": identifier, "class": "spectrum", "width": "100%", "height": ReportText.length(bottom + 20),
                    "role": "img", "aria-label": "Spectrum of \(spectra.channel); the table below has its bands.",
                ]
            ) { page in
                curve(into: &page)
                heat(top: top, into: &page)
                labels(bottom: bottom, into: &page)
            }
        }
    }

    private func curve(into page: inout Markup) {
        let height = ReportText.length(Self.curveHeight)
        page.empty("rect", ["width": ReportText.position(Self.width), "height": height, "class": "ground"])
        for hertz in [10.0, 20, 30, 40] where hertz < frequencies.last ?? 0 {
            let x = ReportText.position(position(of: hertz))
            page.empty("line", ["x1": x, "x2": x, "y1": "0", "y2": height, "class": "axis"])
        }
        page.element(
            "svg",
            [
                "width": ReportText.position(Self.width), "height": height, "viewBox": "0 0 1000 \(height)",
                "preserveAspectRatio": "none",
            ]
        ) { page in
            guard let mean = spectra.mean, mean.count > 1 else { return }
            func point(_ index: Int, _ density: Double) -> String {
                let x = (Double(index) + 0.5) / Double(mean.count) * 1000
                return "\(ReportText.length(x)) \(ReportText.length((1 - scale.fraction(density)) * Self.curveHeight))"
            }
            let greatest = mean.indices.map { index in spectra.hours.map { $0.density[index] }.max() ?? 0 }
            let least = mean.indices.map { index in spectra.hours.map { $0.density[index] }.min() ?? 0 }
            let outline =
                mean.indices.map { point($0, greatest[$0]) } + mean.indices.reversed().map { point($0, least[$0]) }
            page.empty("path", ["d": "M" + outline.joined(separator: "L") + "Z", "class": "band"])
            page.empty("path", ["d": "M" + mean.indices.map { point($0, mean[$0]) }.joined(separator: "L"), "class": "curve"])
        }
    }

    /// A path for each colour: neighbouring cells of one hour are one piece of it.
    private func heat(top: Double, into page: inout Markup) {
        let first = spectra.hours.first?.hour ?? 0
        var paths = Array(repeating: "", count: ReportStyle.heatColours.count)
        for hour in spectra.hours {
            let levels = hour.density.map(scale.level)
            var start = 0
            for index in 1...levels.count where index == levels.count || levels[index] != levels[start] {
                paths[levels[start]] += "M\(start) \(hour.hour - first)h\(index - start)v1H\(start)z"
                start = index
            }
        }
        picture(x: 0, width: Self.width, top: top, columns: frequencies.count, paths: paths, into: &page)
        for (index, start) in Self.mainsStarts.enumerated() {
            var paths = Array(repeating: "", count: ReportStyle.heatColours.count)
            for hour in spectra.hours {
                guard hour.mains.indices.contains(index), let amplitude = hour.mains[index] else { continue }
                // Over two hertz: its mean density there.
                paths[scale.level(amplitude * amplitude / 2)] += "M0 \(hour.hour - first)h1v1H0z"
            }
            picture(x: start, width: Self.mainsWidth, top: top, columns: 1, paths: paths, into: &page)
        }
    }

    private func picture(x: Double, width: Double, top: Double, columns: Int, paths: [String], into page: inout Markup) {
        page.element(
            "svg",
            [
                "x": ReportText.position(x), "y": ReportText.length(top), "width": ReportText.position(width),
                "height": ReportText.length(heatHeight), "viewBox": "0 0 \(columns) \(rows)", "preserveAspectRatio": "none",
                "class": "picture",
            ]
        ) { page in
            for (level, path) in paths.enumerated() where !path.isEmpty {
                page.empty("path", ["d": path, "class": "h\(level)"])
            }
        }
    }

    private func position(of hertz: Double) -> Double {
        guard let first = frequencies.first, let last = frequencies.last else { return 0 }
        return (hertz - first + FrequencyGrid.step / 2) / (last - first + FrequencyGrid.step) * Self.width
    }

    private func labels(bottom: Double, into page: inout Markup) {
        let y = ReportText.length(bottom + 15)
        page.element("text", ["x": "4", "y": "13"], text: "\(ReportText.fixed(scale.high, 0)) dB")
        page.element(
            "text", ["x": "4", "y": ReportText.length(Self.curveHeight - 4)], text: "\(ReportText.fixed(scale.low, 0)) dB")
        page.element("text", ["x": "0", "y": y], text: "\(ReportText.length(frequencies.first ?? 0))")
        for hertz in [10.0, 20, 30, 40] where hertz < frequencies.last ?? 0 {
            page.element(
                "text", ["x": ReportText.position(position(of: hertz)), "y": y, "class": "middle"],
                text: ReportText.length(hertz) + (hertz == 40 ? " Hz" : ""))
        }
        for (hertz, start) in zip(FrequencyGrid.mains, Self.mainsStarts) {
            page.element(
                "text", ["x": ReportText.position(start + Self.mainsWidth / 2), "y": y, "class": "middle"],
                text: ReportText.length(hertz))
        }
    }
}
