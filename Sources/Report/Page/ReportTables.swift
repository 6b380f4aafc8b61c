/// Lists and tables.
enum ReportTables {
    /// Labels and values side by side, as many beside each other as there is room for.
    static func facts(_ facts: [ReportDocument.Fact], into page: inout Markup) {
        guard !facts.isEmpty else { return }
        page.element("dl", ["class": "facts"]) { page in
            for fact in facts {
                page.element("div") { page in
                    page.element("dt") { $0.name(fact.label) }
                    page.element("dd") { $0.name(fact.value) }
                }
            }
        }
    }

    /// A table that scrolls sideways where the screen is narrower.
    static func table(_ table: ReportTable, into page: inout Markup) {
        guard !table.rows.isEmpty else { return }
        page.element("div", ["class": "scroll", "role": "region", "tabindex": "0", "aria-label": table.caption]) { page in
            page.element("table") { page in
                page.element("caption", text: table.caption)
                page.element("thead") { page in
                    page.element("tr") { page in
                        for (index, heading) in table.headings.enumerated() {
                            page.element("th", ["scope": "col", "class": cellClass(index, table)], text: heading)
                        }
                    }
                }
                page.element("tbody") { page in
                    for row in table.rows { write(row, of: table, into: &page) }
                }
            }
        }
    }

    private static func write(_ row: [String], of table: ReportTable, into page: inout Markup) {
        page.element("tr") { page in
            for (index, cell) in row.enumerated() {
                if index == 0 {
                    page.element("th", ["scope": "row", "class": cellClass(index, table)]) { $0.name(cell) }
                } else {
                    let colour = cell == "fails" ? "bad" : cell == "holds" ? "good" : cellClass(index, table)
                    page.element("td", ["class": colour]) { $0.name(cell) }
                }
            }
        }
    }

    private static func cellClass(_ index: Int, _ table: ReportTable) -> String {
        table.numeric.contains(index) ? "number" : ""
    }

    /// A table that is folded away until somebody opens it.
    static func folded(_ table: ReportTable, into page: inout Markup) {
        guard !table.rows.isEmpty else { return }
        page.element("details") { page in
            page.element("summary", text: table.caption)
            ReportTables.table(table, into: &page)
        }
    }

    /// What the colours and patterns mean.
    static func legend(_ kinds: [(kind: LaneKind, words: String)], into page: inout Markup) {
        page.element("ul", ["class": "legend"]) { page in
            for (kind, words) in kinds {
                page.element("li") { page in
                    page.element("svg", ["width": "22", "height": "14", "aria-hidden": "true"]) { page in
                        page.empty("rect", ["width": "22", "height": "14", "class": "k-\(kind.rawValue)"])
                    }
                    page.element("span", text: words)
                }
            }
        }
    }
}
