import Bluetooth
import Foundation
import GRDB
import Glibc
import Testing

@testable import Storage

@Suite("A database whose name")
struct LostFileTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("eeg.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func recorded() throws -> AcquisitionStore {
        let store = try AcquisitionStore(path: path, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        return store
    }

    private func expectWhole(_ path: String) throws {
        let store = try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
        defer { try? store.close() }
        #expect(try store.audit().holds)
        #expect(try store.recordings().map(\.rows) == [2924])
    }

    @Test("is its own is not rescued")
    func untouched() throws {
        let store = try recorded()
        #expect(store.finding(at: path) == .same)
        #expect(try store.rescue() == nil)
        try store.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).allSatisfy { !$0.contains("rescued") })
    }

    @Test("is deleted is read and written on, and copied beside it, over nothing", arguments: [["", "-wal", "-shm"], [""]])
    func deleted(endings: [String]) throws {
        let store = try recorded()
        for ending in endings { unlink(path + ending) }
        #expect(store.finding(at: path) == .nothing)
        #expect(!store.leavePath())
        // SQLite would take it for the log of whatever gets the name.
        for ending in ["-wal", "-shm"] { #expect(access(path + ending, F_OK) != 0) }
        // Nothing is made by the name.
        try store.checkpointBeside()
        #expect(access(path, F_OK) != 0)
        #expect(try store.recordings().map(\.rows) == [2924])
        _ = try store.control.startRecording(headset: "right", model: "muse", at: Fixture.start)
        var copies: Set<String> = []
        for _ in 0..<3 {
            guard case .copied(let copy)? = try store.rescue() else {
                Issue.record("it was not copied")
                return
            }
            #expect(copy.hasPrefix(path + "-rescued-"))
            copies.insert(copy)
        }
        #expect(copies.count == 3)
        try store.close()
        for copy in copies {
            let rescued = try ReadOnlyStore(path: copy, hostBoot: Fixture.boot)
            #expect(try rescued.audit().holds)
            #expect(try rescued.recordings().map(\.rows).sorted() == [0, 2924])
            try rescued.close()
        }
        // A copy that gets the name goes on.
        let first = try #require(copies.min())
        #expect(rename(first, path) == 0)
        let next = try AcquisitionStore(path: path, hostBoot: Fixture.secondBoot)
        #expect(try next.recordings().count == 2)
        try next.close()
    }

    @Test("is gone with its directory is copied into one of that name")
    func deletedDirectory() throws {
        let folder = directory.path("data")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let store = try AcquisitionStore(path: folder + "/eeg.sqlite", hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        try FileManager.default.removeItem(atPath: folder)
        guard case .copied(let copy)? = try store.rescue() else {
            Issue.record("it was not copied")
            return
        }
        try store.close()
        try expectWhole(copy)
    }

    @Test("another file has got by now keeps its rows, and leaves that file and its log alone")
    func replaced() throws {
        // What is restored, with a program that has it open.
        let backup = directory.path("backup.sqlite")
        do {
            let store = try AcquisitionStore(path: backup, hostBoot: Fixture.secondBoot)
            try store.close()
        }
        let store = try recorded()
        unlink(path)
        #expect(rename(backup, path) == 0)
        #expect(store.finding(at: path) == .another)
        #expect(!store.leavePath())
        let other = try ControlStore(path: path, hostBoot: Fixture.secondBoot)
        _ = try other.startRecording(headset: "right", model: "muse", at: Fixture.start)
        #expect(try store.recordings().map(\.rows) == [2924])
        guard case .copied(let copy)? = try store.rescue() else {
            Issue.record("it was not copied")
            return
        }
        try store.close()
        for ending in ["", "-wal", "-shm"] { #expect(access(path + ending, F_OK) == 0, "\(ending)") }
        #expect(try other.recordings().map(\.headset) == ["right"])
        try expectWhole(copy)
    }

    @Test("has changed has everything under the new one", arguments: [false, true])
    func moved(isDirectory: Bool) throws {
        let folder = directory.path("data")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let store = try AcquisitionStore(path: folder + "/eeg.sqlite", hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        let target = isDirectory ? directory.path("moved/eeg.sqlite") : folder + "/moved.sqlite"
        #expect((isDirectory ? rename(folder, directory.path("moved")) : rename(folder + "/eeg.sqlite", target)) == 0)
        #expect(store.leavePath())
        #expect(try store.rescue() == .moved(to: target))
        try store.close()
        try expectWhole(target)
    }

    @Test("is a link has the files of what it leads to")
    func linked() throws {
        let folder = directory.path("data")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let (target, alias) = (folder + "/eeg.sqlite", directory.path("link.sqlite"))
        // Relative, and to what is not there yet.
        #expect(symlink("data/eeg.sqlite", alias) == 0)
        let store = try AcquisitionStore(path: alias, hostBoot: Fixture.boot)
        try Fixture.record(into: store)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted() == ["data", "link.sqlite"])
        for path in [target, alias] {
            let error = #expect(throws: StorageError.self) { try AcquisitionStore(path: path, hostBoot: Fixture.boot) }
            guard case .inUse? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let reading = try ReadOnlyStore(path: path, hostBoot: Fixture.boot)
            #expect(try reading.size().bytes == store.size().bytes)
            #expect(reading.writeAheadLogBytes > 0)
            try reading.close()
        }
        try store.close()
    }

    @Test("belongs to it, and that of nothing else")
    func names() throws {
        let store = try recorded()
        try store.close()
        let files = DatabaseFiles(of: path)
        for ending in ["", "-wal", "-shm", "-journal", "-lock", "-keys", "-spool", "-tap"] { #expect(files.has(path + ending)) }
        #expect(files.has(directory.path(".") + "/eeg.sqlite-wal"))
        for name in ["eeg", "eeg.sqlite.csv", "eeg.sqlite-copy", "eeg.sqlite-before-x", "other.sqlite-wal"] {
            #expect(!files.has(directory.path(name)), "\(name)")
        }
        #expect(link(path, directory.path("hard.sqlite")) == 0)
        #expect(files.has(directory.path("hard.sqlite")))
        #expect(DatabaseFiles.resolve("eeg.sqlite") == "eeg.sqlite")
        #expect(symlink("loop", directory.path("loop")) == 0)
        #expect(!DatabaseFiles.resolve(directory.path("loop")).isEmpty)
    }
}
