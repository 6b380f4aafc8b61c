/// The page of a report: one file of HTML that needs neither a network nor scripts, and forbids both to itself.
package struct ReportPage {
    private let document: ReportDocument

    package init(_ document: ReportDocument) {
        self.document = document
    }

    /// The page as it is written to a file, UTF-8.
    package var html: String {
        var page = Markup()
        page.verbatim("<!DOCTYPE html>\n")
        page.element("html", ["lang": "en"]) { page in
            page.element("head") { head(&$0) }
            page.element("body") { page in
                page.element("header") { header(&$0) }
                page.element("main") { main(&$0) }
                page.element("footer") { $0.element("p", text: footer) }
            }
        }
        return page.html + "\n"
    }

    private func head(_ page: inout Markup) {
        page.empty("meta", ["charset": "utf-8"])
        page.empty("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        // Whatever somebody might have smuggled in: nothing is loaded, and nothing runs.
        page.empty(
            "meta",
            [
                "http-equiv": "Content-Security-Policy",
                "content": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
            ])
        page.empty("meta", ["name": "color-scheme", "content": "light dark"])
        page.empty("meta", ["name": "generator", "content": "eegsync \(document.version)"])
        page.element("title", text: "Recording \(document.recording), \(document.headset)")
        page.element("style") { page in
            page.verbatim(styles: ReportStyle.rules)
        }
    }

    private func header(_ page: inout Markup) {
        page.element("h1") { page in
            page.text("Recording \(document.recording), ")
            page.name(document.headset)
        }
        page.element("dl", ["class": "figures", "id": "summary"]) { page in
            for fact in document.summary {
                page.element("div") { page in
                    page.element("dt", text: fact.label)
                    page.element("dd", ["class": fact.value == "fails" ? "bad" : ""], text: fact.value)
                }
            }
        }
        ReportTables.facts(document.facts, into: &page)
        for table in document.stretches { ReportTables.table(table, into: &page) }
        PatternDefinitions.write(into: &page)
    }

    private func main(_ page: inout Markup) {
        guard let axis = document.axis else {
            page.element("p", text: "No sample of this recording has a time: there is nothing to draw.")
            AuditSection(document.audit).write(into: &page)
            return
        }
        TimelineSection(document, axis: axis).write(into: &page)
        BatterySection(document, axis: axis).write(into: &page)
        SignalSection(document, axis: axis).write(into: &page)
        SpectrumSection(document, axis: axis).write(into: &page)
        TimeMapSection(document, axis: axis).write(into: &page)
        AuditSection(document.audit).write(into: &page)
        MarksSection(document).write(into: &page)
    }

    private var footer: String {
        "Written by eegsync \(document.version) at \(document.clock.text(document.writtenUnixNanoseconds)), of the database "
            + "alone. Nothing in this file is loaded from elsewhere. eegsync is no medical device."
    }
}
