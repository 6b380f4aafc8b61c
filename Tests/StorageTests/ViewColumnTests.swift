import Foundation
import GRDB
import Testing

@testable import Storage

/// The page DataModel says what each column of each view means.
@Suite("The documentation of the views")
struct ViewColumnTests {
    let page: String

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/eegsync/eegsync.docc/DataModel.md")
        page = try String(contentsOf: file, encoding: .utf8)
    }

    /// What a page lacks or has too much, one sentence each.
    static func complaints(of page: String, views: [String: [String]]) -> [String] {
        let chapter = (page.components(separatedBy: "\n## Columns of the views\n").last ?? "")
            .components(separatedBy: "\n## ")[0]
        let sections = chapter.components(separatedBy: "\n### ")
        let common = names(in: sections[0])
        var complaints: [String] = []
        for (view, columns) in views.sorted(by: { $0.key < $1.key }) {
            guard let section = sections.dropFirst().first(where: { $0.hasPrefix(view + "\n") }) else {
                complaints.append("\(view) has no section")
                continue
            }
            let own = names(in: section)
            for column in columns where !own.union(common).contains(column) {
                complaints.append("\(view).\(column) is not documented")
            }
            for name in own.subtracting(columns).sorted() { complaints.append("\(view) has no column \(name)") }
        }
        let used = Set(views.values.joined())
        for name in common.subtracting(used).sorted() { complaints.append("no view has a column \(name)") }
        return complaints
    }

    /// The names in the first column of the tables of a text.
    private static func names(in text: String) -> Set<String> {
        var names: Set<String> = []
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let cell = line.dropFirst(2).prefix { $0 != "|" }
            for (index, part) in cell.split(separator: "`", omittingEmptySubsequences: false).enumerated() where index % 2 == 1
            {
                names.insert(String(part))
            }
        }
        return names
    }

    /// The columns of all views; `eeg_1` without its channels stands for the views of streams.
    private func views() throws -> [String: [String]] {
        let store = try AcquisitionStore.inMemory(hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        return try store.database.writer.read { db in
            let names = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'view'")
            var views: [String: [String]] = [:]
            for name in names where name == "eeg_1" || !name.contains("_1") {
                views[name] = try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info(?)", arguments: [name])
                    .filter { !["TP9", "AF7", "AF8", "TP10"].contains($0) }
            }
            return views
        }
    }

    @Test("names every column of every view, and no other")
    func columns() throws {
        #expect(try Self.complaints(of: page, views: views()) == [])
    }

    @Test("would be found wanting")
    func plantedDefects() throws {
        var views = try views()
        views["gap_time"]?.append("planted")
        views["segment_time"]?.removeAll { $0 == "epoch" }
        views["new_view"] = ["x"]
        #expect(
            Self.complaints(of: page, views: views) == [
                "gap_time.planted is not documented", "new_view has no section", "segment_time has no column epoch",
            ])
    }
}
