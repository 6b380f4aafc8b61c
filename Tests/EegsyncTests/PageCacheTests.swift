import Foundation
import Testing

@testable import eegsync

/// Where the page keeps what it can compute again.
@Suite struct PageCacheTests {
    private let root: TestDirectory
    private let databases: TestDirectory

    init() throws {
        root = try TestDirectory()
        databases = try TestDirectory()
    }

    private func cache(_ name: String) -> PageCache { PageCache(root: root.url.path, database: databases.path(name)) }

    @Test func eachDatabaseAndEachProcessHasItsOwn() throws {
        for name in ["a", "b"] { try databases.write(name, to: name) }
        let caches = ["a", "a", "b"].map { cache($0) }
        let directories = caches.compactMap(\.directory)
        #expect(Set(directories).count == 3)
        #expect(caches.compactMap(\.directory) == directories)
        #expect(directories.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    }

    @Test func theNextProcessGoesOnWithItButForExports() throws {
        try databases.write("a", to: "a")
        var cache: PageCache? = self.cache("a")
        let directory = try #require(cache?.directory)
        let exports = try #require(cache?.exports)
        try FileManager.default.createDirectory(atPath: exports, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: directory + "/kept"))
        cache = nil
        let next = self.cache("a")
        #expect(next.directory == directory)
        #expect(FileManager.default.fileExists(atPath: directory + "/kept"))
        #expect(!FileManager.default.fileExists(atPath: exports))
    }

    @Test func anotherFileUnderTheSameNameHasAnother() throws {
        try databases.write("a", to: "a")
        var cache: PageCache? = self.cache("a")
        let directory = try #require(cache?.directory)
        try FileManager.default.moveItem(atPath: databases.path("a"), toPath: databases.path("aside"))
        try databases.write("a", to: "a")
        let beside = self.cache("a")
        #expect(beside.directory != nil && beside.directory != directory)
        // While a process has it, it stays.
        #expect(FileManager.default.fileExists(atPath: directory))
        cache = nil
        let next = self.cache("a")
        #expect(next.directory != nil && next.directory != directory)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test func whatAnEndedProcessHadUnderAnotherNumberGoes() throws {
        try databases.write("a", to: "a")
        var caches = (0..<3).map { _ in cache("a") }
        let directories = caches.compactMap(\.directory)
        #expect(Set(directories).count == 3)
        for directory in directories { try Data().write(to: URL(fileURLWithPath: directory + "/kept")) }
        func kept() -> [Bool] { directories.map { FileManager.default.fileExists(atPath: $0 + "/kept") } }
        caches = [caches[0], caches[2]]
        #expect(cache("b").directory != nil)
        #expect(kept() == [true, true, true], "of another database")
        caches.removeFirst()
        // The second and the third: nobody has the one, and a process that is still there the other.
        let next = cache("a")
        #expect(next.directory == directories[0])
        #expect(kept() == [true, false, true])
        caches = []
        #expect(cache("a").directory == directories[1])
        #expect(kept() == [true, false, false])
        #expect(next.directory == directories[0])
    }

    @Test func aRemovedOneIsMadeAnew() throws {
        try databases.write("a", to: "a")
        let cache = self.cache("a")
        let directory = try #require(cache.directory)
        try FileManager.default.removeItem(atPath: directory)
        #expect(cache.directory == directory)
        #expect(FileManager.default.fileExists(atPath: directory))
    }

    @Test func whatEarlierVersionsKeptForAllTogetherGoes() throws {
        try databases.write("a", to: "a")
        let uuid = UUID().uuidString
        let (old, others) = (["\(uuid).json", "\(uuid).7", "exports/1/a.csv"], ["linux-6.1.7", "a.json", "\(uuid).txt"])
        for name in old + others { try root.write("", to: name) }
        #expect(cache("a").directory != nil)
        #expect(old.allSatisfy { root.text($0) == nil })
        #expect(others.allSatisfy { root.text($0) != nil })
    }

    @Test func whereNothingCanBeWrittenThereIsNone() throws {
        try root.write("no directory", to: "file")
        #expect(PageCache(root: root.path("file"), database: databases.path("a")).directory == nil)
    }
}
