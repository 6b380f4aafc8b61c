import Foundation

/// The spectrum of each channel, as a curve of the whole recording and as a picture of its hours.
struct SpectrumSection {
    private let document: ReportDocument
    private let axis: TimeAxis

    init(_ document: ReportDocument, axis: TimeAxis) {
        self.document = document
        self.axis = axis
    }

    func write(into page: inout Markup) {
        let streams = document.streams.filter { !$0.spectra.isEmpty }
        page.element("section", ["id": "spectra"]) { page in
            page.element("h2", text: "Spectrum of each channel and hour")
            guard !streams.isEmpty else {
                page.element(
                    "p", text: "No channel of this recording has two seconds without a gap that a spectrum could be of.")
                return
            }
            page.element(
                "p",
                text:
                    "Power spectral density by Welch's method: segments of two seconds or a little more, Hann window, half "
                    + "over each other; those with a gap are left out. It is for looking at: no stored sample was filtered or "
                    + "altered."
            )
            for (index, stream) in streams.enumerated() { write(stream, index + 1, into: &page) }
        }
    }

    private func write(_ stream: StreamReport, _ number: Int, into page: inout Markup) {
        let scale = DecibelScale(stream.spectra)
        let unit = ReportText.unit(stream.spectra.first?.unit ?? "")
        page.element("h3") { $0.name(stream.name) }
        page.element("div", ["class": "spectra"]) { page in
            for (index, spectra) in stream.spectra.enumerated() {
                SpectrumFigure(
                    spectra: spectra, frequencies: stream.frequencies, scale: scale,
                    identifier: "spectrum-\(number)-\(index + 1)"
                ).write(into: &page)
            }
        }
        legend(scale, unit: unit, into: &page)
        ReportTables.folded(bands(stream), into: &page)
    }

    private func legend(_ scale: DecibelScale, unit: String, into page: inout Markup) {
        page.element("p", ["class": "heat-legend"]) { page in
            let count = ReportStyle.heatColours.count
            page.element("svg", ["width": "100%", "height": "30", "role": "img", "aria-label": "The scale of the pictures"]) {
                page in
                page.element(
                    "svg", ["width": "240", "height": "12", "viewBox": "0 0 \(count) 1", "preserveAspectRatio": "none"]
                ) {
                    page in
                    for level in 0..<count {
                        page.empty("rect", ["x": "\(level)", "width": "1.02", "height": "1", "class": "h\(level)"])
                    }
                }
                page.element("text", ["x": "0", "y": "26"], text: "\(ReportText.fixed(scale.low, 0)) dB")
                page.element(
                    "text", ["x": "240", "y": "26", "class": "end"],
                    text: "\(ReportText.fixed(scale.high, 0)) dB of 1 \(unit)²/Hz")
            }
        }
    }

    /// The bands that people name, and the mains.
    private static let bands: [(name: String, from: Double, to: Double)] = [
        ("delta 1-4", 1, 4), ("theta 4-8", 4, 8), ("alpha 8-13", 8, 13), ("beta 13-30", 13, 30), ("30-45", 30, 45.1),
    ]

    private func bands(_ stream: StreamReport) -> ReportTable {
        let unit = ReportText.unit(stream.spectra.first?.unit ?? "")
        var rows: [[String]] = []
        for spectra in stream.spectra {
            for hour in spectra.hours {
                let start = axis.start &+ Int64(hour.hour) &* 3_600_000_000_000
                rows.append(
                    [spectra.channel, "\(hour.hour + 1)", axis.clock.text(start), ReportText.duration(hour.seconds)]
                        + Self.bands.map {
                            ReportText.fixed(hour.power(from: $0.from, to: $0.to, at: stream.frequencies).squareRoot(), 2)
                        }
                        + hour.mains.map { $0.map { ReportText.fixed($0, 2) } ?? "" })
            }
        }
        return ReportTable(
            caption: "Amplitudes of bands (root mean square, \(unit)) by channel and hour",
            headings: ["Channel", "Hour", "From", "Of"] + Self.bands.map { $0.name + " Hz" } + ["50 Hz", "60 Hz"], rows: rows,
            numeric: [1, 3, 4, 5, 6, 7, 8, 9, 10])
    }
}

/// The decibels that a stream's pictures share.
struct DecibelScale: Hashable {
    let low: Double
    let high: Double

    /// From one of the lowest to one of the highest: single hours without signal press nothing together.
    init(_ spectra: [ChannelSpectra]) {
        var values: [Double] = []
        for hour in spectra.flatMap(\.hours) { values += hour.density.map(Self.decibels).filter(\.isFinite) }
        values.sort()
        guard !values.isEmpty else {
            (low, high) = (-20, 40)
            return
        }
        let bottom = (values[values.count * 2 / 100] / 5).rounded(.down) * 5
        low = bottom
        high = max(bottom + 10, (values[min(values.count - 1, values.count * 995 / 1000)] / 5).rounded(.up) * 5)
    }

    /// Of 1 unit²/Hz; below all others for none.
    static func decibels(_ density: Double) -> Double { density > 0 ? 10 * log10(density) : -.infinity }

    /// 0 ... 1.
    func fraction(_ density: Double) -> Double {
        min(1, max(0, (Self.decibels(density) - low) / (high - low)))
    }

    /// Which colour it has.
    func level(_ density: Double) -> Int {
        min(ReportStyle.heatColours.count - 1, Int(fraction(density) * Double(ReportStyle.heatColours.count)))
    }
}
