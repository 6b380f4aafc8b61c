import Foundation
import Glibc
import Testing

@testable import Export

/// A directory for what is thrown away: it is its owner's alone, and goes whatever happens.
@Suite struct HiddenDirectoryTests {
    private struct Trouble: Error {}
    private let directory: Directory
    private var file: String { directory.path + "/eegsync.sqlite" }

    /// Removed when the test lets it go.
    private final class Directory {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    init() throws { directory = try Directory() }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path) }

    @Test(arguments: [false, true]) func itGoesWhenTheWorkIsDone(fails: Bool) throws {
        var path = ""
        do {
            try HiddenDirectory.during(beside: file) { hidden in
                path = hidden
                var facts = stat()
                let isThere = stat(hidden, &facts) == 0
                #expect(isThere && facts.st_mode & 0o7777 == 0o700)
                #expect(hidden.hasPrefix(directory.path + "/.eegsync.sqlite."))
                for name in ["copy.sqlite", "copy.sqlite-wal"] {
                    try Data([1]).write(to: URL(fileURLWithPath: "\(hidden)/\(name)"))
                }
                // Another process looks for what was abandoned.
                HiddenDirectory.removeAbandoned(beside: file)
                #expect(access("\(hidden)/copy.sqlite", F_OK) == 0)
                if fails { throw Trouble() }
            }
            #expect(!fails)
        } catch is Trouble {
            #expect(fails)
        }
        #expect(!path.isEmpty)
        #expect(try names().isEmpty)
    }

    @Test func itGoesWithASignal() throws {
        try HiddenDirectory.during(beside: file) { hidden in
            try Data([1]).write(to: URL(fileURLWithPath: "\(hidden)/copy.sqlite"))
            TemporaryNames.removeAll(in: directory.path)
            #expect(try names().isEmpty)
            // SQLite goes on until the process has ended.
            #expect(open("\(hidden)/copy.sqlite-journal", O_CREAT | O_RDWR, 0o644) == -1 && errno == ENOENT)
        }
        #expect(throws: ExportError.self) { try HiddenDirectory.during(beside: file) { _ in } }
        #expect(try names().isEmpty)
    }

    @Test func whatWasAbandonedIsRemoved() throws {
        let left = directory.path + "/.other.sqlite.1-1.eegsync-partial"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data([1]).write(to: URL(fileURLWithPath: "\(left)/other.sqlite"))
        HiddenDirectory.removeAbandoned(beside: file)
        #expect(try names().isEmpty)
    }

    @Test func whereNothingCanBeMadeItIsSaid() {
        #expect(throws: ExportError.self) {
            try HiddenDirectory.during(beside: directory.path + "/absent/eegsync.sqlite") { _ in }
        }
    }
}
