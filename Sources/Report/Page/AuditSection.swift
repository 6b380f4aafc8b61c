/// What the audit said.
struct AuditSection {
    private let audit: AuditLines

    init(_ audit: AuditLines) {
        self.audit = audit
    }

    func write(into page: inout Markup) {
        page.element("section", ["id": "audit"]) { page in
            page.element("h2", text: "Audit")
            page.element(
                "p", ["class": audit.holds ? "good" : "bad"],
                text: audit.holds
                    ? "The audit holds: nothing contradicts the evidence that was stored with the recording."
                    : "The audit fails: this recording contradicts the evidence that was stored with it.")
            ReportTables.table(
                ReportTable(
                    caption: "Each kind of evidence", headings: ["Evidence", "Result", "What it says"],
                    rows: audit.statements.map { [$0.evidence, $0.result, $0.detail] }), into: &page)
            ReportTables.table(
                ReportTable(
                    caption: "What contradicts the evidence, the first findings", headings: ["Finding"],
                    rows: audit.findings.prefix(200).map { [$0] }), into: &page)
        }
    }
}

/// What was marked.
struct MarksSection {
    private let document: ReportDocument

    init(_ document: ReportDocument) {
        self.document = document
    }

    func write(into page: inout Markup) {
        let marks = document.marks
        guard marks.count > 0 else { return }
        page.element("section", ["id": "marks"]) { page in
            page.element("h2", text: "Marks")
            let caption =
                marks.count > marks.marks.count
                ? "The first \(marks.marks.count) of \(ReportText.count(Int64(marks.count))) marks" : "All marks"
            ReportTables.table(
                ReportTable(
                    caption: caption, headings: ["Time", "Mark", "Length", "By"],
                    rows: marks.marks.map { mark in
                        [
                            document.clock.text(mark.unixNanoseconds), mark.description,
                            mark.durationSeconds.map { ReportText.duration($0) } ?? "", mark.source,
                        ]
                    }, numeric: [2]), into: &page)
        }
    }
}
