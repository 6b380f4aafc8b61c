import Foundation
import Glibc
import Testing

@testable import Export

/// What is left of a file that was never finished: nothing.
@Suite(.serialized) struct PartialFileTests {
    private let directory: Directory

    /// Removed when the test lets it go.
    private final class Directory {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("eegsync-\(UUID().uuidString)").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    init() throws { directory = try Directory() }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }

    private func file(_ name: String, replaces: Bool = false, isNamed: Bool = false) throws -> PartialFile {
        try PartialFile(path: "\(directory.path)/\(name)", replacesExisting: replaces, isNamed: isNamed)
    }

    @Test func aFileThatIsBeingWrittenHasNoName() throws {
        let file = try file("a.edf")
        try file.write([1, 2, 3])
        try #require(try names().isEmpty, "the file system of the tests has files without a name")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.temporaryPath)) == Data([1, 2, 3]), "it can be read back")
        try file.synchronize()
        try file.publish(replacesExisting: false)
        #expect(try names() == ["a.edf"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == Data([1, 2, 3]))
    }

    @Test(arguments: [false, true]) func whatAppearsMeanwhileIsNotReplacedUnlessItShallBe(isNamed: Bool) throws {
        let (first, second) = (try file("a", isNamed: isNamed), try file("a", replaces: true))
        try first.write([1])
        try Data([9]).write(to: URL(fileURLWithPath: first.path))
        #expect(throws: ExportError.exists(path: first.path)) { try first.publish(replacesExisting: false) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: first.path)) == Data([9]))
        try second.write([2])
        try second.publish(replacesExisting: true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: first.path)) == Data([2]))
        #expect(try names().filter { !$0.hasPrefix(".") } == ["a"])
    }

    @Test func aNamedFileGoesWithItsObjectOrWithASignal() throws {
        do {
            let file = try file("a", isNamed: true)
            try file.write([1])
            #expect(try names().count == 1)
        }
        #expect(try names().isEmpty)
        let file = try file("b", isNamed: true)
        try Data([1]).write(to: URL(fileURLWithPath: file.temporaryPath + "-journal"))
        #expect(try names().count == 1)
        TemporaryNames.removeAll(in: directory.path)
        #expect(try names().isEmpty)
        // SQLite, which goes on until the process has ended, makes nothing there anew.
        for ending in ["", "-journal"] {
            #expect(open(file.temporaryPath + ending, O_CREAT | O_RDWR, 0o644) == -1 && errno == ENOENT)
        }
        #expect(try names().isEmpty)
    }

    @Test func aNamedFileThatIsPublishedLeavesNoDirectory() throws {
        for (replaces, name) in [(false, "a"), (true, "a"), (true, "b")] {
            let file = try file(name, replaces: replaces, isNamed: true)
            try file.write([1])
            try Data([1]).write(to: URL(fileURLWithPath: file.temporaryPath + "-wal"))
            try file.publish(replacesExisting: replaces)
        }
        #expect(try names() == ["a", "b"])
    }

    /// A signal that comes at any moment before the name is made: whoever makes it later would leave it behind.
    @Test func afterASignalNothingGetsAName() throws {
        let unnamed = try file("a", replaces: true)
        try unnamed.write([1])
        let other = try file("b")
        TemporaryNames.removeAll(in: directory.path)
        #expect(throws: ExportError.self) { _ = try file("c", isNamed: true) }
        #expect(throws: ExportError.self, "it needs a hidden name on its way") { try unnamed.publish(replacesExisting: true) }
        #expect(throws: ExportError.self) {
            try TemporaryNames.publishTogether(other.path) { try other.publish(replacesExisting: false) }
        }
        #expect(RowSpool(beside: other.path, channelCount: 1, rowsPerBlock: 1) == nil)
        #expect(try names().isEmpty)
    }

    /// A signal that comes while a name is made: it waits, and then finds the name.
    @Test func aSignalWaitsForANameThatIsBeingMade() throws {
        let (path, hidden) = (directory.path, "\(directory.path)/.a.1.eegsync-partial")
        let remover = Thread { TemporaryNames.removeAll(in: path) }
        try TemporaryNames.add(hidden) { name in
            remover.start()
            try Data([1]).write(to: URL(fileURLWithPath: name))
        }
        while !remover.isFinished { sched_yield() }
        #expect(try names().isEmpty)
    }

    @Test func whatAKilledExportHasLeftIsRemovedByTheNextOne() throws {
        let left = "\(directory.path)/.night.sqlite.1.eegsync-partial"
        let held = "\(directory.path)/.other.sqlite.2.eegsync-partial"
        for path in [left, held, "\(directory.path)/.mine.1.partial", "\(directory.path)/a.eegsync-partial"] {
            try Data([1]).write(to: URL(fileURLWithPath: path))
        }
        let home = "\(directory.path)/.day.sqlite.3.eegsync-partial"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        try Data([1]).write(to: URL(fileURLWithPath: "\(home)/day.sqlite"))
        let lock = open(held, O_RDONLY)
        #expect(flock(lock, LOCK_EX) == 0)
        _ = try file("b.edf")
        #expect(try names() == [".mine.1.partial", ".other.sqlite.2.eegsync-partial", "a.eegsync-partial"])
        close(lock)
        _ = try file("b.edf")
        #expect(try names() == [".mine.1.partial", "a.eegsync-partial"])
    }

    private func database(replaces: Bool = false) throws -> PartialFile {
        try PartialFile(path: "\(directory.path)/n.sqlite", replacesExisting: replaces, isNamed: true, isDatabase: true)
    }

    private func leave(_ name: String) throws { try Data([1]).write(to: URL(fileURLWithPath: "\(directory.path)/\(name)")) }

    @Test(arguments: ["-wal", "-shm", "-journal"]) func aDatabaseIsPutBesideNoLogOfAnother(ending: String) throws {
        let path = "\(directory.path)/n.sqlite"
        let refused = ExportError.leftLog(path: path, log: path + ending, isOpen: false)
        let begun = try database()
        try leave("n.sqlite" + ending)
        #expect(throws: refused) { _ = try database() }
        #expect(throws: refused, "it came meanwhile") { try begun.publish(replacesExisting: false) }
        #expect(try names().contains("n.sqlite" + ending))
        let forced = try database(replaces: true)
        try forced.write([1])
        #expect(try names().contains("n.sqlite" + ending), "it goes when the name is given, and not before")
        try forced.publish(replacesExisting: true)
        #expect(try names().filter { !$0.hasPrefix(".") } == ["n.sqlite"])
        // Other files have nothing to do with it.
        try leave("a.edf" + ending)
        try file("a.edf").publish(replacesExisting: false)
    }

    @Test func aLogThatAProgramHasOpenStays() throws {
        let path = "\(directory.path)/n.sqlite"
        for ending in ["-wal", "-shm"] { try leave("n.sqlite" + ending) }
        let shared = open(path + "-shm", O_RDWR)
        defer { close(shared) }
        // As SQLite does for as long as a database is open, whatever became of its name.
        var lock = flock()
        lock.l_type = Int16(F_RDLCK)
        lock.l_whence = Int16(SEEK_SET)
        (lock.l_start, lock.l_len) = (128, 1)
        // F_OFD_SETLK: one that this test does not lose where the file is closed elsewhere.
        try #require(fcntl(shared, 37, &lock) == 0)
        #expect(throws: ExportError.leftLog(path: path, log: path + "-wal", isOpen: true)) { _ = try database(replaces: true) }
        #expect(try names() == ["n.sqlite-shm", "n.sqlite-wal"])
    }

    @Test(arguments: ["night.edf", "study/", "study//"])
    func whatIsFetchedForAnExportIsForOneReaderAndForAWhile(output: String) throws {
        var seen = ""
        let read = try FetchedFile.whileNeeded(beside: "\(directory.path)/\(output)") { path in
            seen = path
            #expect(try names().count == 1 && names()[0].hasPrefix("."), "a directory that is not there yet stays so")
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
            try Data([7]).write(to: URL(fileURLWithPath: path + "-journal"))
            return 7
        }
        #expect(read == 7 && !seen.isEmpty)
        #expect(try names().isEmpty)
        struct Ended: Error {}
        #expect(throws: Ended.self) {
            try FetchedFile.whileNeeded(beside: "\(directory.path)/\(output)") { _ in throw Ended() }
        }
        #expect(try names().isEmpty)
    }
}
