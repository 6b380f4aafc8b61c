import Foundation
import FoundationXML
import Testing

@testable import Report

/// What must hold of each page: it is well-formed, holds no element that runs or loads anything, and says what it was given.
private final class PageCheck: NSObject, XMLParserDelegate {
    private(set) var problems: [String] = []
    private(set) var elements: [(name: String, attributes: [String: String])] = []
    private(set) var text = ""

    private static let elementsAllowed: Set<String> = [
        "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "section", "h1", "h2", "h3", "p", "dl",
        "dt",
        "dd", "div", "span", "bdi", "ul", "li", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption",
        "details", "summary", "svg", "defs", "pattern", "rect", "line", "path", "circle", "text",
    ]

    init(_ html: String) {
        super.init()
        let parser = XMLParser(data: Data(html.utf8))
        parser.delegate = self
        if !parser.parse() {
            problems.append("not well-formed: \(parser.parserError.map { "\($0)" } ?? "") in line \(parser.lineNumber)")
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        elements.append((name, attributes))
        if !Self.elementsAllowed.contains(name) { problems.append("element \(name)") }
        for (key, value) in attributes {
            if key.lowercased().hasPrefix("on") || ["href", "src", "style", "srcset"].contains(key) {
                problems.append("attribute \(key)=\(value)")
            }
            if value.contains("url("), !value.contains("url(#") { problems.append("attribute \(key)=\(value)") }
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}

@Suite("The page of a report")
struct ReportPageTests {
    private static let hostile =
        #"</title><script src="http://198.51.100.1/x.js">alert('1')</script><img src=x onerror=alert(2)>&amp;""#

    @Test("is well-formed, loads nothing and runs nothing, and has each section")
    func sound() throws {
        let html = ReportPage(try RecordedHour().document()).html
        let check = PageCheck(html)
        #expect(check.problems == [])
        #expect(html.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        let sections = check.elements.filter { $0.name == "section" }.compactMap { $0.attributes["id"] }
        #expect(sections == ["timeline", "battery", "signals", "spectra", "time-map", "audit", "marks"])
        #expect(html.contains("default-src 'none'") || html.contains("default-src &#39;none&#39;"))
        #expect(!html.contains("http://") && !html.contains("https://") && !html.contains("@import"))
        let identifiers = check.elements.compactMap { $0.attributes["id"] }
        #expect(Set(identifiers).count == identifiers.count)
        // Every class of a piece has a pattern.
        let classes = Set(
            check.elements.compactMap { $0.attributes["class"]?.split(separator: " ").first.map(String.init) }.filter {
                $0.hasPrefix("k-")
            })
        #expect(classes.contains("k-linkLost") && classes.isSubset(of: Set(identifiers)))
        // What a screen reader has instead of pictures.
        let pictures = check.elements.filter { $0.name == "svg" && $0.attributes["role"] == "img" }
        #expect(pictures.count >= 7 && pictures.allSatisfy { $0.attributes["aria-label"]?.isEmpty == false })
    }

    @Test("draws the gap where it was")
    func gap() throws {
        let check = PageCheck(ReportPage(try RecordedHour().document()).html)
        let drawn = check.elements.filter {
            $0.name == "rect" && $0.attributes["class"] == "k-linkLost" && $0.attributes["x"] != nil
        }
        #expect(drawn.map { $0.attributes["x"] } == ["25%"])
        // The columns that it touches.
        let width = drawn.first?.attributes["width"].flatMap { Double($0.dropLast()) } ?? 0
        #expect((2.5...2.55).contains(width))
        #expect(check.text.contains("6,400") && check.text.contains("the link broke"))
    }

    @Test("shows hostile names as they are written, and obeys none of them")
    func hostileNames() throws {
        let recorded = RecordedHour(
            headset: Self.hostile, subject: Self.hostile + "\u{0}\u{1B}[2J\u{202E}\u{FFFF}", mark: "]]>" + Self.hostile)
        let audit = AuditLines(
            holds: false, statements: [.init(evidence: Self.hostile, result: "fails", detail: Self.hostile)],
            findings: [Self.hostile])
        let html = ReportPage(try recorded.document(audit: audit)).html
        let check = PageCheck(html)
        #expect(check.problems == [])
        #expect(check.text.components(separatedBy: Self.hostile).count > 6)
        #expect(!html.contains("<script") && !html.contains("<img") && !html.contains("\u{202E}") && !html.contains("\u{1B}"))
        #expect(html.contains("The audit fails"))
    }

    @Test("A text that goes into a page without being escaped is noticed")
    func plantedDefect() throws {
        let html = ReportPage(try RecordedHour(headset: "planted").document()).html
        for defect in [Self.hostile, "<img src=\"x\"/>", "<p onclick=\"x\">a</p>", "a & b", "<rect fill=\"url(http://x)\"/>"] {
            let spoiled = html.replacing("<bdi>planted</bdi>", with: "<bdi>\(defect)</bdi>")
            #expect(spoiled != html && !PageCheck(spoiled).problems.isEmpty, "\(defect)")
        }
    }

    @Test("of a recording without a sample says so")
    func empty() throws {
        var document = try RecordedHour().document()
        document.axis = nil
        document.streams = []
        let check = PageCheck(ReportPage(document).html)
        #expect(check.problems == [] && check.text.contains("there is nothing to draw"))
        #expect(check.elements.contains { $0.attributes["id"] == "audit" })
    }

    @Test("A recording of three weeks with 200,000 gaps makes a page that a browser opens at once")
    func size() throws {
        let axis = TimeAxis(
            start: RecordedHour.start, end: RecordedHour.unix(1_814_400), clock: ReportClock(zone: .gmt))
        var raster = ColumnRaster(columnCount: ReportReading.columnCount, kindCount: LaneKind.causes.count)
        for index in 0..<200_000 { raster.add(index % 9, from: Double(index) / 2e5, to: Double(index) / 2e5 + 1e-6) }
        var page = Markup()
        TimeFigure(axis: axis, title: "", identifier: "a").lanes(
            [Lane(name: "eeg", raster: raster, kinds: LaneKind.causes)], into: &page)
        #expect(page.html.utf8.count < 250_000)
    }
}
