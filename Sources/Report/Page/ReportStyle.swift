/// The style sheet of a report: light and dark as the reader's system is, on paper light, from 360 pixels wide.
enum ReportStyle {
    /// All rules.
    static var rules: String {
        light + base + figures + heat + kinds
            + "@media (prefers-color-scheme: dark) { \(dark) }\n"
            + "@media (max-width: 40rem) { .minor { display: none } .figures div { min-width: 40% } }\n"
            + "@media print { \(light) \(print) }\n"
    }

    private static let light = """
        :root { --paper: #ffffff; --ink: #1c2128; --faint: #57606a; --line: #d0d7de; --card: #f3f5f8; --curve: #1f6feb;
          --second: #b35900; --bad: #b42334; --good: #1a7f4b }

        """
    private static let dark = """
        :root { --paper: #14181d; --ink: #e6edf3; --faint: #a0abb8; --line: #3a424d; --card: #1f252d; --curve: #6cb0ff;
          --second: #f0a35a; --bad: #ff8a94; --good: #63d296 }
        """
    private static let print = """
        body { font-size: 9.5pt; max-width: none } section, figure, table { break-inside: auto }
        figure, tr, .lane { break-inside: avoid }
        h2, h3 { break-after: avoid } .scroll { overflow: visible } @page { margin: 14mm }
        """
    private static let base = """
        * { box-sizing: border-box }
        html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; print-color-adjust: exact;
          -webkit-print-color-adjust: exact }
        body { margin: 0 auto; padding: 1rem; max-width: 70rem;
          font: 1rem/1.45 system-ui, "Noto Sans", "DejaVu Sans", sans-serif }
        h1 { font-size: 1.6rem; margin: 0.5rem 0 1rem; overflow-wrap: anywhere }
        h2 { font-size: 1.25rem; margin: 2.2rem 0 0.6rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem }
        h3 { font-size: 1rem; margin: 1.2rem 0 0.4rem; overflow-wrap: anywhere }
        p { max-width: 46rem } p, figcaption, caption, footer { color: var(--faint) }
        footer { margin-top: 3rem; font-size: 0.85rem } bdi { overflow-wrap: break-word }
        .figures { display: flex; flex-wrap: wrap; gap: 0.6rem; margin: 0 0 1rem }
        .figures div { background: var(--card); border-radius: 0.5rem; padding: 0.5rem 0.8rem; min-width: 8rem; flex: 1 }
        .figures dt { font-size: 0.8rem; color: var(--faint) } .figures dd { margin: 0; font-size: 1.15rem; font-weight: 600 }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr));
          gap: 0.1rem 1.5rem; margin: 0 }
        .facts div { display: flex; gap: 0.7rem; border-bottom: 1px solid var(--line); padding: 0.2rem 0 }
        .facts dt { color: var(--faint); flex: 0 0 9rem }
        .facts dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line }
        .scroll { overflow-x: auto; margin: 0.6rem 0 }
        table { border-collapse: collapse; font-size: 0.88rem } caption { text-align: left; padding: 0.2rem 0 }
        th, td { text-align: left; vertical-align: top; padding: 0.2rem 0.9rem 0.2rem 0; border-bottom: 1px solid var(--line) }
        th { font-weight: 600 } .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
        .good { color: var(--good) } .bad { color: var(--bad); font-weight: 600 }
        details { margin: 0.6rem 0 } summary { cursor: pointer; color: var(--faint) }

        """
    private static let figures = """
        figure { margin: 0.6rem 0 1rem } figcaption { font-size: 0.88rem; margin-top: 0.3rem; max-width: 46rem }
        svg { display: block; overflow: visible } svg text { font-size: 12px; fill: var(--faint) }
        svg text.lane { fill: var(--ink) } .axis { stroke: var(--line); stroke-width: 1 } .ground { fill: var(--card) }
        .middle { text-anchor: middle } .end { text-anchor: end }
        .curve { fill: none; stroke: var(--curve); stroke-width: 1.6; vector-effect: non-scaling-stroke;
          stroke-linejoin: round }
        .second { stroke: var(--second); stroke-dasharray: 5 3 } .band { fill: var(--curve); opacity: 0.22 }
        .pale { opacity: 0.45 } .mark { stroke: var(--ink); stroke-width: 1.5 }
        .legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; padding: 0; margin: 0.4rem 0;
          font-size: 0.88rem }
        .legend li { display: flex; align-items: center; gap: 0.4rem } .legend svg { flex: none }
        .spectra { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: 0.5rem 1.5rem }
        .picture { shape-rendering: crispEdges }

        """

    /// From low to high power: dark blue over green to yellow, which print and the colour-blind keep apart by lightness.
    static let heatColours = [
        "#2b1e5e", "#33307d", "#30488c", "#2a5f8f", "#257390", "#20878d", "#1f9b86", "#35ae78", "#61bf62", "#93cd4a", "#c6d83f",
        "#f6e24a",
    ]
    private static var heat: String {
        heatColours.enumerated().map { ".h\($0) { fill: \($1) }\n" }.joined()
    }
    private static var kinds: String {
        LaneKind.allCases.map { ".k-\($0.rawValue) { fill: url(#k-\($0.rawValue)); stroke: \($0.look.colour) }\n" }.joined()
    }
}

/// The patterns of all kinds of pieces, once for the page.
enum PatternDefinitions {
    static func write(into page: inout Markup) {
        page.element("svg", ["width": "0", "height": "0", "aria-hidden": "true", "focusable": "false", "class": "definitions"])
        {
            page in
            page.element("defs") { page in
                for kind in LaneKind.allCases { write(kind, into: &page) }
            }
        }
    }

    private static func write(_ kind: LaneKind, into page: inout Markup) {
        let look = kind.look
        page.element(
            "pattern",
            ["id": "k-\(kind.rawValue)", "patternUnits": "userSpaceOnUse", "width": "6", "height": "6"]
        ) { page in
            page.empty("rect", ["width": "6", "height": "6", "fill": look.colour])
            let line: KeyValuePairs<StaticString, String> = [
                "d": path(look.pattern), "stroke": "#ffffff", "stroke-width": "1.2", "fill": "none", "stroke-opacity": "0.85",
            ]
            switch look.pattern {
            case .plain: break
            case .dotted: page.empty("circle", ["cx": "3", "cy": "3", "r": "1.2", "fill": "#ffffff", "fill-opacity": "0.9"])
            default: page.empty("path", line)
            }
        }
    }

    private static func path(_ pattern: LaneKind.Pattern) -> String {
        let (rising, falling) = ("M-1 1L1 -1M-1 7L7 -1M5 7L7 5", "M-1 5L1 7M-1 -1L7 7M5 -1L7 1")
        return switch pattern {
        case .rising: rising
        case .falling: falling
        case .crossed: rising + falling
        case .horizontal: "M0 3H6"
        case .vertical: "M3 0V6"
        case .plain, .dotted: ""
        }
    }
}
